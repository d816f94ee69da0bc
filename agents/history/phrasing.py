"""A note's phrase without a subject as a patient's sentence: 'Onset of fever' is 'I developed fever'.

The table `data/history/phrasings.csv` has the beginnings of phrases and what a patient says for each.
"""

import re
from functools import cache

from wardround.agents.history.vocabulary import history_rows
from wardround.agents.history.voice import PatientVoice, pronouns
from wardround.engine.text import regex

_WHOSE = {"he": "his", "she": "her"}
_RELATIVE = (
    r"(?:(?:elder|older|younger|eldest|oldest|youngest|maternal|paternal|twin|two|three|several) )*"
    r"(?:father|mother|parents|brothers?|sisters?|uncles?|aunts?|cousins?|grand(?:father|mother|parents)|sons?|daughters?|siblings?)"
)
_IN_RELATIVES = regex(
    rf"(?:^|[,;] (?:and )?|\band )(?:[^,;]{{0,80}}, including )?(?P<what>[^,;]{{1,120}}?) in "
    rf"(?:(?:the|his|her|my|their) )?(?:patient['\u2019]s )?(?P<who>{_RELATIVE})"
    rf"(?: and (?:(?:the|his|her|my) )?(?P<other>{_RELATIVE}))?\b",
    re.IGNORECASE,
)
_OF_FAMILY = regex(
    r"^(?:positive |significant |strong )?(?:family history (?:is |was )?(?:of|(?:positive|significant|notable) for) "
    r"|(?:positive|significant|history) (?:for|of) )+",
    re.IGNORECASE,
)
_DENIED = regex(r"no (?:known |significant |relevant )*(?:history of )?(?!.*\bfamil)", re.IGNORECASE)
_COUNTED = regex(
    r"(?:nodule|mass|lump|lesion|cyst|tumou?r|ulcer|rash|cough|headache|fracture|hernia|wound|abscess|polyp|scar|sinus"
    r"|defect|murmur|infection|seizure|sensation|condition|disorder|goit(?:er|re)|plaque|patch|blister|papule|bruise"
    r"|aneurysm|diagnosis|fistula|stone|background|history|decrease|increase|reduction|change|episode|attack|event"
    r"|injury|burn|bite|spot|wart|mole|deformity|limp|tremor|squint|cataract|feeling|craving|reaction|allergy|cold"
    r"|catheter|pacemaker|stent|shunt|tear|sprain|growth|feel|job|brother|sister|sibling|stroke|fall|progression)",
    re.IGNORECASE,
)
_HEAD = regex(
    r"[\w'\u2019-]+(?: (?!(?:with|of|in|on|for|to|since|that|which|and|or|from|after|at|during|by|due|over|near|under"
    r"|without|lasting|requiring|associated|accompanied|detected|measuring|present|consistent|secondary|radiating"
    r"|causing|involving|progressing|leading|affecting|treated|found|noted)\b)[\w'\u2019-]+)*",
    re.IGNORECASE,
)
_DETERMINED = regex(
    r"(?:no|any|an?|the|my|his|her|several|multiple|various|some|many|both|few|one|two|three|four|five|six|\d\S*)\b",
    re.IGNORECASE,
)


_NOTHING = regex(
    r"(?:(?:none|nil|nothing)\b(?! (?:other|except|beyond))(?:(?! but | except )[^.,;]){0,50}|no|unremarkable"
    r"|non-?contributory)\W*$",
    re.IGNORECASE,
)
_NOTHING_OF = (
    ("family", "There is nothing in the family that I know of"),
    ("medication", "No medicines that I know of"),
    ("allerg", "None that I know of"),
    ("past", "None that I know of"),
)


_SPAN = re.compile(
    r"^(?:an? )?(?P<span>\d+|one|two|three|four|five|six|seven|eight)[- ](?P<unit>hour|day|week|month"
    r"|year)s?[- ]history of"
    r"(?: (?:having|experiencing))? (?P<what>.+?)\.?$",
    re.IGNORECASE | re.DOTALL,
)
_LONG_SPAN = re.compile(
    r"^an? (?P<unit>year|month|week|day)[- ]long history of (?P<what>.+?)\.?$", re.IGNORECASE | re.DOTALL
)
_MORE_ABOUT = re.compile(
    r", (?:which|that|worse|better|worsening|relieved|accompanied|associated|radiating|described)\b", re.IGNORECASE
)


