"""Reads what is asked of a sample: 'urine for culture', 'tap the knee and send the fluid for crystals'."""

import re
from collections.abc import Iterator

from wardround.engine.text import regex
from wardround.scenarios.orders import axes
from wardround.scenarios.orders.joined_names import ENDS, JOINED, Known, rejoined, shared
from wardround.scenarios.terms.wording import list_words

_SAMPLE = regex(r"(?i)^(?P<head>.{2,60}?)(?:\s+for|\s*:)\s+(?P<tail>.+)$")
_SAMPLED = list_words(
    """collection samples specimen swab send of the a 24 hour h hr 24h fluid random spot obtain collect from aspirate
    tap and clean catch"""
)
_PUNCTURE = regex(r"(?i)\b(?:lumbar puncture|lp|spinal tap)\b")


def names_puncture(head: str) -> bool:
    """Whether `head` names the puncture that gives a sample, which is an order itself."""
    return _PUNCTURE.search(head) is not None


def names_sample(head: str) -> bool:
    """Whether `head` names a sample and nothing else ('sputum', '24 h urine collection')."""
    return bool(axes.specimen(head)) and set(axes.without_specimen(head).split()) <= _SAMPLED


def from_sample(piece: str, known: Known) -> Iterator[str]:
    """The tests of a sample: '24 h urine collection for protein and creatinine' gives each with its specimen."""
    match = _SAMPLE.match(piece)
    heads = [head for head in JOINED.split(match["head"]) if head] if match else []
    if match is None or not all(map(names_sample, heads)):
        return
    if len(heads) > 1:  # 'blood and urine for culture'
        yield from (part for head in heads for part in from_sample(f"{head} for {match['tail']}", known))
        return
    head = match["head"]
    day = "24 hour " if re.match(r"(?i)24", head) else ""
    parts = rejoined([part.strip(ENDS) for part in JOINED.split(match["tail"]) if part.strip(ENDS)], known)
    named: list[str] = []
    for listed in (parts, shared(parts, known)):
        forms = [
            (part,) * 3
            if axes.specimen(part)  # 'nasal swab for MRSA and rectal swab for CRE'
            else (f"{day}{axes.specimen(head)} {part}", f"{axes.specimen(head)} {part}", part)
            for part in listed
        ]
        named = named if named and all(named) else [next(filter(known, three), "") for three in forms]
    if all(named):
        yield from [head] if _PUNCTURE.search(head) and known(head) else ()
        yield from named


_LONGEST_TAP = 400
_TAPPED = regex(
    r"(?i)^(?P<tap>.*\b(?:puncture|lp|tap|centesis|(?:thora|para|arthro|pericardio|amnio)centesis|aspirat(?:e"
    r"|ion)|aspirate"
    r"|lavage|bal)\b[^,;:]{0,40}?)(?:,?\s+(?:and|then|to)\s+(?:then\s+)?"
    r"(?:send|sent|sending|analy[sz]e|test|examine|submit|get|obtain)\s+(?:[a-z-]+\s+){0,5}?(?:off\s+)?for"
    r"|\s+with\s+(?:[a-z]+\s+)?"
    r"(?:fluid|csf)\s+(?:sent\s+)?for|\s*(?:->|=>|\u2192))\s+(?P<tail>.+)$"
)
_JOINT = regex(r"(?i)\b(?:joint|knee|hip|ankle|elbow|wrist|shoulder|bursa)\b")


def tapped(line: str) -> tuple[str, str, str] | None:
    """(the puncture, the specimen that it gives, what is asked of it) of 'tap the knee and send it for crystals'."""
    match = _TAPPED.match(line[:_LONGEST_TAP])
    if match is None:
        return None
    before = line[: match.start("tail")]
    fluid = axes.specimen(before) or ("synovial fluid" if _JOINT.search(before) else "CSF")
    return match["tap"], fluid, match["tail"]
