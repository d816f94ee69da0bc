"""One written name of several tests as a name for each: what they share is said of all, and no word is lost."""

import re
from collections.abc import Callable, Iterator, Sequence

Known = Callable[[str], bool]

_LIST = re.compile(r"\s*(?:[;\n\uff0c\uff1b\u3001]|(?<!\d),|,(?!\d))\s*")
_LEAD = re.compile(r"(?i)^(?:(?:and|or|plus|also|y|et|und)\s+|(?:\u4ee5\u53ca|[\u548c\u53ca\u4e0e]))")
_AND = re.compile(
    r"(?i)(?<!with)(?<!without)(?<!before)(?<!between)\s+(?:and/or|as well as|along with|and|or|plus|&|\+)\s+|\s*/\s*"
)
_FOREIGN = re.compile(
    r"\s+(?:y|et|und)\s+"
    # not in the words for saturation, sum, reconciling, taking part, concerning, common, affinity
    r"|(?<=[\w)])(?<![\u9971\u603b\u8c03\u53c2\u6d89\u666e])(?:\u4ee5\u53ca|[\u548c\u53ca\u4e0e])(?!\u529b)(?=\w)"
)
_REASON = re.compile(
    r"(?i)\s(?:(?:in order )?to (?=[a-z]{3})|because\b|due to\b|if\b|given\b|looking for\b|since\b|in case\b"
    r"|for (?:suspected|possible|evidence|signs|evaluation|assessment|exclusion|monitoring)\b)"
)
_LABEL = re.compile(r"^(?P<label>[^:,;()\[\]]{2,60}?)\s*[:\uff1a]\s+(?P<rest>\S.*)$", re.DOTALL)
_GROUP = re.compile(
    r"(?i)^(?:(?:additional|further|other|routine|initial|basic|diagnostic|lab(?:oratory)?|blood|imaging)\s+)*"
    r"(?:tests?|labs?|studies|work-?up|investigations?|imaging|laboratory|lab)$"
)
_HEAD = re.compile(r"(?i)^(?P<head>\S.*?\s(?P<link>for|against|of|in|de|du|des|von))\s+(?P<first>\S.*)$")
_WHOLE = frozenset({"of", "in"})
"""What follows these are the regions of one study ("CT of chest, abdomen and pelvis")."""
_LONGEST = 600
"""Characters of a name that is taken apart."""
_MEMBER = 3
"""Words of a member under a shared head at most."""
MODIFIERS = frozenset(
    [
        "serum",
        "plasma",
        "blood",
        "urine",
        "urinary",
        "stool",
        "fecal",
        "faecal",
        "sputum",
        "csf",
        "saliva",
        "wound",
        "throat",
        "nasal",
        "rectal",
        "vaginal",
        "synovial",
        "pleural",
        "ascitic",
        "peritoneal",
        "pericardial",
        "arterial",
        "venous",
        "capillary",
        "liver",
        "hepatic",
        "kidney",
        "renal",
        "thyroid",
        "adrenal",
        "cardiac",
        "pulmonary",
        "pituitary",
        "gonadal",
        "parathyroid",
        "pancreatic",
        "bladder",
        "bone",
        "muscle",
        "nerve",
        "skin",
        "lung",
        "iga",
        "igg",
        "igm",
        "ige",
        "aerobic",
        "anaerobic",
        "fungal",
        "bacterial",
        "viral",
        "upper",
        "lower",
        "left",
        "right",
        "bilateral",
        "fasting",
        "random",
        "total",
        "direct",
        "indirect",
        "free",
        "ionized",
        "ionised",
    ]
)
_GENERAL = re.compile(r"(?i)^(?:biopsy|culture|cytology|histology|smear|aspirate|fluid)s?$")
_NAMED = re.compile(r"\d|[A-Z]{2}|[a-z][A-Z]")
_MODALITY = r"(?:CT|CTA|MRI|MRA|MRCP|PET|X\u7ebf|B\u8d85|\u8d85\u58f0|\u5f69\u8d85)"
_PICTURED = re.compile(rf"^(?P<part>[\u4e00-\u9fff]+?){_MODALITY}$")
_MODALITIES = re.compile(rf"^{_MODALITY}$")
_SPECIMEN = re.compile(
    r"^(?:\u8840\u6db2|\u8840|\u5c3f\u6db2|\u5c3f|\u75f0|\u5927\u4fbf|\u7caa\u4fbf|\u8111\u810a\u6db2)"
)
_MARKS = " \t\r\n.;,:*_`\"'"


