"""The examiners: one looks results up in the record, the other lets a model add what is missing, and checks it."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import ClassVar, Literal

import msgspec

from wardround.agents.dialogue import DECLINED, SILENCE, model_of
from wardround.agents.history.facts import statements
from wardround.agents.history.vocabulary import concepts_in
from wardround.engine.errors import ProviderError
from wardround.engine.records import Action, Json, Message, View
from wardround.engine.seat import Seat
from wardround.engine.text import regex
from wardround.scenarios.orders.catalogue import catalogue
from wardround.scenarios.orders.chart import Chart, chart_of, read_chart
from wardround.scenarios.orders.examiner_lookup import Answer, answer, near_tests, ordered
from wardround.scenarios.parsers.moves import RESULT_STATES
from wardround.scenarios.parsers.nonanswers import refuses, self_as_model
from wardround.scenarios.terms.wording import RootWords, cells, key, roots, table_rows


class Examiner:
    """Answers each order from the record, in four states: reported, normal, not performed, unknown.

    ::

        wardround run --scenario consultation --doctor openai/gpt-4o --examiner record

    `scenarios/orders/examiner_lookup.py` decides which. It reads `view.known`: the record, the policy and the order.
    The scenario decides how much the doctor hears.
    """

    sealed: ClassVar[bool] = True
    VERSION: ClassVar[int] = 15

    def __init__(self) -> None:
        self._record: Json = ()
        self._chart = read_chart(())

    async def act(self, view: View) -> Action:
        """Look the order up."""
        known = known_order(view)
        record = known.get("record", ())
        if record is not self._record:  # an episode hands over the same record each time: its chart is read once
            self._record, self._chart = record, chart_of(known)
        answers = look_up(view, known, self._chart, _policy(known))
        return Action("answer", join_reports(one.text for one in answers), {"answers": [one.row() for one in answers]})


def look_up(view: View, known: Mapping[str, Json], chart: Chart, policy: str) -> Sequence[Answer]:
    """What the chart answers to the order in `known`; a test that this seat has reported gets its next result."""
    refs = frozenset(str(ref) for row in earlier_answers(view) for ref in row.get("refs") or ())
    order = known["order"]
    return answer(chart, ordered(order), _kind(known), policy, reported=refs)


def earlier_answers(view: View) -> list[Mapping[str, Json]]:
    """The answers that this seat gave before."""
    rows = [row for said in view.heard if said.seat == view.seat for row in said.args.get("answers") or ()]
    return [row for row in rows if isinstance(row, Mapping)]


def known_order(view: View) -> Mapping[str, Json]:
    """The record, the policy and the order; raises ValueError without an order."""
    known = view.known
    if not isinstance(known, Mapping) or not isinstance(known.get("order"), Mapping):
        raise ValueError("the examiner was asked without an order: view.known must hold record, policy and order")
    return known


def _kind(known: Mapping[str, Json]) -> str:
    return str(known["order"].get("kind", "any"))


def _policy(known: Mapping[str, Json]) -> str:
    return str(known.get("policy", "strict"))


def join_reports(texts: Iterable[str]) -> str:
    """The texts of an answer, one line for each result, without duplicate lines."""
    return "\n".join(dict.fromkeys(texts)) or "No test was named; please say which results you want."


Objection = Literal[
    "", "unreadable", "too_long", "speaks", "names_disease", "names_record", "other_test", "contradicts", "not_normal"
]
"""Why an invented result is not passed on, in the order of the checks."""
LONGEST = 600
"""Most characters of one invented result."""

_SPEAKS = regex(
    r"(?i)\b(?:you(?:r|rs)?|doctor|physician|assistant|clinician|examiner|judge|grader|evaluator|scorer|instructions?"
    r"|system prompt|prompt|ignore|disregard|override|answer(?: is|:)|respond|reply|output|conclude|order|ask|must"
    r"|please|verdict|score|marks|credit|points|candidate|letters?|hidden|simulat\w*|case|correct answer|ground truth"
    r"|https?|www)\b|\b(?:system|user|note|role)\s*:"
    r"|[{}\[\]`|\n]|<\W*[a-z]+>|[\u200b-\u200f\u202a-\u202e\ufeff]"
)
_EXPLAINS = regex(
    r"(?i)\b(?:diagnos\w*|consistent with|suggest\w*|suspicious for|indicat\w*|compatible with|in keeping with"
    r"|pathognomonic|characteristic of|typical of|impression|confirm\w*|syndrome|disease|likely|probable|probably"
    r"|representing|secondary to|due to)\b"
)
_OF_RECORD = regex(
    r"(?i)\b(?:record(?:s|ed)?|chart|report(?:s|ed)? (?:is|was|were|are)|previous\w*|prior|earlier|before|already"
    r"|wrong|incorrect|erroneous|mistake\w*|amended|corrected|addendum|instead|supersed\w*|replac\w*|retract\w*)\b"
)
_NORMAL = regex(
    r"(?i)\b(?:normal|unremarkable|negative|no|not|without|within (?:normal|reference)|clear|intact|none|absent|regular"
    r"|symmetric\w*|preserved|patent|benign|non-?reactive|undetect\w*)\b"
)
_ABNORMAL = regex(
    r"(?i)\b(?:abnormal\w*|elevated|raised|increased|decreased|reduced|low|high|positive|enlarged|mass|lesions?|opacit\w*"
    r"|consolidation|effusion|fracture|stenosis|thrombus|defect|dilat\w*|thicken\w*|enhancement|oedema|edema|stones?)\b"
)
_OTHER_SCRIPT = regex(r"[\u0400-\u1fff\u2e80-\ud7ff]")
"""Letters beyond Latin and Greek: the other checks could not read them."""
_DENYING = regex(r"(?i)\b(?:no|not|without|absence of|negative for|free of|denies)\b")
_ABBREVIATION = regex(r"\b[A-Z]{2,5}\b")
_NUMBER = regex(r"\d")
_MINOR_WORDS = RootWords(
    "acute evidence seen noted sign present finding result normal abnormality visible definite any"
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


_LONGEST_NAME = 6
"""Most words of a name."""


def _word_runs(text: str) -> Iterator[tuple[str, str]]:
    """All runs of words that are short enough for a name, in comparable form, each with the four words behind it."""
    words = text.split()
    for start in range(len(words)):
        for end in range(start + 1, min(len(words), start + _LONGEST_NAME) + 1):
            yield key(" ".join(words[start:end])), " ".join(words[end : end + 4])


def objection(said: str, asked: str, record: Sequence[str], chart: Chart, *, normal: bool) -> Objection:
    """Why an invented result may not be passed on; "" if it may.

    `asked` is the test, `record` the texts of the record's results. A result may only state findings of that test:

    - it names no disease, unless to deny it;
    - it tells nobody what to do, and does not speak of the record;
    - it gives no number of another recorded test;
    - it does not affirm what the record denies, or deny what the record affirms;
    - with `normal` it is normal.

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
        if any(short in known and short not in asked for short in _ABBREVIATION.findall(item.text)):
            return True
        if any(run in _diseases() and run not in allowed for run, _ in _word_runs(item.text.strip(" .:;,()"))):
            return True
    return False


