"""Checks results that a model invented: one may add to a record, and never change it, explain it, or address anyone."""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Literal

from wardround.agents.history.facts import statements
from wardround.agents.history.vocabulary import concepts_in
from wardround.engine.text import later
from wardround.scenarios.parsers.roles import refuses, self_as_model
from wardround.scenarios.terms.catalogue import catalogue
from wardround.scenarios.terms.chart import Chart
from wardround.scenarios.terms.wording import cells, key, roots, table_rows

Objection = Literal[
    "", "unreadable", "too_long", "speaks", "names_disease", "names_record", "other_test", "contradicts", "not_normal"
]
"""Why an invented result is not passed on, in the order of the checks."""
OBJECTIONS: tuple[Objection, ...] = (
    *("unreadable", "too_long", "speaks", "names_disease", "names_record", "other_test", "contradicts", "not_normal"),
)
LONGEST = 600
"""Most characters of one invented result."""

_SPEAKS = later(
    r"(?i)\b(?:you(?:r|rs)?|doctor|physician|assistant|clinician|examiner|judge|grader|evaluator|scorer|instructions?"
    r"|system prompt|prompt|ignore|disregard|override|answer(?: is|:)|respond|reply|output|conclude|order|ask|must"
    r"|please|verdict|score|marks|credit|points|candidate|letters?|hidden|simulat\w*|case|correct answer|ground truth"
    r"|https?|www)\b|\b(?:system|user|note|role)\s*:"
    r"|[{}\[\]`|\n]|<\W*[a-z]+>|[\u200b-\u200f\u202a-\u202e\ufeff]"
)
_EXPLAINS = later(
    r"(?i)\b(?:diagnos\w*|consistent with|suggest\w*|suspicious for|indicat\w*|compatible with|in keeping with"
    r"|pathognomonic|characteristic of|typical of|impression|confirm\w*|syndrome|disease|likely|probable|probably"
    r"|representing|secondary to|due to)\b"
)
_OF_RECORD = later(
    r"(?i)\b(?:record(?:s|ed)?|chart|report(?:s|ed)? (?:is|was|were|are)|previous\w*|prior|earlier|before|already"
    r"|wrong|incorrect|erroneous|mistake\w*|amended|corrected|addendum|instead|supersed\w*|replac\w*|retract\w*)\b"
)
_NORMAL = later(
    r"(?i)\b(?:normal|unremarkable|negative|no|not|without|within (?:normal|reference)|clear|intact|none|absent|regular"
    r"|symmetric\w*|preserved|patent|benign|non-?reactive|undetect\w*)\b"
)
_ABNORMAL = later(
    r"(?i)\b(?:abnormal\w*|elevated|raised|increased|decreased|reduced|low|high|positive|enlarged|mass|lesions?|opacit\w*"
    r"|consolidation|effusion|fracture|stenosis|thrombus|defect|dilat\w*|thicken\w*|enhancement|oedema|edema|stones?)\b"
)
_OTHER_SCRIPT = re.compile(r"[\u0400-\u1fff\u2e80-\ud7ff]")
"""Letters beyond Latin and Greek: the other checks could not read them."""
_DENYING = later(r"(?i)\b(?:no|not|without|absence of|negative for|free of|denies)\b")
_SHORT = re.compile(r"\b[A-Z]{2,5}\b")
_NUMBER = re.compile(r"\d")
_LITTLE = frozenset(
    roots("acute evidence seen noted sign present finding result normal abnormality visible definite any")
)


@cache
def _diseases() -> frozenset[str]:
    """The comparable forms of all names of diseases in the tables of this package."""
    forms: set[str] = set()
    for table in ("conditions.csv", "diseases.csv", "names.csv", "rare.csv"):
        for row in table_rows(table):
            forms.update(key(name) for name in (row["name"], *cells(row["synonyms"])))
    return frozenset(form for form in forms if len(form) > 3)


@cache
def _abbreviations() -> frozenset[str]:
    """The abbreviations of diseases: TB, DVT."""
    return frozenset(
        short for row in table_rows("conditions.csv") for short in cells(row["abbreviations"]) if short.isupper()
    )


_NAME = 6
"""Most words of a name."""


def _runs(text: str, most: int = _NAME) -> Iterable[str]:
    """The comparable forms of all runs of at most `most` words."""
    words = text.split()
    for start in range(len(words)):
        for end in range(start + 1, min(len(words), start + most) + 1):
            yield key(" ".join(words[start:end]))


