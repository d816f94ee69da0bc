"""Splits a request into pieces: expands brackets, 'and' and slashes."""

import re
from collections.abc import Callable, Iterator, Sequence

from wardround.engine.text import regex
from wardround.scenarios.orders import axes
from wardround.scenarios.orders.catalogue import scope
from wardround.scenarios.terms.wording import key, list_words

Known = Callable[[str], bool]
Studies = Callable[[str], Sequence[str]]

ENDS = " \t.,;:!?-*\"'"

_MOST_WORDS = 12
"""Most words of a piece that is looked for without the words around it."""
_LONGEST = 1000
"""Longest piece, in characters, that is split; a longer one is prose or not text."""

_LIST = regex(r"\s*(?:;|(?<!\d),|,(?!\d))\s*")
_REASON = regex(
    r"\s+(?:to (?=[a-z]{3}|r/o\b)|r/o |as (?=[a-z]+ (?:is|are|was|were)\b)|in order to"
    r"|because|given|due to|if |which|since |so that|in view of|looking for|looking at"
    r"|before |prior to |until |after |based on |with reflex|reflex to |in case|as part of|as a "
    r"|on (?:this|the|admission)|given |(?:would|will|should|could|might|may|can) (?:also )?(?:help|tell|settle|clarify|confirm"
    r"|exclude|show|answer|decide|rule|determine|establish|narrow|guide|reveal|support|be a|be an|be the|be my)\b|whether "
    r"|focused on |focusing on |with attention to |paying attention to |with a focus on |with particular attention to "
    r"|for (?!(?:gonorrh|chlamyd|hiv|h\.? ?pylori|afb|acid|c\.? ?diff|ova|malaria|fungal|gram|crystal|cytolog|cultur"
    r"|tuberc|tb\b|strep|influ|flu\b|covid|parasit|mrsa|vre|porphyr|metaneph|cortisol|protein|occult)))",
    re.IGNORECASE,
)
_JOINED = regex(
    r"\s*(?:\band/or\b|\bas well as\b|\balong with\b|\bfollowed by\b|\btogether with\b|\bthen\b|\band\b|\bor\b|\bplus\b"
    r"|\bversus\b|\bvs\b\.?|&|\+)\s+",
    re.IGNORECASE,
)
_LEAD = regex(r"^(?:(?:and|or|also|then|plus|either|both|next|first|now|followed by|as well as)\s+)+", re.IGNORECASE)
_ORDERING = regex(r"(?i)^(?:(?:please|obtain|get|order|check|send|perform|do|measure|draw)\s+)+")
_WISH = regex(
    r"(?i)^(?:(?:i|we|you)(?:['\u2019]d| would| will|['\u2019]ll)?|can|could|would|let['\u2019]?s|let us)\s+"
    r"(?:(?:we|you|i|please|also|just|like|want|need|wish|now|to|you to)\s+)*"
    r"(?:get|order|check|obtain|do|have|see|send|perform|run|request|repeat)?\s+(?=\S)"
)
_ASKING = regex(r"(?i)^(?:ask|contact|phone) (?:the )?[\w-]+(?: \w+)? for (?:an? )?(?=\S)")
_BEFORE = frozenset(
    re.findall(
        r"\S+",
        """a an the some any her his their my our please pls kindly just possibly maybe also we i have want need get
        send do check order obtain add arrange see wanna request repeat routine stat urgent and""",
    )
)
_AFTER = frozenset(
    re.findall(
        r"\S+",
        """please pls too also again now and at in on by of routine stat urgent weekly daily hourly monthly nightly
        once twice thrice drawn done sent taken collected today tonight tomorrow noon midnight evening
        morning afternoon overnight weekend day days week weeks hour hours fasting non nonfasting ok okay
        bilateral bilaterally b/l unilateral both sides side left right pre post bronchodilator before later
        this every per from separate away here us instead same sitting preferably immediately asap next first collection
        would help after afterwards soon possible thanks possibly straightaway straight daytime one""",
    )
)
_FRAME = frozenset(
    re.findall(
        r"\S+",
        """a an the her his their our this that these some any at point now for i i'd i'll we we'd we'll you let
        let's lets me us could can would should may might must will shall want wants need needs like wish
        prefer love have has to be do get order obtain ask asking arrange request requesting know see look
        check measure draw send run perform repeat proceed move go ahead and my plan is was next first
        second finally step then also please kindly think believe suggest propose recommend with begin
        time it it's reasonable helpful useful good idea worth getting doing ordering checking sending
        repeating performing obtaining add on of take find out show tell today just maybe perhaps really
        only third lastly so ok okay well initially additionally furthermore moreover consider considering
        try quickly soon whether what what's where's how's pls appreciate going i'm we're ought interested
        into off having results result possible test had she he been done make necessary wonder wondering
        if about able aim looking wanted were there dear colleague colleagues organise organize book
        schedule advise plus all more""",
    )
)
"""Words of the sentence around an order ('My plan is to get a', 'It is time for')."""
_FRAMED_REASON = regex(
    r"(?i)^(?:for|given|because|since|as|in view|in light|due|with|to|considering|based)\b[^,;]{3,80}?\s"
    r"(?=(?:i|we|you)(?:['\u2019](?:d|ll))?\s+(?:would|should|will|want|need|can|could|must|think|suggest|recommend|order"
    r"|get|ask|like)\b|let['\u2019]?s\b|please\b)"
)
_COUNT = regex(r"(?i)(?:x\s?)?\d+(?:st|nd|rd|th|h|hrs?|hourly|d|x|am|pm)?|[qx]\d+\w*")
_EXAMINE = regex(
    r"(?i)^(?:examine|inspect|palpate|auscultate|percuss|assess|listen to|look (?:at|in|into)|feel|examination of"
    r"|exam of)\s+"
    r"(?:(?:the|his|her|their|patient['\u2019]?s|left|right|both|of)\s+)*(?P<part>[\w -]{3,40}?)(?:\s+for\b.*)?$"
)
_SAMPLE = regex(r"(?i)^(?P<head>.{2,60}?)(?:\s+for|\s*:)\s+(?P<tail>.+)$")
_SAMPLED = list_words(
    """collection samples specimen swab send of the a 24 hour h hr 24h fluid random spot obtain collect from aspirate
    tap and clean catch"""
)
_PUNCTURE = regex(r"(?i)\b(?:lumbar puncture|lp|spinal tap)\b")
_BRACKETS = regex(r"\(([^()]*)\)|\[([^\[\]]*)\]")
_BESIDE_BRACKETS = regex(r"(?i)[)\]]\s*(?:,|\band\b|\bplus\b|\bas well as\b|&|\+)\s+")
_BEFORE_ORDER = regex(
    r"(?i)^(?:given|because|since|in view of|in light of|considering|due to|based on)\b"
    r"(?!.*\b(?:i|we|you)(?:['\u2019](?:d|ll))?\s+(?:would|should|will|want|need|order|get)\b|.*\b(?:let['\u2019]?s|please)\b)"
)
"""What gives the reason of an order and ends at a comma; it orders nothing."""
_TREATED = regex(
    r"(?i)^(?P<treats>(?:start|begin|give|administer|continue|prescribe)\s+(?!with\b).+?)"
    r"(?:,?\s+(?:and|then|but)\s+(?P<rest>(?:(?:please|then|also)\s+)?(?:get|order|obtain|send|check|do|perform|repeat|measure|draw"
    r"|monitor|recheck|arrange|follow|trend)\s.+))?$"
)
STAINED = regex(r"(?i)\b(?:gs|gram stains?)\s*[/&+]\s*(?=(?:cultures?|cx|c&s)\b)")
_CIRCUMSTANCE = regex(
    r"(?i)\s+(?:post|first thing|on|from|at|over|by|via|per|during|using|through|within|while|when|until|prior to"
    r"|before|after|in)\s+"
)
_WITHIN = regex(r"(?i)\s(?:in|from|of|on)\s+(?:the\s+)?[\w -]+$")
_NAMING = regex(r"^\s*(?:such as|namely|e\.g\.?,?|i\.e\.?,?)\s*:?\s+", re.IGNORECASE)
_ADDING = regex(r"^\s*(?:including|incl\.?|with|plus|and)\s*:?\s+", re.IGNORECASE)
_CLASS = regex(r"(?i)ig[gmae]")
_SHARED_METHODS = ("pcr", "igm", "igg", "dna", "rna")
_TISSUE = regex(r"(?i)histolog|patholog|^biops")
_EXAM = regex(r"(?i)\bexam")
_SPECIMENS = frozenset({"serum", "urine", "blood", "csf", "plasma", "stool", "sputum", "wound", "throat"})