def _other_test(text: str, asked: str, chart: Chart) -> bool:
    """Whether the text gives a number for another test than the one asked, or speaks of a recorded study."""
    table = catalogue()
    own = key(asked)
    tests = {own, *(key(name) for name in table.below.get(table.names.get(own, ""), ()))}
    for run, after in _word_runs(text):
        test = key(table.names.get(run, ""))
        part = any(name.endswith(f" {run}") for name in tests)  # the glucose of a CSF analysis
        if not test or test in tests or part or run in own or table.tests[table.names[run]].kind != "lab":
            continue
        if any(pattern.search(after) for pattern in (_NUMBER, _NORMAL, _ABNORMAL)):
            return True
    flat = f" {key(text)} "
    studies = (entry for entry in chart.entries if entry.item.kind in ("imaging", "microbiology"))
    return any(f" {name} " in flat and name not in own for entry in studies for name in entry.names if len(name) > 2)


def _contradicts(text: str, record: Sequence[str]) -> bool:
    """Whether the text affirms what the record denies, or denies what it affirms: in the same words or concepts."""
    recorded = [item for one in record for item in statements(one)]
    for item in statements(text):
        stated = _DENYING.split(item.text)[-1] if item.denied else item.text
        words = _telling_words(roots(stated if stated.strip() else item.text))
        concepts = concepts_in(item.text, "finding", "disease")
        for other in recorded:
            if other.denied == item.denied:
                continue
            theirs = frozenset(roots(other.text))
            shared = words if item.denied else _telling_words(theirs)
            if shared and all(_is_among(word, theirs if item.denied else words | concepts) for word in shared):
                return True
            if concepts and concepts == other.findings and (not item.sites or item.sites & other.sites):
                return True
    return False