@cache
def _phrasings() -> tuple[tuple[re.Pattern[str], str], ...]:
    rows = history_rows("phrasings.csv")
    return tuple((re.compile(row["note"], re.IGNORECASE), row["said"]) for row in rows)


def phrased(text: str, voice: PatientVoice) -> tuple[str, bool]:
    """A phrase in the words of the first row of the table that fits its beginning, and whether it has a subject now.

    A phrase that no row fits is returned as it is.

    Example: `phrased("Inability to walk", voice)` is "I'm unable to walk", and true.
    """
    low = _lower(text)
    for note, said in _phrasings():
        if match := note.match(low):
            return _filled(match.expand(said), voice) + _lower(low[match.end() :]), "{" in said
    return text, False


def nothing_in(section: str, text: str) -> str:
    """What a patient says where a section says that there is nothing ('None reported'); "" for another text."""
    said = next((said for name, said in _NOTHING_OF if name in section), "Nothing that I know of")
    return said if _NOTHING.match(text) else ""


def _filled(said: str, voice: PatientVoice) -> str:
    """What is said with the pronouns of the voice; at the beginning with a capital letter."""
    subject, have, am = pronouns(voice)
    speaker, ending = (subject.lower(), "s") if voice.speaks_for else ("I", "")
    my = _WHOSE.get(voice.speaks_for or "", "my")
    said = re.sub(r"(?<=\ba)(?= [aeio])", "n", said.format(I=speaker, have=have, am=am, s=ending, was="was", my=my))
    return said[:1].upper() + said[1:]


def _lower(text: str) -> str:
    return text if re.match(r"[A-Z]{2}|[A-Z]\.", text) else text[:1].lower() + text[1:]


def of_family(text: str, voice: PatientVoice) -> str:
    """A phrase about the family, each illness with the relative who has it ('Leukaemia in father').

    Example: `of_family("Asthma in mother and brother", voice)` is "My mother and my brother had asthma".
    """
    my = _WHOSE.get(voice.speaks_for or "", "my")
    each = [
        f"{my} {one['who'].lower()}{f' and {my} ' + one['other'].lower() if one['other'] else ''} had "
        f"{_lower(_OF_FAMILY.sub('', one['what'].strip()))}"
        for one in _IN_RELATIVES.finditer(text)
    ]
    if each:
        return ", ".join(each)
    bare = _lower(_OF_FAMILY.sub("", text)).rstrip(" .")
    if denied := _DENIED.match(bare):
        return f"nobody in {my} family has {bare[denied.end() :]}"
    named = re.match(_RELATIVE, bare, re.IGNORECASE) is not None
    whose = f"{my} {bare}" if named else f"there is {bare} in {my} family"
    return bare if re.search(r"\bfamil", bare) and not named else whose


def with_article(phrase: str) -> str:
    """The phrase with an article if it is one thing that is counted: 'left breast nodule' is 'a left breast nodule'."""
    head = _HEAD.match(phrase)
    counted = head and not _DETERMINED.match(phrase) and _COUNTED.fullmatch(head[0].rsplit(" ", 1)[-1])
    return f"{'an' if phrase[0].lower() in 'aeio' else 'a'} {phrase}" if counted else phrase


def span_of(text: str) -> re.Match[str] | None:
    """Match a phrase that says how long the patient has had something: '2-week history of cough'."""
    return _SPAN.match(text) or _LONG_SPAN.match(text)


def with_duration(match: re.Match[str]) -> str:
    """What the patient has had, and for how long: 'a cough for 2 weeks, which is worse at night'."""
    span, unit = match.groupdict().get("span") or "a", match["unit"].lower()
    time = f"for {span.lower()} {unit}{'' if span.lower() in ('1', 'one', 'a') else 's'}"
    what = re.sub(r"^(?:having|experiencing)\s+", "", match["what"].strip())
    cut = next((tail.start() for tail in _MORE_ABOUT.finditer(what)), len(what))
    return f"{what[:cut]} {time}{what[cut:]}"
