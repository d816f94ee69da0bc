"""Finds faults and oddities that the schema allows: duplicate keys, invisible characters, implausible figures."""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from wardround.engine.records import Json
from wardround.engine.text import regex
from wardround.scenarios.case import Case, Lab
from wardround.scenarios.loaders.inconsistencies import flag_of_range, in_person, of_later, untimed
from wardround.scenarios.question_item import QuestionItem

_UNSEEN = (
    r"\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    r"\u034f\u115f\u1160\u2800\u3164\uffa0\U000e0000-\U000e007f"
)
"""The invisible characters of a class of characters, without joiners and those below the space."""
_INVISIBLE = regex(
    rf"[\x01-\x08\x0b\x0c\x0e-\x1f{_UNSEEN}]"
    r"|(?<=[A-Za-z\d])[\u200c\u200d]|[\u200c\u200d](?=[A-Za-z\d])"
)
"""Characters that a reader does not see, except the joiners that some scripts need between letters."""
_LETTERLIKE = regex(r"[\u034f\u115f\u1160\u2800\u3164\uffa0]")
"""Invisible characters that count as letters or marks, so that Python calls them printable."""
_NO_NAME = regex(rf"[\x00-\x1f\u200c\u200d{_UNSEEN}]")
"""Characters that no id may have."""
_SPAN = r"\s?-?\s?(?:years?|yrs?|y/?o\b|months?|weeks?|days?)"
_AGE = regex(
    rf"(?:^|[ (:;,=])[-\u2212]\d{{1,3}}(?:\.\d+)?{_SPAN}|\baged?\b\W{{0,3}}\s?[-\u2212]\d"
    r"|\b(?:minus|negative) (?:\d+|[a-z]+)[ -](?:years?|months?|weeks?)\b(?! (?:later|earlier|before|after))"
    r"|\b(?:[MF]\s?/|(?:fe)?male\s?[/,:])\s?[-\u2212]\d{1,3}\b"
    r"|(?:^|[ (:;,=])[-\u2212]\d{1,3}\s?/\s?(?:[MF]|(?:fe)?male)\b",
    re.IGNORECASE,
)
_OLD = regex(
    r"(?<![\d.,])(?P<before>\d{3,})(?:[\s-](?:years?|yrs?)(?:[\s-]old\b| of age\b)|[\s-]?y/?o\b)"
    r"|\baged? (?:of )?(?P<after>\d{3,})\b(?! ?(?:months|weeks|days|hours|[,.]\d))",
    re.IGNORECASE,
)
OLDEST = 125
"""Age in years; a higher age is most likely a slip of the pen."""
_NUMBER = regex(r"[<>\u2264\u2265~]?\s*-?\d+(?:[.,]\d+)?")
_FIGURE = regex(rf"{_NUMBER.pattern}(?: \d{{3}})*(?:\s?[-\u2013]\s?\d+(?:[.,]\d+)?)?")
"""A number, with spaces between its thousands, or a range of two."""
_UNITLESS = regex(
    r"\bpH\b|\bINR\b|\bratio|index|gravity|score|titer|titre|anion gap|count ratio|prothrombin time|probability|grade"
    r"|^[HIL]$|\b(?:STX|UTX|HPE|ARCH-)\d|PEEP|tidal volume|required O2|\bvalue\b"
    r"|\bage\b|fraction|factor|z-?score|crossmatch|number|stage|class|specific|RDW|gap|^blood gas: temperature$",
    re.IGNORECASE,
)
"""Names of figures without a unit; MIMIC-IV gives none to the temperature of a blood gas."""