_SENSITIVE = regex(
    r"(?i)\b(cultures?|cx)\s*(?:\band\b|&|\+|/)\s*(?:sensitivit(?:y|ies)|susceptibilit(?:y|ies)|sens)\b(?:\s+testing)?"
)
_MODALITY = regex(
    r"(?i)\b(?:x-?rays?|xr|cxr|axr|kub|films?|radiographs?|ct|cta|mri|mra|mrcp|pet|ultrasound|uss?|doppler|echo|tte)\b"
)
_METHOD = regex(
    r"(?i)^(?P<what>serolog(?:y|ies)|pcrs?|antibod(?:y|ies)|titers?|antigens?|cultures?|levels?|ig[gm])\s+"
    r"(?:(?:for|of|to|against|on)\s+)?(?P<tail>.+)$"
)


def each_by_method(line: str, known: Known) -> list[str]:
    """'Serologies for CMV, EBV and toxoplasma' as one request each; empty unless every one is known."""
    match = _METHOD.match(line.strip(ENDS))
    if match is None:
        return []
    what = re.sub(r"ies$", "y", match["what"].casefold()).removesuffix("s")
    parts = [part.strip(ENDS) for piece in split_commas(match["tail"]) for part in _JOINED.split(piece)]
    each = [f"{part} {what}" for part in parts if part]
    return each if len(each) > 1 and all(known(one) for one in each) else []


