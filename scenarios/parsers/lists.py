"""Reads lists of examinations: splits the items and expands coordinations such as "CT of chest and pelvis"."""

import re
from collections.abc import Callable, Iterator, Sequence

from wardround.engine.text import regex, split_outside_brackets

_MARKER = regex(r"^\s*(?:[-*•·–—+>]+|\(?\d{1,3}[.)](?!\d)|\(?[a-z]\))\s*", re.IGNORECASE)
_SENTENCE = regex(r"(?<=[\w)]{3})\.\s+(?=[A-Z][a-z]+\s+[a-z])")
_LEADING = regex(r"^(?:and|or|plus|also|including)\s+", re.IGNORECASE)
_INNER_NUMBER = regex(r"(?:(?<=^)|(?<=[,;\s]))\(?\d{1,2}[.)]\s+")
_OF_WHAT = (
    "no more other additional further new extra specific special ancillary diagnostic laboratory lab imaging tests? "
    "testing investigations? examinations? exams? information studies study work-?up evaluations? assessments? "
    "procedures? requests? questions? is are was were be needed required requested necessary indicated applicable "
    "available asked recommended performed done ordered warranted at this the time point moment now currently today of "
    "these those present stage"
)
_OTHERS = (  # 'no', 'not needed' and words that may follow: Chinese, Spanish, French, German
    (
        "\u6682\u65e0 \u65e0\u9700 \u65e0\u987b \u4e0d\u9700\u8981 \u4e0d\u9700 \u4e0d\u5fc5 \u6ca1\u6709 \u65e0",
        "\u8fdb\u4e00\u6b65 \u5176\u4ed6 \u5176\u5b83 \u989d\u5916 "
        "\u66f4\u591a \u4efb\u4f55 \u7684 \u68c0\u67e5 \u68c0\u9a8c \u5316\u9a8c \u4fe1\u606f "
        "\u8865\u5145 \u505a",
    ),
    (
        "ningun[oa]?s? no\\sse\\srequieren? no\\sse\\snecesitan?",
        "m[a\u00e1]s otr[ao]s? pruebas? ex[a\u00e1]men(?:es)? estudios? adicional(?:es)?",
    ),
    ("aucune?s?", "autres? examens? tests? suppl\u00e9mentaires?"),
    ("keine?", "weiteren? zus\u00e4tzlichen? untersuchung(?:en)? tests? erforderlich n\u00f6tig"),
)
_NONE = (
    rf"(?:no|none|not|nothing|nil|n/?a|n[.]a)\b(?:\W+(?:{'|'.join(_OF_WHAT.split())})\b)*",
    *(f"(?:{'|'.join(no.split())})(?: ?(?:{'|'.join(what.split())}))*" for no, what in _OTHERS),
)
_NOTHING = regex(f"(?:{'|'.join(_NONE)})[\\s.!\u3002-]*", re.IGNORECASE)
_SODIUM = "Na"
_COMMA = regex("[,;\uff0c\uff1b\u3001]")
_LONGEST = 300
_MOST = 200


def listed_names(text: str) -> tuple[str, ...]:
    """Split a list into items: one per line, bulleted, numbered, or separated by commas or semicolons.

    Commas and semicolons in brackets do not separate; 'and' inside an item is kept ('ova and parasites'). A sentence
    after the list and the word 'none' are not items. Returns at most 200 items of at most 300 characters; anything
    longer is not the name of a test.
    """
    names: dict[str, str] = {}
    for line in text.splitlines():
        for part in split_outside_brackets(_SENTENCE.split(_unmarked(line), maxsplit=1)[0], _COMMA):
            name = _LEADING.sub("", part.strip(" \t.;,:*_`\"'")).strip()
            if name and len(name) <= _LONGEST and not requests_nothing(name):
                names.setdefault(name.lower(), name)
                if len(names) == _MOST:
                    return tuple(names.values())
    return tuple(names.values())


def requests_nothing(text: str) -> bool:
    """Whether a text says explicitly that nothing is requested: "None", "No additional tests required"."""
    said = text.strip(" \t\r\n*_`\"'-([)]")
    return said != _SODIUM and _NOTHING.fullmatch(said) is not None


def _unmarked(line: str) -> str:
    """The line without its bullet or number, and without numbers that open its inner items ('1. CBC, 2. BMP')."""
    return _INNER_NUMBER.sub(", ", _MARKER.sub("", line.replace("**", "")))


_LABEL = regex(r"^(?P<label>[^:(\[]{1,80}):\s+(?P<rest>\S.*)$")
_GROUP = regex(
    r"(?i)^(?:additional |further |other |specific |detailed |repeat |advanced |routine )*(?:lab(?:oratory)?|blood|"
    r"serum|urine|imaging|radiolog\w*|microbiolog\w*|patholog\w*|histolog\w*|histopatholog\w*|genetic\w*|molecular|serolog\w*|"
    r"immunolog\w*|endocrin\w*|hormon\w*|physical|clinical|neurolog\w*|cardiac|functional|ancillary|diagnostic|history|"
    r"tests?|procedures?|others?)\b"
)
_REASON = regex(r"(?i)^(?:to|for|if|in order|as|because|evaluate|assess|check|confirm|rule|exclude|look|determine)\b")