def _telling_words(words: Iterable[str]) -> frozenset[str]:
    """The roots that tell one finding from another."""
    return frozenset(word for word in words if len(word) > 3) - _MINOR_WORDS


def _is_among(word: str, others: frozenset[str]) -> bool:
    """Whether a word is among others, or ends one of them: stones are gallstones."""
    return word in others or (len(word) > 3 and any(other.endswith(word) for other in others))


def _is_normal(text: str) -> bool:
    """Whether the text tells a normal result: it says so, and affirms nothing abnormal."""
    if _NORMAL.search(text) is None:
        return False
    affirmed = [item for item in statements(text) if not item.denied]
    return not any(_ABNORMAL.search(item.text) or item.findings for item in affirmed)


MOST = 12
"""Most results that are invented for one order; the others are answered as in the record."""


class _Request(msgspec.Struct, frozen=True):
    """What one order is answered from: the chart, the kind that was ordered, and the scenario's policy."""

    chart: Chart
    kind: str
    policy: str

    @property
    def record(self) -> list[str]:
        """The texts of the record's results."""
        return [entry.item.text for entry in self.chart.entries]

    @property
    def subject(self) -> str:
        """Whose record it is, in words for the model."""
        subject = self.chart.subject
        years = "" if subject.years is None else f"{subject.years:g} years old"
        known = filter(None, (years, subject.sex, "pregnant" if subject.pregnant else ""))
        return ", ".join(known) or "an adult of whom nothing is known"

    @property
    def table_policy(self) -> str:
        """The policy for the look-up: a result is synthesised by the model, never from the table."""
        return "strict" if self.policy == "synthesise" else self.policy