def trimmed(piece: str, known: Known) -> str:
    """The known test in a piece without the words around it that say how, when and for whom ('her iron', 'BMP weekly').

    `piece` itself if that makes it no known test.
    """
    words = piece.split()
    if len(words) > _MOST_WORDS or known(piece):
        return piece
    start, end = 0, len(words)
    while start < end - 1 and words[start].casefold().strip(ENDS) in _BEFORE:
        start += 1
    ends = [end]
    while end > start + 1 and (words[end - 1].casefold().strip(ENDS) in _AFTER or _COUNT.fullmatch(words[end - 1])):
        end -= 1
        ends.append(end)
    forms = (" ".join(words[start:place]).strip(ENDS) for place in ends)
    return next((form for form in forms if form and known(form)), piece)


def unframed(piece: str) -> str:
    """`piece` without the sentence around an order: 'My plan is to get a colonoscopy' is 'colonoscopy'.

    `piece` itself if nothing else is in it.
    """
    words = _FRAMED_REASON.sub("", piece).split()
    start, end = 0, len(words)
    while start < end and words[start].casefold().replace("\u2019", "'").strip(ENDS) in _FRAME:
        start += 1
    while end > start + 1 and words[end - 1].casefold().strip(ENDS) in _AFTER:
        end -= 1
    return " ".join(words[start:end]).strip(ENDS) or piece


def _of_frame(piece: str, known: Known) -> str:
    """`piece` without the sentence around it, where a test is known in what is left."""
    bare = unframed(piece)
    parts = [part.strip(ENDS) for part in _JOINED.split(bare)]
    named = any(known(part) or known(trimmed(part, known)) for part in parts if part)
    return bare if bare != piece and not known(piece) and (named or scope(bare) is not None) else piece


def _abbreviations(piece: str, known: Known) -> list[str]:
    """'ESR CRP RF' as one request each: known abbreviations in capitals without a comma between them."""
    words = piece.split()
    alone = 1 < len(words) <= _MOST_WORDS and all(word.isupper() and known(word) for word in words)
    return words if alone else []