def requested_tests(text: str) -> tuple[str, ...]:
    """Split a request written under headings ('1. Laboratory tests: CBC, CRP', '2. CT: to exclude an abscess').

    Labels that name a group of tests and reasons that follow a test's name are left out.
    """
    lines = []
    for line in text.splitlines():
        match = _LABEL.match(_MARKER.sub("", line.replace("**", "")).strip())
        if match is None:
            lines.append(line)
        elif _GROUP.match(match["label"]) and not _REASON.match(match["rest"]):
            lines.append(match["rest"])
        else:
            lines.append(match["label"] if _REASON.match(match["rest"]) else f"{match['label']}, {match['rest']}")
    return listed_names("\n".join(lines))


Known = Callable[[str], bool]

_LIST = regex(r"\s*(?:[;\n\uff0c\uff1b\u3001]|(?<!\d),|,(?!\d))\s*")
_LEAD = regex(r"(?i)^(?:(?:and|or|plus|also|y|et|und)\s+|(?:\u4ee5\u53ca|[\u548c\u53ca\u4e0e]))")
_AND = regex(
    r"(?i)(?<!with)(?<!without)(?<!before)(?<!between)\s+(?:and/or|as well as|along with|and|or|plus|&|\+)\s+|\s*/\s*"
)
_FOREIGN = regex(
    r"\s+(?:y|et|und)\s+"
    # no match inside the words for saturation, sum, reconciling, taking part, concerning, common, affinity
    r"|(?<=[\w)])(?<![\u9971\u603b\u8c03\u53c2\u6d89\u666e])(?:\u4ee5\u53ca|[\u548c\u53ca\u4e0e])(?!\u529b)(?=\w)"
)
_OPEN_REASON = regex(
    r"(?i)\s(?:(?:in order )?to (?=[a-z]{3})|because\b|due to\b|if\b|given\b|looking for\b|since\b|in case\b"
    r"|for (?:suspected|possible|evidence|signs|evaluation|assessment|exclusion|monitoring)\b)"
)
_LABELLED = regex(r"^(?P<label>[^:,;()\[\]]{2,60}?)\s*[:\uff1a]\s+(?P<rest>\S.*)$", re.DOTALL)
_GROUPED = regex(
    r"(?i)^(?:(?:additional|further|other|routine|initial|basic|diagnostic|lab(?:oratory)?|blood|imaging)\s+)*"
    r"(?:tests?|labs?|studies|work-?up|investigations?|imaging|laboratory|lab)$"
)
_HEAD = regex(r"(?i)^(?P<head>\S.*?\s(?P<link>for|against|of|in|de|du|des|von))\s+(?P<first>\S.*)$")
_WHOLE = frozenset({"of", "in"})
"""After these words stand the regions of one study ("CT of chest, abdomen and pelvis")."""
_LONGEST_NAME = 600
"""Names longer than this many characters are not split."""
_MEMBER = 3
"""Most words in a member of a list under a shared head."""
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
_GENERAL = regex(r"(?i)^(?:biopsy|culture|cytology|histology|smear|aspirate|fluid)s?$")
_NAMED = regex(r"\d|[A-Z]{2}|[a-z][A-Z]")
_MODALITY = r"(?:CT|CTA|MRI|MRA|MRCP|PET|X\u7ebf|B\u8d85|\u8d85\u58f0|\u5f69\u8d85)"
_PICTURED = regex(rf"^(?P<part>[\u4e00-\u9fff]+?){_MODALITY}$")
_MODALITIES = regex(rf"^{_MODALITY}$")
_SPECIMEN = regex(r"^(?:\u8840\u6db2|\u8840|\u5c3f\u6db2|\u5c3f|\u75f0|\u5927\u4fbf|\u7caa\u4fbf|\u8111\u810a\u6db2)")
_MARKS = " \t\r\n.;,:*_`\"'"


def halves(name: str, known: Known) -> tuple[str, ...]:
    """The two tests that one name combines ("EMG/NCS"); empty if it does not combine two."""
    for place in _AND.finditer(name):
        before, after = _tidy(name[: place.start()]), _tidy(name[place.end() :])
        after = _front(before, after, known) or after
        if known(before) and known(after):
            return before, after
    return ()