_CELL = (
    r"(?:(?:segmented )?neutrophils?|polymorphonuclear (?:cells|leu[ck]ocytes|neutrophils)|polymorphs?|polys|PMNs?"
    r"|(?:band|immature) (?:forms|neutrophils|cells)|bands?|stabs|segs|lymphocytes?|lymphs|monos|eos|basos"
    r"|(?<!immature )granulocytes?|(?<!immature )grans"  # analysers count the immature ones among the neutrophils
    r"|atypical lymphocytes?|monocytes?|eosinophils?|basophils?|metamyelocytes?|myelocytes?|promyelocytes?|blasts?)"
)
_CELLS = regex(
    rf"((?:\w+ )?{_CELL})(?:,? (?:relative|percent(?:age)?|fraction|proportion|ratio|\(?%\)?))?", re.IGNORECASE
)
_GRANULOCYTES = regex(r"granulocytes?|grans?", re.IGNORECASE)
_GRANULAR = regex(r"neutro|poly|pmn|band|stab|seg|eos|baso", re.IGNORECASE)
_SHARE = r"\d+(?:[.,]\d+)?"
_CELLS_TOLD = regex(
    rf"\b(?P<name>{_CELL})\W{{0,3}}(?:(?:of|at|were|was|count) )?\W{{0,2}}(?P<share>{_SHARE})"
    rf" ?(?:%|percent\b|per cent\b)"
    rf"|(?<![-\d.\u2013])(?P<before>{_SHARE}) ?(?:%|percent|per cent) (?:of )?(?P<after>{_CELL})\b",
    re.IGNORECASE,
)
"""A share of white cells in a text: 'neutrophils 62 %' or '62% neutrophils'."""
_FRACTIONS_TOLD = regex(
    rf"\b(?P<name>{_CELL})\W{{0,3}}(?:(?:of|at|were|was|count) )?\W{{0,2}}(?P<share>{_SHARE})"
    r"(?![\d.,]*\d| ?(?:%|percent\b|per cent\b))",
    re.IGNORECASE,
)
"""A figure of white cells without a sign of percent: a fraction, or a count whose unit stands elsewhere."""
_COUNTED = regex(r"10\s?[\^*]|10[\u2070-\u209f\u00b2\u00b3\u00b9]|/|\bper\b|\bcells\b|thousand", re.IGNORECASE)
_NEAR = 60
"""Characters round a figure in which a unit of counts makes it no fraction."""
_FLUIDS = ("csf", "pleural", "ascites", "synovial", "peritoneal", "joint")
_MOST = 101.5
"""A differential count of white cells in percent may add up to this, because its figures are rounded."""
_WIDOWED = regex(
    r"\b(?P<state>widow(?:er)?|widowed|never (?:been )?married|unmarried|divorced|(?<=i am )single)\b"
    r"|\b(?:my|her|his) (?:late )?(?P<spouse>husband|wife|spouse) (?:has )?(?:died|passed away|is dead|is deceased)\b"
    r"|\b(?:lost|buried) (?:my|her|his) (?P<lost>husband|wife|spouse)\b",
    re.IGNORECASE,
)
_OF_MARRIAGE = ("widow", "married", "divorced", "single", "husband", "wife", "spouse")
"""Words without which a text tells nothing of a marriage."""
_SPOUSE = regex(r"\b(?:husband|wife|spouse)\b", re.IGNORECASE)
_NOT_LIVING = regex(
    r"\b(?:di(?:ed|es)|dead|deaths?|late|deceased|passed|lost|buried|killed|loss|grave|funeral|former|ex|ago|since"
    r"|used to|worked|smoked|had|until|griev\w+|mourn\w+|remarried|second|new|no|without|never)\b"
    r"|\b(?:husband|wife|spouse)['\u2019]s\b",
    re.IGNORECASE,
)
"""Words of a sentence that may tell of a spouse who is dead, or of another one."""
_RELATIVE = regex(r"\b(?:mother|father|sister|brother|aunt|uncle|daughter|son|neighbou?r|friend)\b", re.IGNORECASE)


class Oddity(NamedTuple):
    """An oddity in a field; with `fault` the record is refused for it, otherwise it is a warning."""

    field: str
    message: str
    fault: bool = False


def doubled(text: str) -> list[tuple[tuple[str | int, ...], str]]:
    """(place, name) of each duplicate key in a JSON text; a parser would silently keep the last value."""
    try:
        _unrepeated.decode(text)
    except _Repeated:
        return _repeats(text)
    return []