def halves(name: str, known: Known) -> tuple[str, ...]:
    """The two tests that a name of one test puts together ("EMG/NCS"), or nothing."""
    for place in _AND.finditer(name):
        before, after = _tidy(name[: place.start()]), _tidy(name[place.end() :])
        after = _front(before, after, known) or after
        if known(before) and known(after):
            return before, after
    return ()


def apart(name: str, known: Known) -> tuple[str, ...]:
    """The tests that a name names, each with what it shares with others; `known` tells a test by its whole name.

    Commas and semicolons part, and so do the words for "and" of five languages, unless the whole is one test. A label
    or a head said once is said of all ("IHC for CD3, CD20"), and so is the end of the last ("urine and blood
    cultures"). A reason ends where a test begins. What is longer than a name can be is left as it is.
    """
    if len(name) > _LONGEST:
        return (_tidy(name),)
    labelled = _LABEL.match(name)
    if labelled and not _REASON.match(f" {labelled['rest']}"):
        inner, label = apart(labelled["rest"], known), labelled["label"].strip(_MARKS)
        if _GROUP.match(label):
            return inner
        return tuple(f"{label}: {one}" for one in inner) if len(inner) > 1 else (_tidy(name),)
    found = [one for part in _listed(name, known) for one in _coordinated(part, known)]
    return tuple(dict.fromkeys(_headed(found, known)))


def _listed(name: str, known: Known) -> Sequence[str]:
    """The parts of a list: those behind a reason belong to it until one is a test, as do regions to their study."""
    found: list[str] = []
    for part in _cut(name):
        joined = found[-1] if found else ""
        open_reason = bool(_REASON.search(f" {joined}"))
        head = _HEAD.match(joined)
        region = head is not None and head["link"].lower() in _WHOLE
        if joined and (open_reason or region) and not any(known(_tidy(one)) for one in _AND.split(part)):
            found[-1] = f"{joined}, {part}"
        else:
            found.append(part)
    return found if len(found) < 2 else _ended(found, known)


def _cut(name: str) -> Iterator[str]:
    """`name` cut at commas and semicolons outside brackets; nothing of it is empty."""
    depth, start = 0, 0
    cuts = {match.start(): match.end() for match in _LIST.finditer(name)}
    pieces = []
    for place, sign in enumerate(name):
        if place in cuts and depth == 0 and place >= start:
            pieces.append(name[start:place])
            start = cuts[place]
        depth = max(0, depth + (sign in "([\uff08") - (sign in ")]\uff09"))
    for piece in (*pieces, name[start:]):
        if tidy := _tidy(_LEAD.sub("", piece.strip(_MARKS))):
            yield tidy


def _ended(parts: Sequence[str], known: Known) -> list[str]:
    """'liver', 'kidney and thyroid function tests' as 'liver, kidney and thyroid function tests' with its end."""
    found: list[str] = []
    for part in reversed(parts):
        tail = _tail(part, found[0].rpartition(" and ")[2], known) if found else ""
        found.insert(0, f"{part} {tail}" if tail else part)
    return found