def names_sample(head: str) -> bool:
    """Whether `head` names a sample and nothing else ('sputum', '24 h urine collection')."""
    return bool(axes.specimen(head)) and set(axes.without_specimen(head).split()) <= _SAMPLED


def split_commas(text: str) -> Iterator[str]:
    """Split `text` at commas and semicolons outside brackets."""
    depth, start = 0, 0
    cuts = {match.start(): match.end() for match in _LIST.finditer(text)}
    for place, mark in enumerate(text):
        depth = max(0, depth + (mark in "([") - (mark in ")]"))
        if depth == 0 and place in cuts and place >= start:
            yield text[start:place]
            start = cuts[place]
    yield text[start:]


def single_requests(piece: str, known: Known, studies: Studies) -> Iterator[str]:
    """`piece` whole if known; else without its reason, without its brackets, or split at 'and'."""
    piece = _SENSITIVE.sub(r"\1", _ASKING.sub("", _WISH.sub("", _LEAD.sub("", piece.strip(ENDS)))))
    if not piece or len(piece) > _LONGEST:
        yield from [piece] if piece else ()
        return
    if _BEFORE_ORDER.match(piece):
        yield piece
        return
    if treated := _TREATED.match(piece):  # 'start vancomycin and get a trough'
        yield treated["treats"].strip(ENDS)
        yield from single_requests(treated["rest"] or "", known, studies)
        return
    piece = trimmed(_of_frame(trimmed(piece, known), known), known)
    beside = _BESIDE_BRACKETS.search(piece)
    if beside:  # 'markers (ESR, CRP) and a ferritin'
        yield from single_requests(piece[: beside.start() + 1], known, studies)
        yield from single_requests(piece[beside.end() :], known, studies)
        return
    inner = listing(piece, known)
    if inner:
        yield from inner
        return
    if known(piece):
        yield piece
        return
    examined = _EXAMINE.match(piece)
    exams = [f"{part.strip(ENDS)} exam" for part in _JOINED.split(examined["part"])] if examined else []
    if any(map(known, exams)):
        yield from exams
        return
    sampled = list(_from_sample(piece, known))
    if sampled:
        yield from sampled
        return
    reasoned = _REASON.search(piece)
    short = piece[: reasoned.start()].strip(ENDS) if reasoned else piece
    short = trimmed(short, known)
    if short and short != piece and (known(short) or scope(short)):
        yield short
        if piece[reasoned.start() :].lstrip().lower().startswith("for ") if reasoned else False:
            wanted = _JOINED.split(piece[reasoned.end() if reasoned else 0 :])
            yield from (
                part
                for part in (item.strip(ENDS) for item in wanted)
                if len(part) > 3 and known(part) and not _TISSUE.search(part)
            )
        return
    last = _JOINED.split(piece)[-1]
    if last != piece and known(last):  # 'serum Na and PCR for HSV': the purpose is the last test's own
        short = piece
    yield from _apart(short if len(short.split()) > 1 else piece, known, studies)


def _from_sample(piece: str, known: Known) -> Iterator[str]:
    """The tests of a sample: '24 h urine collection for protein and creatinine' gives each with its specimen."""
    match = _SAMPLE.match(piece)
    if match is None or not names_sample(match["head"]):
        return
    head = match["head"]
    day = "24 hour " if re.match(r"(?i)24", head) else ""
    parts = [part.strip(ENDS) for part in _JOINED.split(match["tail"]) if part.strip(ENDS)]
    named = []
    for part in parts:
        forms = (f"{day}{axes.specimen(head)} {part}", f"{axes.specimen(head)} {part}")
        named.append(next((form for form in forms if known(form)), ""))
    if all(named):
        yield from [head] if _PUNCTURE.search(head) and known(head) else ()
        yield from named