class _Repeated(Exception):
    """A key stands twice in an object."""


def _pairs_once(members: list[tuple[str, Json]]) -> Json:
    made = dict(members)
    if len(made) < len(members):
        raise _Repeated
    return made


_unrepeated = json.JSONDecoder(object_pairs_hook=_pairs_once)
"""Reads a text up to its first repeated key; nearly no text has one, so no places are noted."""


def _repeats(text: str) -> list[tuple[tuple[str | int, ...], str]]:
    """(place, name) of each duplicate key."""
    repeats: list[tuple[object, str]] = []

    def pairs(members: list[tuple[str, Json]]) -> Json:
        made = dict(members)
        if len(made) < len(members):
            names = [name for name, _ in members]
            repeats.extend((made, name) for name in made if names.count(name) > 1)
        return made

    places = {id(part): place for place, part in _parts(json.loads(text, object_pairs_hook=pairs))}
    return [(places.get(id(owner), ()), name) for owner, name in repeats]


def path_text(place: tuple[str | int, ...]) -> str:
    """A place in written form: `path_text(("labs", 0, "value"))` is "labs[0].value"."""
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def in_record(record: Json) -> Iterator[Oddity]:
    """Invisible or invalid characters in the texts of a record."""
    whole = json.dumps(record, ensure_ascii=False, default=str)  # control characters are escaped in it
    if (
        whole.isprintable()
        and not any(escape in whole for escape in ("\\u", "\\b", "\\f"))
        and not _LETTERLIKE.search(whole)
    ):
        return
    for place, value in _written(record):
        if "\0" in value:
            yield Oddity(path_text(place), "holds a NUL character, which is no text; take it out", fault=True)
        elif (seen := _INVISIBLE.search(value)) is not None:
            yield Oddity(
                path_text(place),
                f"holds the character U+{ord(seen[0]):04X} at {seen.start() + 1}, which a reader does not see",
            )