def _coordinated(part: str, known: Known) -> Sequence[str]:
    """What 'and' joins, parted where one side is a test or both share an end; else as it stands."""
    for pattern in (_FOREIGN, _AND):
        for place in pattern.finditer(part):
            before, after = _tidy(part[: place.start()]), _tidy(part[place.end() :])
            if not before or not after or _inside(part, place.start()) or known(part):
                continue
            if _REASON.search(f" {before}") and not known(after):
                continue
            if pattern is _FOREIGN:
                return _unspaced(before, after, known)
            tail = _tail(before, after, known)
            if tail:
                return [f"{before} {tail}", *_coordinated(after, known)]
            if "/" in place[0]:
                slashed = [before, *_coordinated(after, known)] if known(before) else []
                if slashed and all(map(known, slashed)):
                    return slashed
                continue
            if known(before) or (known(after) and not _study(before)):
                after = _front(before, after, known) or after
                return [*_coordinated(before, known), *_coordinated(after, known)]
    return [part]


def _front(before: str, after: str, known: Known) -> str:
    """'S' behind 'protein C' as 'protein S'; "" where the two share no beginning that makes `after` a test."""
    words, head = before.split(), _HEAD.match(before)
    if len(after.split()) > 2 or (known(after) and not _GENERAL.match(after)):
        return ""
    forms = (f"{' '.join(words[:size])} {after}" for size in range(len(words) - 1, 0, -1))
    found = next((form for form in forms if known(form)), "")
    return found or (f"{head['head']} {after}" if head and not known(after) else "")


def _tail(before: str, after: str, known: Known) -> str:
    """The end of `after` that is meant of `before` as well; "" if there is none."""
    if len(before.split()) > 2:
        return ""
    words = _AND.split(after)[-1].split()
    if before.casefold() in MODIFIERS and len(words) > 1 and words[0].casefold() in MODIFIERS:
        return " ".join(words[1:])
    if known(before):
        return ""
    ends = (" ".join(whole[size:]) for whole in (words, after.split()) for size in range(1, len(whole)))
    return next((end for end in ends if known(f"{before} {end}")), "")


def _unspaced(before: str, after: str, known: Known) -> list[str]:
    """Two names joined by a word for "and" in another language, with the part of the body or the end they share."""
    pictured, specimen = _PICTURED.match(before), _SPECIMEN.match(after)
    head = _HEAD.match(before)
    if pictured and _MODALITIES.match(after):
        after = f"{pictured['part']}{after}"
    elif specimen and _SPECIMEN.fullmatch(before) and specimen.end() < len(after) and not _FOREIGN.search(after):
        before += after[specimen.end() :]
    elif head and len(after.split()) == 1 and not known(after):
        after = f"{head['head']} {after}"
    return [*_coordinated(before, known), *_coordinated(after, known)]


def _headed(parts: Sequence[str], known: Known) -> list[str]:
    """'IHC for CD3', 'CD20 and CD30' as 'IHC for CD3', 'IHC for CD20', 'IHC for CD30'."""
    found: list[str] = []
    head = ""
    for part in parts:
        match = None if _REASON.search(f" {part}") else _HEAD.match(part)
        if match and match["link"].lower() not in _WHOLE:
            head = match["head"]
            members = [_tidy(one) for one in _AND.split(match["first"])]
            short = len(members) > 1 and all(_NAMED.search(one) and _member(one, known) for one in members)
            found += [f"{head} {one}" for one in members] if short and not known(part) else [part]
        elif head and all(_member(_tidy(one), known) for one in _AND.split(part)):
            found += [f"{head} {_tidy(one)}" for one in _AND.split(part)]
        else:
            head = ""
            found.append(part)
    return found


def _member(text: str, known: Known) -> bool:
    return bool(text) and len(text.split()) <= _MEMBER and not known(text)


def _study(text: str) -> bool:
    """Whether a list of regions may go on behind the text ("CT of chest", "X-ray of hands")."""
    match = _HEAD.match(text)
    return match is not None and match["link"].lower() in _WHOLE


def _inside(text: str, place: int) -> bool:
    """Whether a place is within brackets."""
    before = text[:place]
    return sum(map(before.count, "([\uff08")) > sum(map(before.count, ")]\uff09"))


def _tidy(text: str) -> str:
    return " ".join(text.split()).strip(_MARKS)