class LLMExaminer:
    """Answers from the record as `Examiner` does, and asks its model about what is not in the record.

    ::

        wardround run --scenario consultation --doctor openai/gpt-4o --examiner openai/gpt-4o --set policy=synthesise

    A result that the record holds is reported in the record's own words; the model is not asked about it. For the rest
    the scenario's `policy` decides. `strict`: nothing is invented. `normal-default`: the table's normal value, else a
    normal result in the model's words. `synthesise`: a result in the model's words that suits the record. Nothing is
    invented where the record has a result of the same substance or the same part of the body. An order that the table
    of tests does not know is first read by the model, which names the test that is meant and sees nothing else.

    Each invented result is checked (`objection`). After an objection the model is asked once more; after a
    second one the answer is the record's, with the objection beside it. The log marks each answer: `invented` (the
    policy), `declined` (the objection), `read_as` (the test that the model read). Purposes of its calls: read, invent,
    repair.
    """

    sealed: ClassVar[bool] = True
    VERSION: ClassVar[int] = 2

    def __init__(self, seat: Seat) -> None:
        self._model = model_of(seat)
        self._prompts = seat.prompts

    async def act(self, view: View) -> Action:
        """Look the order up, and invent what policy allows."""
        known = known_order(view)
        asked = _Request(chart_of(known), _kind(known), _policy(known))
        lines = look_up(view, known, asked.chart, asked.table_policy)
        earlier = {str(row["asked"]).casefold(): row for row in earlier_answers(view) if row.get("invented")}
        rows: list[dict[str, Json]] = []
        for line in lines:
            if line.state in RESULT_STATES:
                rows.append(_marked(line.row()))
            elif before := earlier.get(line.asked.casefold()):
                rows.append({**before, "points": line.points})
            else:
                rows += await self._missing(line, asked, may_invent=sum("invented" in row for row in rows) < MOST)
        return Action("answer", join_reports(str(row["text"]) for row in rows), {"answers": rows})

    async def _missing(self, line: Answer, asked: _Request, *, may_invent: bool) -> list[dict[str, Json]]:
        """The answers to a request that the record does not hold as it stands."""
        beside: dict[str, Json] = {}
        if line.state == "unknown":
            read_as = await self._read(line.asked) if line.rule == "none" else ""
            again = answer(asked.chart, [read_as], asked.kind, asked.table_policy) if read_as else ()
            if not again or any(one.state == "unknown" for one in again):
                return [line.row()]
            beside = {"asked": line.asked, "rule": "model", "read_as": read_as}
            if again[0].state != "not_performed":
                return [{**_marked(one.row()), **beside} for one in again]
            line = again[0]
        row = {**line.row(), **beside}
        if asked.policy == "strict" or not may_invent or near_tests(line.asked, asked.chart):
            return [row]
        text, refused = await self._invented(line, asked)
        if refused:
            return [{**row, "declined": refused}]
        state = "normal" if asked.policy == "normal-default" else "reported"
        return [{**row, "state": state, "text": text, "assumed": True, "invented": asked.policy}]

    async def _read(self, phrase: str) -> str:
        """The test that an unknown phrase means, by the model; "" if it names none."""
        messages = [Message("user", self._prompts["examiner/read"].render(order=phrase[:LONGEST]))]
        named = await self._reply(messages, "read")
        test = named.get("test") if named else None
        return test.strip() if isinstance(test, str) and len(test) < 120 else ""

    async def _invented(self, line: Answer, asked: _Request) -> tuple[str, Objection]:
        """A result that the record lacks, or why there is none."""
        prompt = "normal" if asked.policy == "normal-default" else "synthesise"
        record = "\n".join(f"- {text}" for text in asked.record) or "(nothing)"
        name = line.test or line.asked
        text = self._prompts[f"examiner/{prompt}"].render(test=name, subject=asked.subject, record=record)
        messages = [Message("system", self._prompts["examiner/system"].text), Message("user", text)]
        refused: Objection = ""
        for purpose in ("invent", "repair"):
            reply = await self._reply(messages, purpose)
            result = reply.get("result") if reply else None
            said = result.strip() if isinstance(result, str) else ""
            refused = objection(said, name, asked.record, asked.chart, normal=asked.policy == "normal-default")
            if not refused:
                return said if name.casefold() in said.casefold() else f"{name}: {said}", ""
            words = self._prompts["examiner/repair"].render(why=self._prompts[f"examiner/why/{refused}"].text.strip())
            messages += [Message("assistant", said or SILENCE), Message("user", words)]
        return "", refused

    async def _reply(self, messages: Sequence[Message], purpose: str) -> Mapping[str, Json] | None:
        """The object in the model's reply; None if there is none, or if the model declined."""
        try:
            text = (await self._model.complete(messages, purpose=purpose)).text
        except ProviderError as error:
            if error.kind not in DECLINED:
                raise
            return None
        try:
            read = json.loads(text[text.index("{") : text.rindex("}") + 1])
        except (ValueError, RecursionError):
            return None
        return read if isinstance(read, dict) else None


def _marked(row: dict[str, Json]) -> dict[str, Json]:
    """The row of an answer; a normal value from the table counts as invented too."""
    return {**row, "invented": "normal-default"} if row["assumed"] else row