def objection(said: str, asked: str, record: Sequence[str], chart: Chart, *, normal: bool) -> Objection:
    """Why an invented result may not be passed on; "" if it may.

    `asked` is the test, `record` the texts of the record's results. A result is plain findings of that test: it names
    no disease unless it denies it, tells nobody what to do, does not speak of the record, gives no number of another
    recorded test, and does not affirm what the record denies or the reverse. With `normal` it must be normal.

    Example: `objection("Chest x-ray: pneumonia", "Chest x-ray", (), chart, normal=False)` is "names_disease".
    """
    if not said.strip() or _OTHER_SCRIPT.search(said) or refuses(said) or self_as_model(said):
        return "unreadable"
    if len(said) > LONGEST:
        return "too_long"
    bare = said[len(asked) :] if said.casefold().startswith(asked.casefold()) else said
    if _SPEAKS.search(bare):
        return "speaks"
    if _EXPLAINS.search(bare) or _names_disease(bare, asked):
        return "names_disease"
    if _OF_RECORD.search(bare):
        return "names_record"
    if _other_test(bare, asked, chart):
        return "other_test"
    if _contradicts(bare, record):
        return "contradicts"
    return "not_normal" if normal and not _is_normal(bare) else ""


def _names_disease(text: str, asked: str) -> bool:
    """Whether the text affirms a disease whose name is not that of the test itself."""
    allowed = key(asked)
    known = _abbreviations()
    for item in statements(text):
        if item.denied:
            continue
        if any(short in known and short not in asked for short in _SHORT.findall(item.text)):
            return True
        for run in _runs(item.text.strip(" .:;,()")):
            if run in _diseases() and run not in allowed:
                return True
    return False


def _other_test(text: str, asked: str, chart: Chart) -> bool:
    """Whether the text gives a number for another test than the one asked, or speaks of a recorded study."""
    table = catalogue()
    own = key(asked)
    tests = {own, *(key(name) for name in table.below.get(table.names.get(own, ""), ()))}
    words = text.split()
    for start in range(len(words)):
        for end in range(start + 1, min(len(words), start + _NAME) + 1):
            run = key(" ".join(words[start:end]))
            test = key(table.names.get(run, ""))
            part = any(name.endswith(f" {run}") for name in tests)  # the glucose of a CSF analysis
            if not test or test in tests or part or run in own or table.tests[table.names[run]].kind != "lab":
                continue
            after = " ".join(words[end : end + 4])
            if any(pattern.search(after) for pattern in (_NUMBER, _NORMAL, _ABNORMAL)):
                return True
    flat = f" {key(text)} "
    studies = (entry for entry in chart.entries if entry.item.kind in ("imaging", "microbiology"))
    return any(f" {name} " in flat and name not in own for entry in studies for name in entry.names if len(name) > 2)


def _contradicts(text: str, record: Sequence[str]) -> bool:
    """Whether the text affirms what the record denies, or denies what it affirms: in the same words or concepts."""
    recorded = [item for one in record for item in statements(one)]
    for item in statements(text):
        told = _DENYING.split(item.text)[-1] if item.denied else item.text
        words = frozenset(word for word in roots(told if told.strip() else item.text) if len(word) > 3) - _LITTLE
        concepts = concepts_in(item.text, "finding", "disease")
        for other in recorded:
            if other.denied == item.denied:
                continue
            theirs = frozenset(roots(other.text))
            shared = words if item.denied else frozenset(w for w in theirs if len(w) > 3) - _LITTLE
            if shared and all(_held(word, theirs if item.denied else words | concepts) for word in shared):
                return True
            if concepts and concepts == other.findings and (not item.sites or item.sites & other.sites):
                return True
    return False


def _held(word: str, others: frozenset[str]) -> bool:
    """Whether a word is among others, or ends one of them: stones are gallstones."""
    return word in others or (len(word) > 3 and any(other.endswith(word) for other in others))


def _is_normal(text: str) -> bool:
    """Whether the text tells a normal result: it says so, and affirms nothing abnormal."""
    if _NORMAL.search(text) is None:
        return False
    affirmed = [item for item in statements(text) if not item.denied]
    return not any(_ABNORMAL.search(item.text) or item.findings for item in affirmed)