def split_tests(name: str, known: Known) -> tuple[str, ...]:
    """Split a name into its tests, each with the words they share; `known` recognises the whole name of a test.

    Commas, semicolons and the words for "and" in five languages separate tests, unless the whole is one test. A label
    or head stated once applies to every test ("IHC for CD3, CD20"); so does the ending of the last test ("urine and
    blood cultures"). A reason ends where the next test begins. A text too long to be a name is returned unchanged.
    """
    if len(name) > _LONGEST_NAME:
        return (_tidy(name),)
    labelled = _LABELLED.match(name)
    if labelled and not _OPEN_REASON.match(f" {labelled['rest']}"):
        inner, label = split_tests(labelled["rest"], known), labelled["label"].strip(_MARKS)
        if _GROUPED.match(label):
            return inner
        return tuple(f"{label}: {one}" for one in inner) if len(inner) > 1 else (_tidy(name),)
    tests = [one for part in _listed(name, known) for one in _coordinated(part, known)]
    return tuple(dict.fromkeys(_headed(tests, known)))


def _listed(name: str, known: Known) -> Sequence[str]:
    """The parts of a list. Parts after a reason belong to it until one is a test; regions stay with their study."""
    listed: list[str] = []
    for part in _cut(name):
        joined = listed[-1] if listed else ""
        open_reason = bool(_OPEN_REASON.search(f" {joined}"))
        head = _HEAD.match(joined)
        region = head is not None and head["link"].lower() in _WHOLE
        if joined and (open_reason or region) and not any(known(_tidy(one)) for one in _AND.split(part)):
            listed[-1] = f"{joined}, {part}"
        else:
            listed.append(part)
    return listed if len(listed) < 2 else _ended(listed, known)


def _cut(name: str) -> Iterator[str]:
    """Split `name` at commas and semicolons outside brackets; empty parts are dropped."""
    pieces = split_outside_brackets(name, _LIST, "()[]\uff08\uff09")
    return (tidy for piece in pieces if (tidy := _tidy(_LEAD.sub("", piece.strip(_MARKS)))))


def _ended(parts: Sequence[str], known: Known) -> list[str]:
    """Give each part the ending of the last: 'liver', 'kidney and thyroid function tests' share 'function tests'."""
    ended: list[str] = []
    for part in reversed(parts):
        tail = _tail(part, ended[0].rpartition(" and ")[2], known) if ended else ""
        ended.insert(0, f"{part} {tail}" if tail else part)
    return ended


def _coordinated(part: str, known: Known) -> Sequence[str]:
    """Split what 'and' joins if one side is a test or both share an ending; otherwise keep it whole."""
    for pattern in (_FOREIGN, _AND):
        for place in pattern.finditer(part):
            before, after = _tidy(part[: place.start()]), _tidy(part[place.end() :])
            if not before or not after or _inside(part, place.start()) or known(part):
                continue
            if _OPEN_REASON.search(f" {before}") and not known(after):
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
    """The words of `before` that complete `after` to a test ('protein C', 'S': 'protein S'); "" if none do."""
    words, head = before.split(), _HEAD.match(before)
    if len(after.split()) > 2 or (known(after) and not _GENERAL.match(after)):
        return ""
    forms = (f"{' '.join(words[:size])} {after}" for size in range(len(words) - 1, 0, -1))
    whole = next((form for form in forms if known(form)), "")
    return whole or (f"{head['head']} {after}" if head and not known(after) else "")


def _tail(before: str, after: str, known: Known) -> str:
    """The ending of `after` that also applies to `before`; "" if there is none."""
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
    """Two names joined by a foreign word for "and", each with the body part or ending that they share."""
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
    """Repeat a shared head: 'IHC for CD3', 'CD20 and CD30' become 'IHC for CD3', 'IHC for CD20', 'IHC for CD30'."""
    names: list[str] = []
    head = ""
    for part in parts:
        match = None if _OPEN_REASON.search(f" {part}") else _HEAD.match(part)
        if match and match["link"].lower() not in _WHOLE:
            head = match["head"]
            members = [_tidy(one) for one in _AND.split(match["first"])]
            short = len(members) > 1 and all(_NAMED.search(one) and _member(one, known) for one in members)
            names += [f"{head} {one}" for one in members] if short and not known(part) else [part]
        elif head and all(_member(_tidy(one), known) for one in _AND.split(part)):
            names += [f"{head} {_tidy(one)}" for one in _AND.split(part)]
        else:
            head = ""
            names.append(part)
    return names


def _member(text: str, known: Known) -> bool:
    return bool(text) and len(text.split()) <= _MEMBER and not known(text)


def _study(text: str) -> bool:
    """Whether a list of regions may follow the text ("CT of chest", "X-ray of hands")."""
    match = _HEAD.match(text)
    return match is not None and match["link"].lower() in _WHOLE


def _inside(text: str, place: int) -> bool:
    """Whether a position lies within brackets."""
    before = text[:place]
    return sum(map(before.count, "([\uff08")) > sum(map(before.count, ")]\uff09"))


def _tidy(text: str) -> str:
    return " ".join(text.split()).strip(_MARKS)
