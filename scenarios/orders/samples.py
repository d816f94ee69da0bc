"""Reads what is asked of a sample: of a swab at several sites, of a tap, of a collection of urine."""

import re
from collections.abc import Iterator

from wardround.engine.text import regex
from wardround.scenarios.orders import axes
from wardround.scenarios.orders.joined_names import (
    ENDS,
    JOINED,
    Known,
    rejoined,
    run_of_names,
    shared,
    slashed,
    split_commas,
    trimmed,
)
from wardround.scenarios.terms.wording import list_words

_SAMPLE = regex(
    r"(?i)^(?P<head>.{2,60}?)(?:\s+for|\s*:|(?<=\bswab)(?!\s(?:from|of)\b)|(?<=\bswabs)(?!\s(?:from|of)\b)"
    r"|(?<=scrape)|(?<=scraping)|(?<=scrapings)|(?<=clippings))"
    r"\s+(?P<tail>.+)$"
)
"""A sample and what is asked of it, with 'for', a colon or nothing between them."""
_SAMPLED = list_words(
    """low high l r left right lt rt collection samples specimen swab send of the a 24 hour h hr 24h fluid random spot
    obtain collect from aspirate tap and clean catch to lab sent please pls kindly can you could"""
)
"""Words beside a specimen that name a sample and no test."""
_SWABS = regex(r"(?i)\b(?:swabs?|scrap(?:e|ings?)|washings?|aspirates?)$")
_PUNCTURE = regex(r"(?i)\b(?:lumbar puncture|lp|spinal tap)\b")


def names_puncture(head: str) -> bool:
    """Whether `head` names the puncture that gives a sample, which is an order itself."""
    return _PUNCTURE.search(head) is not None


IS_TAKEN = regex(r"(?i)\b(?:done|performed|tapped|drained|aspirated|taken|sent|out)\b")
"""Says of a puncture or sample that it is done."""
_FROM = regex(r"(?i)\s(?:from|off)\s(?:(?!\b(?:and|for|with)\b)[\w -])+$")


def names_sample(head: str) -> bool:
    """Whether `head` names a sample and nothing else ('sputum', '24 h urine collection')."""
    bare = _FROM.sub("", head)  # 'pus from the neck abscess'
    said = bare if axes.specimen(bare) else head
    return bool(axes.specimen(said)) and set(axes.without_specimen(said).split()) <= _SAMPLED


def from_sample(piece: str, known: Known) -> Iterator[str]:
    """The tests of a sample: '24 h urine collection for protein and creatinine' gives each with its specimen."""
    match = _SAMPLE.match(piece)
    heads = [head for head in JOINED.split(match["head"]) if head] if match else []
    if len(heads) > 1 and (swabs := _SWABS.search(heads[-1])):  # 'rectal and throat swabs'
        heads = [head if axes.specimen(head) else f"{head} {swabs[0]}" for head in heads]
    if match is None or not all(map(names_sample, heads)):
        return
    if len(heads) > 1:  # 'blood and urine for culture'
        yield from (part for head in heads for part in from_sample(f"{head} for {match['tail']}", known))
        return
    head = match["head"]
    day = "24 hour " if re.match(r"(?i)24", head) else ""
    tail = [trimmed(part.strip(ENDS), known) for part in JOINED.split(match["tail"]) if part.strip(ENDS)]
    parts = rejoined(tail, known)
    named: list[str] = []
    taken = axes.stated_as(axes.specimen(head))
    parts = [each for part in parts for each in slashed(part, known) or [part]]

    def known_in_sample(name: str) -> bool:
        return name[-1:].isalpha() and known(f"{taken} {name}")

    def name_of(part: str) -> str:
        own = axes.specimen(part)  # 'nasal swab for MRSA and rectal swab for CRE'
        in_sample = () if own else (f"{day}{taken} {part}", f"{taken} {part}")
        return next(filter(known, (*in_sample, part)), "")

    parts = [each for part in parts for each in run_of_names(part, known_in_sample) or [part]]
    for listed in (shared(parts, known), parts):
        named = named if named and all(named) else [name_of(part) for part in listed]
    if any(named):
        named = [name or part for name, part in zip(named, parts, strict=True)]
        yield from [head] if _PUNCTURE.search(head) and known(head) else ()
        yield from named


_LONGEST_TAP = 400
"""Most characters of a line that are searched for a puncture."""
_TAPPED = regex(
    r"(?i)^(?P<tap>.*\b(?:puncture|lp|tap|centesis|(?:thora|para|arthro|pericardio|amnio)centesis|aspirat(?:e|ion)"
    r"|aspirate|lavage|bal)\b[^,;:]{0,40}?)(?:,?\s+(?:and|then|to)\s+(?:then\s+)?(?:send|sent|sending|analy[sz]e|test"
    r"|examine|submit|get|obtain)\s+(?:[a-z-]+\s+){0,5}?(?:off\s+)?for|\s+with\s+(?:[a-z]+\s+)?(?:fluid"
    r"|csf)\s+(?:sent\s+)?for|\s*(?:->|=>|\u2192))\s+(?P<tail>.+)$"
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


_AT_SITES = regex(
    r"(?i)^(?:(?:send|do|take|please|pls|and)\s)*swabs?\s(?:of\s"
    r"|from\s)?(?:the\s)?(?P<sites>.{3,60}?)\sfor\s(?P<tests>.+)$"
)


def at_sites(line: str, known: Known) -> list[str]:
    """Each test of 'swabs eyes, mouth, rectum for HSV PCR' at each site; empty unless all are sites and tests."""
    swabs = _AT_SITES.match(line)
    if swabs is None:
        return []
    said = [one.strip(ENDS) for part in split_commas(swabs["sites"]) for one in JOINED.split(part)]
    sites = [axes.only_specimen(one) or axes.only_specimen(one.split()[-1]) for one in said if one]  # 'the sticky eye'
    tests = [one.strip(ENDS) for part in split_commas(swabs["tests"]) for one in JOINED.split(part)]
    each = [f"{axes.stated_as(site)} {test}" for site in sites for test in tests]
    return each if all(sites) and all(map(known, each)) else []