def _written(record: Json) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Every text and every name of a field in a record, with its place."""
    for place, value in _parts(record):
        if isinstance(value, str):
            yield place, value
        elif isinstance(value, dict):
            yield from (((*place, name), name) for name in value)


def in_name(name: str) -> str:
    """Why an id is invalid, "" if it is valid; ids appear in tables, lines and addresses."""
    match = _NO_NAME.search(name)
    return f"holds the character U+{ord(match[0]):04X}, which no id may: nobody would see it" if match else ""


def in_question(item: QuestionItem) -> Iterator[Oddity]:
    """An open question that nothing can mark, and a rubric that cannot tell answers apart."""
    if item.form == "free" and not item.rubric:
        turns = [("checklist", item.checklist, bool(item.truth.answers))]
        turns += [(f"turns[{n}].checklist", turn.checklist, bool(turn.reference)) for n, turn in enumerate(item.turns)]
        for field, checklist, referenced in turns:
            if checklist.empty and not referenced:
                yield Oddity(field, "is empty, and there is neither reference nor rubric: nothing can mark the answer")
    points = [one.points for one in item.rubric]
    if points and max(points) < 0:
        yield Oddity("rubric", "has penalties only, so no answer has a score")
    elif points and math.fsum(points) <= 0:
        yield Oddity("rubric", f"has points that sum to {math.fsum(points):g}: to meet everything earns 0 or less")


def in_case(case: Case) -> Iterator[Oddity]:
    """Implausible figures in a case."""
    for field, text in _every_text(case):
        if age := _AGE.search(text):
            yield Oddity(field, f"tells a negative age: {age[0].strip()!r}")
        elif (old := _OLD.search(text)) and int(old["before"] or old["after"]) > OLDEST:
            yield Oddity(field, f"tells an age that nobody reaches: {old[0].strip()!r}")
    names: dict[str, str] = {}
    for name in case.history:
        if (other := names.setdefault(" ".join(name.casefold().split()), name)) != name:
            yield Oddity(f"history.{name}", f"differs from the section {other!r} in capitals or spaces only")
    yield from _widowed(case)
    yield from (Oddity(*one) for one in (*in_person(case), *untimed(case), *of_later(case)))
    yield from _differential(case.labs)
    for field, text in (*_every_text(case), *_reports(case)):
        if (whole := _differential_sum(text)) > _MOST:
            yield Oddity(field, f"the white cells of this sample add up to {whole:g} %")
    for number, one in enumerate(case.investigations):
        if _bare(one.name, one.text):
            yield Oddity(f"investigations[{number}].text", f"{one.name} is {one.text.strip()}, without a unit")
    for number, lab in enumerate(case.labs):
        if not lab.unit.strip() and _bare(lab.name, lab.value):
            yield Oddity(f"labs[{number}].unit", f"{lab.name} is {lab.value.strip()}, without a unit")
        if lab.low is not None and lab.high is not None and lab.low > lab.high:
            yield Oddity(f"labs[{number}].low", f"the range of {lab.name} ends before it begins")
        elif wrong := flag_of_range(lab):
            yield Oddity(f"labs[{number}].flag", wrong)


def _widowed(case: Case) -> Iterator[Oddity]:
    """A patient who is a widow in one place and has a living spouse in another."""
    texts = [(field, text) for field, text in _every_text(case) if any(word in text.lower() for word in _OF_MARRIAGE)]
    sentences = [(field, one) for field, text in texts for one in re.split(r"[.;\n]", text)]
    states = (_WIDOWED.search(one) for _, one in sentences if not _RELATIVE.search(one))
    if (state := next((one for one in states if one), None)) is None:
        return
    what = state["state"].lower() if state["state"] else "widowed"
    what = "widowed" if what.startswith("widow") else what
    for field, one in sentences:
        if (spouse := _SPOUSE.search(one)) and not _NOT_LIVING.search(one):
            said = one[max(0, spouse.start() - 20) : spouse.end() + 20].strip()
            yield Oddity(field, f"has a living spouse ({said!r}), but the patient is {what} elsewhere")


def _differential(labs: Sequence[Lab]) -> Iterator[Oddity]:
    """White-cell shares of one sample that add up to more than 100 %."""
    samples: dict[tuple[str, str, str], dict[str, tuple[int, float]]] = {}
    for number, lab in enumerate(labs):
        cell, value = _CELLS.fullmatch(lab.name.strip().lower()), lab.value.strip().removesuffix("%").strip()
        shares = _SHARES.get((lab.unit.strip() or _percent(lab.name) or _percent(lab.value)).lower())
        if cell and shares and _NUMBER.fullmatch(value) and value[0].isdigit():
            fluid = cell[1].split()[0] if cell[1].split()[0] in _FLUIDS else ""
            sample = samples.setdefault((lab.time, fluid, shares), {})
            sample.setdefault(cell[1], (number, _share(value)))  # the same name again: another fluid
    for (_, _, shares), cells in samples.items():
        if (whole := _whole({name: value for name, (_, value) in cells.items()}, shares)) > _MOST:
            first = min(number for number, _ in cells.values())
            yield Oddity(f"labs[{first}].value", f"the white cells of this sample add up to {whole:g} %")


_SHARES = {"%": "percent", "percent": "percent", "per cent": "percent"}
_SHARES |= dict.fromkeys(("", "1", "fraction", "proportion", "ratio"), "fraction")
"""Unit -> how it tells a share of white cells."""


def _whole(cells: Mapping[str, float], shares: str) -> float:
    """The sum of a sample's shares in percent; granulocytes contain the kinds of them that are named too.

    Figures without a sign of percent are fractions only if none is above 1; else the sum is 0.
    """
    if shares == "fraction" and max(cells.values(), default=0.0) > 1:
        return 0.0
    contained = sum(value for name, value in cells.items() if _GRANULAR.search(name))
    granulocytes = sum(value for name, value in cells.items() if _GRANULOCYTES.fullmatch(name))
    whole = math.fsum(cells.values()) - min(contained, granulocytes)
    return round(whole * 100, 6) if shares == "fraction" else whole


def _differential_sum(text: str) -> float:
    """The highest sum of white-cell shares in percent that a text tells of one sample."""
    sums = [_whole(cells, "percent") for cells in _samples(text, _CELLS_TOLD)] if "%" in text or "cent" in text else []
    fractions = _samples(text, _FRACTIONS_TOLD) if _FRACTION.search(text) else ()
    return max((*sums, *(_whole(cells, "fraction") for cells in fractions)), default=0.0)


_FRACTION = regex(r"(?<!\d)0?[.,]\d")


def _samples(text: str, pattern: re.Pattern[str]) -> Iterator[dict[str, float]]:
    """The white cells of each sample in a text; a repeated name begins another sample."""
    sample: dict[str, float] = {}
    end = 0
    for match in pattern.finditer(text):
        said = match.groupdict()
        name = (said["name"] or said["after"]).lower().rstrip("s")
        if pattern is _FRACTIONS_TOLD and _COUNTED.search(text, max(0, match.start() - _NEAR), match.end() + _NEAR):
            continue
        if name in sample or match.start() - end > _BETWEEN:
            yield sample
            sample = {}
        within = text.rfind("(", end, match.start()) >= 0 and sample  # 'neutrophils 80 % (bands 12 %)'
        if not within:
            sample[name] = _share(said["share"] or said["before"])
        end = match.end()
    yield sample


_BETWEEN = 40
"""Most characters between two cells of one differential count in a text."""


def _percent(name: str) -> str:
    """The unit that a name has in it, as in 'Lymphocytes (%)'; "" for none."""
    return "%" if "%" in name or "percent" in name.lower() else ""


def _share(value: str) -> float:
    return float(value.replace(",", "."))


def in_station(station: Json) -> Iterator[Oddity]:
    """Parts of an OSCE station that deviate from the shape of its format."""
    actor = station.get("Patient_Actor") if isinstance(station, dict) else None
    symptoms = actor.get("Symptoms") if isinstance(actor, dict) else None
    listed = symptoms.get("Secondary_Symptoms") if isinstance(symptoms, dict) else None
    if isinstance(listed, str):
        yield Oddity(
            "OSCE_Examination.Patient_Actor.Symptoms.Secondary_Symptoms",
            "is one text where a list belongs; it is read as a list of one",
        )


def _texts(case: Case) -> Iterator[tuple[str, str]]:
    yield "opening", case.opening
    yield "complaint", case.complaint
    for name, text in case.history.items():
        yield f"history.{name}", f"{name}: {text}" if "age" in name.lower() else text


def _every_text(case: Case) -> Iterator[tuple[str, str]]:
    """The open texts, and those of examination, imaging and cultures."""
    yield from _texts(case)
    yield from ((f"examination[{place}].text", one.text) for place, one in enumerate(case.examination))
    yield from ((f"imaging[{place}].report", one.report) for place, one in enumerate(case.imaging))
    yield from ((f"microbiology[{place}].comment", one.comment) for place, one in enumerate(case.microbiology))


def _reports(case: Case) -> Iterator[tuple[str, str]]:
    """The texts of results; neighbouring investigations are read as one, since a count may have one cell a row."""
    yield "ancillary", case.ancillary
    if case.investigations and not case.ancillary:
        yield "investigations", "; ".join(f"{one.name}: {one.text}" for one in case.investigations)


def _bare(name: str, value: str) -> bool:
    """Whether the value of a test is only a number or a range, though the test has a unit."""
    if "saturation" in name.lower() and re.fullmatch(r"(?:0?[.,]\d+|1[.,]0+)", value.strip()):
        return False  # a fraction
    return not _percent(name) and bool(_FIGURE.fullmatch(value.strip())) and not _UNITLESS.search(name)


def _parts(value: Json, place: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Json]]:
    """Every part of a JSON value, including keys of objects, with its place."""
    yield place, value
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _parts(part, (*place, name))
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from _parts(part, (*place, number))