def listing(piece: str, known: Known) -> list[str]:
    """The tests that a bracket lists in place of, or beside, the name before it; empty if it abbreviates or explains.

    One bracketed test is another name for the one before it ('Urinalysis (UA)'), unless 'including' adds it; several
    are the actual request ('inflammatory markers (CRP, ESR)').
    """
    studies = [part.strip(ENDS) for joined in _JOINED.split(piece) for part in split_commas(joined)]
    if len(studies) > 1 and all(_MODALITY.search(part) and known(part) for part in studies):
        return studies  # 'pelvic x-ray and left hip films': the side of one is not the other's
    tests: list[str] = []
    adds = False
    for match in _BRACKETS.finditer(piece):
        written = match[1] or match[2] or ""
        inner = _ADDING.sub("", _NAMING.sub("", written))
        adds = adds or _ADDING.match(written) is not None
        listed = [part.strip(ENDS) for part in re.split(r"\s*[,;/]\s*|\s+and\s+", inner)]
        listed = [part for part in listed if part]
        fluid = axes.specimen(_BRACKETS.sub(" ", piece))
        if fluid not in ("", axes.BLOOD):  # 'pleural fluid analysis (LDH, protein)'
            placed = [f"{fluid} {part}" for part in listed]
            listed = [
                long if not axes.specimen(part) and known(long) else part
                for part, long in zip(listed, placed, strict=True)
            ]
        first, _, rest = _BRACKETS.sub(" ", piece).strip(ENDS).partition(" ")
        narrower = [f"{first} {part} {rest}" for part in listed]  # 'MRI spine (cervical, lumbar)'
        if listed and all(known(part) for part in listed) and (len(listed) > 1 or not known(inner)):
            tests += listed
        elif len(listed) > 1 and rest and all(known(form) for form in narrower):
            tests += narrower
        elif adds and known(inner):
            tests.append(inner)
    outer = _BRACKETS.sub(" ", piece).strip(ENDS)
    if adds and tests and known(outer):
        return [outer, *tests]
    return tests if len(tests) > 1 else []


def _apart(piece: str, known: Known, studies: Studies) -> Iterator[str]:
    inner = [
        part.strip(ENDS) for match in _BRACKETS.finditer(piece) for part in _LIST.split(match[1] or match[2] or "")
    ]
    outer = _ORDERING.sub("", _LEAD.sub("", _BRACKETS.sub(" ", piece).strip(ENDS)))
    head, _, tail = outer.partition(" with ")
    last = _JOINED.split(head)[-1]
    if tail and last != head and not known(f"{last} with {tail}"):  # 'protein and cell count with diff'
        both = [*single_requests(head, known, studies), *single_requests(tail, known, studies)]
        if all(map(known, both)):
            yield from both
            return
    parts = _shared(_rejoined(_spread([part.strip(ENDS) for part in _JOINED.split(outer)]), known), known)
    parts = [trimmed(part, known) for part in _in_last_specimen(parts, known)]
    if len(parts) > 1 and all(known(part) for part in parts):
        yield from parts
    elif several := studies(outer):
        yield from several
    elif len(parts) > 1 and any(known(part) for part in parts):
        for part in parts:
            yield from [part] if known(part) else single_requests(part, known, studies)
    elif named := [part for part in inner if known(part)]:
        yield from named
    elif len(company := re.split(r"\s+with\s+|\s+w/\s*", outer)) > 1 and any(map(known, company)):
        for part in company:
            yield from [part] if known(part) else single_requests(part, known, studies)
    elif slashed := _slashed(outer, known) or _abbreviations(outer, known):
        yield from slashed
    elif len(parts) > 1 and all(studies(part) for part in parts):
        yield from parts
    else:
        yield from _without_circumstance(outer, known) or [piece]


def _in_last_specimen(parts: list[str], known: Known) -> list[str]:
    """'HSV and VZV PCR in the CSF' looks for both in the CSF."""
    fluid = axes.specimen(parts[-1]) if parts else ""
    if fluid not in ("CSF", "pleural fluid", "ascitic fluid", "synovial fluid") or not _WITHIN.search(parts[-1]):
        return parts
    placed = [f"{fluid} {part}" for part in parts[:-1]]
    return [
        *(long if not axes.specimen(part) and known(long) else part for part, long in zip(parts, placed, strict=False)),
        parts[-1],
    ]


def _without_circumstance(piece: str, known: Known) -> list[str]:
    """The tests before 'on room air', 'by PCR', 'from the right arm'; empty if no such head is known."""
    for match in _CIRCUMSTANCE.finditer(piece):
        head = trimmed(piece[: match.start()].strip(ENDS), known)
        if known(head):
            placed = f"{axes.specimen(piece[match.end() :])} {head}"  # 'viral panel by nasopharyngeal swab'
            return [placed if not axes.specimen(head) and not placed.startswith(" ") and known(placed) else head]
        if slashed := _slashed(head, known):
            return slashed
    return []


def _slashed(outer: str, known: Known) -> list[str]:
    """Split 'AST/ALT', 'flu/COVID swab' or 'PT/INR' if each part is known, alone or with the last word of the whole."""
    parts = [part for part in re.split(r"\s*/\s*|(?<=\w)\+(?=\w)", outer) if part]
    if len(parts) < 2:
        return []
    last = parts[-1].split()
    tests = []
    for part in parts:
        longer = f"{part} {last[-1]}" if len(last) > 1 and part is not parts[-1] else part
        first = f"{parts[0].split()[0]} {part}" if part is not parts[0] else part
        form = next((form for form in (part, longer, first) if known(form)), None)
        tests.append(form or part)
    # A part that no form makes known stays as it is if another one is a test by itself: 'MRI/MRCP'.
    unknown = [test for test in tests if not known(test)]
    return tests if not unknown or (len(unknown) < len(tests) and all(scope(part) for part in unknown)) else []


def _rejoined(parts: list[str], known: Known) -> list[str]:
    """Rejoin parts known only together: 'CT abdomen', 'pelvis', 'MRCP' become 'CT abdomen and pelvis', 'MRCP'."""
    joined: list[str] = []
    for part in parts:
        bare = not known(part) or (not _EXAM.search(part) and known(f"{part} exam"))  # 'neck' alone is a region
        if joined and bare and known(f"{joined[-1]} and {part}"):
            joined[-1] = f"{joined[-1]} and {part}"
        else:
            joined.append(part)
    return joined


def _shared(parts: list[str], known: Known) -> list[str]:
    """Share words: 'protein C', 'S' give 'protein C', 'protein S'; 'LDL', 'HDL cholesterol' share 'cholesterol'."""
    shared = list(parts)
    for place, part in enumerate(shared):
        if known(part):
            last = shared[-1].split()[-1]
            if place and _CLASS.fullmatch(part):  # 'dengue antigen and IgM'
                first = f"{shared[place - 1].split()[0]} {part}"
                shared[place] = first if known(first) and len(shared[place - 1].split()) > 1 else part
                continue
            method = place < len(shared) - 1 and not axes.methods(part) and last.casefold() in _SHARED_METHODS
            longer = f"{part} {last}"
            if method and len(part.split()) == 1 and known(longer) and not axes.specimen(part):
                shared[place] = longer  # 'CMV and EBV PCR'
            continue
        before = shared[place - 1].split() if place else []
        after = shared[-1].split() if place < len(shared) - 1 else []
        forms = [" ".join([*before[:size], part]) for size in range(len(before) - 1, 0, -1)]
        forms += [" ".join([part, *after[-size:]]) for size in range(1, len(after))]
        shared[place] = next((form for form in forms if known(form)), part)
    return shared


def _spread(parts: Sequence[str]) -> list[str]:
    """'blood', 'urine cultures' become 'blood cultures', 'urine cultures'."""
    spread = [part for part in parts if part]
    for place, part in enumerate(spread[:-1]):
        following = spread[place + 1].split()
        if key(part) in _SPECIMENS and len(following) > 1 and key(following[0]) in _SPECIMENS:
            spread[place] = " ".join([part, *following[1:]])
    return spread
