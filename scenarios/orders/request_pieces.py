"""Splits a request into pieces: expands brackets, 'and' and slashes, and reads what is asked of a sample."""

import re
from collections.abc import Callable, Iterator, Sequence

from wardround.engine.text import regex
from wardround.scenarios.orders import axes
from wardround.scenarios.orders.background import why_no_test
from wardround.scenarios.orders.catalogue import catalogue, scope
from wardround.scenarios.orders.joined_names import (
    ENDS,
    JOINED,
    LIST,
    Known,
    in_last_specimen,
    order_words,
    rejoined,
    run_of_names,
    shared,
    slashed,
    split_commas,
    trimmed,
)
from wardround.scenarios.orders.name_lookup import link
from wardround.scenarios.orders.samples import from_sample
from wardround.scenarios.terms.wording import lexicon, stem

Studies = Callable[[str], Sequence[str]]
_LONGEST = 1000
"""Longest piece, in characters, that is split; a longer one is prose or not text."""
REASON = regex(
    r"\s+(?:(?:coz|cos|cuz) (?=[a-z])|to (?!(?:obtain|get|order|request|perform|send|repeat|arrange|add|see"
    r"|have|know|recheck)\b|check (?!for\b"
    r"|whether\b|if\b))(?=[a-z]{3}|r/o\b)|r/o |as (?=[a-z]+ (?:is|are|was|were)\b)|in order to|because|given|due to"
    r"|if |which|since |so that|in view of|looking for|looking at|before |prior to |until |after |based on "
    r"|with reflex|reflex to |in case|as part of|as a |as (?:routine|per|requested|discussed) "
    r"|on (?:this|the|admission)|given |(?:would|will"
    r"|should|could"
    r"|might|may|can) (?:also )?(?:help|tell|settle|clarify|confirm|exclude|show|answer|decide|rule|determine"
    r"|establish|narrow|guide|reveal|support|be a|be an|be the|be my)\b|whether |focused on |focusing on "
    r"|with attention to |paying attention to |with a focus on |with particular attention to "
    r"|(?<!arrange )(?<!obliged )(?<!grateful )(?<!asking )(?<!ask )(?<!asked )for (?!(?:gonorrh|chlamyd|hiv"
    r"|h\.? ?pylori|afb|acid|c\.? ?diff|ova|malaria|fungal|gram|crystal|cytolog|cultur|tuberc|tb\b|strep|influ|flu\b"
    r"|covid|parasit|mrsa|vre|porphyr|metaneph|cortisol|protein|occult)))",
    re.IGNORECASE,
)
_LEAD = regex(
    r"^(?:(?:and|so|or|also|then|thereafter|preferably|along with|together with|plus|either|both|next"
    r"|first(?! (?:void|catch|pass|morning))|now"
    r"|followed by|as well as|(?:start|begin)(?:ning|ing)? (?:off )?with)\s+)+",
    re.IGNORECASE,
)
_WISH = regex(
    r"(?i)^(?:(?:i|we|you)(?:['\u2019](?:d|ll|ve)| would| will| have)?|can|could|would|let['\u2019]?s"
    r"|let us)\s+(?:(?:first|next|then|really|definitely|strongly|certainly|we|you|i|please|also|just|like|want|need"
    r"|wish|now|to|you to|have|therefore|today)\s+)*(?:(?:(?:requested|organi[sz]ed|arranged|booked|ordered"
    r"|taken)(?: (?:an? )?(?:blood|bloods|sample))?"
    r"(?: today)?(?: for)?|asked (?:for|(?:[\w']+ ){1,4}(?:for|to (?:do|check|arrange))))\s+|(?:get|take|order|check"
    r"|obtain|do|have|see|send|perform|run|request|repeat)\s+)?(?=\S)"
)
_ASKING = regex(
    r"(?i)^(?:(?:send|refer|take|bring) (?:(?:the patient|him|her|them) )?for (?:an? )?"
    r"|(?:ask|contact|phone) (?:the )?[\w-]+(?: \w+)? for (?:an? )?"
    r"|(?:do|get|send|check|order|measure) both (?=.+ and )|(?:[\w-]+ to (?:do|perform|measure|check|carry out)"
    r"|(?:physios?|ot|salt|nurses?) for) (?:(?:an?|the) )?"
    r"|(?:(?:go|move|proceed|head|skip) )?(?:straight|directly|right) (?:to|for) (?:(?:an?|the) )?)(?=\S)"
)
_EXAMINE = regex(
    r"(?i)^(?:examine|inspect|palpate|auscultate|percuss|assess|listen to|look (?:at|in|into)|feel|examination of"
    r"|exam of)\s+(?:(?:the|his|her|their|patient['\u2019]?s|left|right|both"
    r"|of)\s+)*(?P<part>[\w -]{3,40}?)(?:\s+for\b.*)?$"
)
_VERBS = (
    r"check|send|get|order|obtain|perform|do|look (?:for|at|in|into)|listen|palpate|feel|inspect|examine|auscultate"
    r"|percuss|test|assess|measure|arrange|request|repeat|recheck|add|take|draw|book|schedule|elicit|calculate"
    r"|monitor"
)
_SECOND_VERB = regex(
    rf"(?i),?\s+(?:and|then|but|&|while (?:we|you|i))\s+(?:(?:then|also|please|to|i(?:'d|'ll| would"
    rf"| will))\s+)*(?=(?:{_VERBS})\s+(?!and\b))"
)
"""Between two clauses of one sentence, each with its own verb."""
_SCREENED = regex(
    r"(?i)^(?:screen|test|check|evaluate|investigate|assess|look|search|work (?:him|her|them|the \w+|this) up|confirm"
    r"|exclude|rule out)\s(?:.{2,80}?\s)?(?:with|by|using|via|by means of)\s+(?P<tests>.+)$"
)
_SIGNS = regex(
    r"(?i)^(?:listen|feel|look|check|palpate|percuss|assess|examine|test|inspect"
    r"|search)\b(?:\s[\w' -]{2,40}?)?\sfor\s+(?:(?:any|the|an?|signs? of|evidence of)\s+)*(?P<signs>.+)$"
)
_BRACKETS = regex(r"\(([^()]*)\)|\[([^\[\]]*)\]")
_BESIDE_BRACKETS = regex(r"(?i)[)\]]\s*(?:,|\band\b|\bplus\b|\bas well as\b|&|\+)\s+")
_TAKES = regex(r"(?i)^(?:please\s+)?(biopsy|aspirate|tap|scope|scan)\s+(?:the|an?|any|his|her|their|this|that)\s+")
_TAKEN = {"biopsy": "biopsy", "aspirate": "aspiration", "tap": "tap", "scope": "scope", "scan": "scan"}
"""What a verb that takes a sample is called as a noun ('biopsy the node' is a biopsy of it)."""
_TREATED = regex(
    r"(?i)^(?P<treats>(?:start|begin|give|administer|continue|prescribe)\s+(?!with\b).+?)(?:,?\s+(?:and|then"
    r"|but)\s+(?P<rest>(?:(?:please|then|also)\s+)?(?:get|order|obtain|send|check|do|perform|repeat|measure|draw"
    r"|monitor|recheck|arrange|follow|trend)\s.+))?$"
)
_CIRCUMSTANCE = regex(
    r"(?i)\s+(?:(?:pre|post)-(?=[a-z]{3})|(?:pre|post|first thing|on|from|at|over|by|via|per|during|using|through"
    r"|within|while|when|until|prior to|before|after|in|off)\s+)"
)
_NAMING = regex(r"^\s*(?:such as|namely|e\.g\.?,?|i\.e\.?,?)\s*:?\s+", re.IGNORECASE)
_ADDING = regex(r"^\s*(?:including|incl\.?|with|plus|and)\s*:?\s+", re.IGNORECASE)
_BY_GENES = regex(r"(?i)\bgen(?:e|etic|etics)\b")
"""A method that what stands behind 'for' names more closely ('genetic testing for HFE')."""
_TISSUE = regex(r"(?i)histolog|patholog|^biops")
_SENSITIVE = regex(
    r"(?i)\b(cultures?|cx)\s*(?:\b(?:and|with|w)\b|&|\+|w?/)?\s*(?:sensitivit(?:y|ies)|susceptibilit(?:y|ies)"
    r"|sens)\b(?:\s+testing)?"
)
_OF_DRUG = regex(
    r"(?i)^(?:(?:the|an?)\s)?[\w-]+\s(?:susceptibilit(?:y|ies)|sensitivit(?:y|ies)|mic)(?:\s(?:of|for|from|in|on)\s(?:the\s)?"
    r"(?P<culture>.*\bcultures?))?$"
)
"""The reading of a culture for one drug, which the report of the culture tells."""
_DRUG = regex(r"(?i)(?:cillin|mycin|floxacin|azole|penem|tazo|tazocin|cef\w+|vanc\w*|gent\w*|oxime|axone)\b")
_MODALITY = regex(
    r"(?i)\b(?:x-?rays?|xr|cxr|axr|kub|films?|radiographs?|ct|cta|mri|mra|mrcp|pet|ultrasound|uss?|doppler|echo"
    r"|tte)\b"
)


def unframed(piece: str) -> str:
    """`piece` without the sentence around an order: 'My plan is to get a colonoscopy' is 'colonoscopy'.

    `piece` itself if nothing else is in it.
    """
    words = piece.split()
    start, end = 0, len(words)
    while start < end and words[start].casefold().replace("\u2019", "'").strip(ENDS) in order_words("frame"):
        start += 1
    while end > start + 1 and words[end - 1].casefold().strip(ENDS) in order_words("after"):
        end -= 1
    return " ".join(words[start:end]).strip(ENDS) or piece


_METHOD = regex(
    r"(?i)^(?:(?:please|an?|the|send|get|order|check|request|obtain)\s+)*(?P<where>(?:serum|blood|stool|urine|urinary"
    r"|csf|viral|(?:[\w-]+ ){1,2}(?:swabs?|aspirates?|washings?))\s+)?(?P<what>serolog(?:y|ies)|pcrs?|antibod(?:y"
    r"|ies)|titers?|antigens?|cultures?|levels?"
    r"|ig[gm])(?:\s+tests?(?:ing)?)?\s+(?:(?:for|of|to|against|on)\s+(?P<tail>.+)|(?P<list>.+,.+|.+\sand\s.+"
    r"|\S+/\S+))$"
)


def each_by_method(line: str, known: Known) -> list[str]:
    """'Serologies for CMV, EBV and toxoplasma' as one request each; empty unless every one is known."""
    match = _METHOD.match(line.strip(ENDS))
    if match is None:
        return []
    what = re.sub(r"ies$", "y", match["what"].casefold()).removesuffix("s")
    if match["list"] and match["where"] and not match["where"].casefold().startswith("viral"):
        return []
    pieces = [REASON.split(piece, maxsplit=1)[0] for piece in split_commas(match["tail"] or match["list"])]
    where = "" if (match["where"] or "").casefold().startswith("viral") else match["where"] or ""
    joined = [part.strip(ENDS) for piece in pieces for part in JOINED.split(piece)]
    parts = [part for one in joined for part in ([one] if known(f"{where}{one} {what}") else one.split("/"))]
    placed = [(where + f"{part} {what}", part) for part in parts if part]
    each = [next((form for form in (long, part) if known(form)), "") for long, part in placed]
    return each if all(each) and (len(each) > 1 or each[0] != placed[0][1]) else []


def single_requests(piece: str, known: Known, studies: Studies) -> Iterator[str]:
    """`piece` whole if known; else without its reason, without its brackets, or split at 'and'."""
    piece = _SENSITIVE.sub(r"\1", _ASKING.sub("", _WISH.sub("", _LEAD.sub("", piece.strip(ENDS)))))
    of_drug = _OF_DRUG.match(piece)
    if of_drug and _DRUG.search(piece.split(" suscept")[0].split(" sensit")[0]):
        piece = of_drug["culture"] or "susceptibility testing"
    piece = _TAKES.sub(lambda took: f"{_TAKEN[took[1].lower()]} of ", piece)
    if not piece or len(piece) > _LONGEST:
        yield from [piece] if piece else ()
        return
    treated = _TREATED.match(piece)
    if treated:  # 'start vancomycin and get a trough'
        yield treated["treats"].strip(ENDS)
    clauses = [treated["rest"] or ""] if treated else _clauses(piece, known)
    if clauses:
        for clause in clauses:
            yield from single_requests(clause, known, studies)
        return
    piece = trimmed(piece, known)
    if beside := _BESIDE_BRACKETS.search(piece):  # 'markers (ESR, CRP) and a ferritin'
        yield from single_requests(piece[: beside.start() + 1], known, studies)
        yield from single_requests(piece[beside.end() :], known, studies)
        return
    bare = _BRACKETS.sub(" ", piece).strip(ENDS)
    run = _run(bare, known) if bare != piece else []  # 'U&E LFT INR (Child-Pugh)'
    named = listing(piece, known) or run or ([piece] if known(piece) else _examined(piece, known))
    if named := named or each_by_method(piece, known):
        yield from named
    elif sampled := list(from_sample(piece, known)):
        yield from sampled
    else:
        yield from _without_reason(piece, known, studies)


def _clauses(piece: str, known: Known) -> list[str]:
    """The clauses of a piece that has several, and what a piece tests by; empty if it is one clause or known."""
    second, screened = _SECOND_VERB.search(piece), _SCREENED.match(piece)
    if not (second or screened) or known(piece):
        return []
    if second:  # 'examine the heart and look for edema'
        return [piece[: second.start()], piece[second.end() :]]
    named = screened is not None and any(
        known(trimmed(one.strip(ENDS), known)) for one in JOINED.split(screened["tests"])
    )
    return [screened["tests"]] if screened and named else []  # 'screen for celiac disease with tTG'


def _examined(piece: str, known: Known) -> list[str]:
    """The examinations of 'listen for bowel sounds' and 'inspect the throat and neck'; empty if none is known."""
    signs, examined = _SIGNS.match(piece), _EXAMINE.match(piece)
    named = [part.strip(ENDS) for part in JOINED.split(signs["signs"])] if signs else []
    if any(map(known, named)):
        return [f"{one} exam" if known(f"{one} exam") else one for one in named]
    parts = [part.strip(ENDS).removesuffix(" joint") for part in JOINED.split(examined["part"])] if examined else []
    exams = [part if known(part) and not known(f"{part} exam") else f"{part} exam" for part in parts]
    return exams if any(map(known, exams)) else []


def _without_reason(piece: str, known: Known, studies: Studies) -> Iterator[str]:
    """The requests of a piece without what it says of their reason; tests behind 'for' are requests themselves."""
    main, beside, sample = piece.rpartition(" with ")
    if beside and (sampled := list(from_sample(sample, known))):  # 'bronchoscopy with lavage for AFB'
        yield from (*single_requests(main, known, studies), *sampled)
        return
    reasoned = REASON.search(piece)
    short = trimmed(piece[: reasoned.start()].strip(ENDS) if reasoned else piece, known)
    if short and short != piece and (known(short) or scope(short)):
        wanted = JOINED.split(piece[reasoned.end() :]) if reasoned else []
        wanted = wanted if reasoned and reasoned[0].strip().lower() == "for" else wanted[1:]  # 'as per protocol + VBG'
        parts = [trimmed(item.strip(ENDS), known) for item in wanted]
        parts = [part for part in parts if len(part) > 2 and known(part) and not _TISSUE.search(part)]
        yield from parts if parts and _BY_GENES.search(short) else (short, *parts)
        return
    last = JOINED.split(piece)[-1]
    if last != piece and (
        known(last) or list(from_sample(last, known))
    ):  # 'serum Na and PCR for HSV': the purpose is the last test's own
        short = piece
    yield from _apart(short if len(short.split()) > 1 else piece, known, studies)


def listing(piece: str, known: Known) -> list[str]:
    """The tests that a bracket lists in place of, or beside, the name before it; empty if it abbreviates or explains.

    One bracketed test is another name for the one before it ('Urinalysis (UA)'), unless 'including' adds it; several
    are the actual request ('inflammatory markers (CRP, ESR)').
    """
    studies = [part.strip(ENDS) for joined in JOINED.split(piece) for part in split_commas(joined)]
    if len(studies) > 1 and all(_MODALITY.search(part) and known(part) for part in studies):
        return studies  # 'pelvic x-ray and left hip films': the side of one is not the other's
    tests: list[str] = []
    adds = False
    for match in _BRACKETS.finditer(piece):
        written = match[1] or match[2] or ""
        inner = _ADDING.sub("", _NAMING.sub("", written))
        adds = adds or _ADDING.match(written) is not None
        listed = [part.strip(ENDS) for part in re.split(r"\s*[,;/+]\s*|\s+&\s+|(?<=\w\w)&(?=\w\w)|\s+and\s+", inner)]
        listed = [part for part in listed if part]
        outer = _BRACKETS.sub(" ", piece).strip(ENDS)
        if panel := with_members(outer, listed, known):
            return panel
        taken = [f"{part} {outer}" for part in listed]
        if len(listed) > 1 and all(axes.specimen(part) and not axes.without_specimen(part) for part in listed):
            return taken if all(map(known, taken)) else []  # 'osmolality (serum & urine)'
        fluid = axes.specimen(outer)
        if fluid not in ("", axes.BLOOD):  # 'pleural fluid analysis (LDH, protein)'
            placed = [f"{fluid} {part}" for part in listed]
            listed = [
                long if not axes.specimen(part) and known(long) else part
                for part, long in zip(listed, placed, strict=True)
            ]
        first, _, rest = outer.partition(" ")
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


_LEVELS = regex(r"(?i)\b(?:levels|markers|bloods|labs|tests)$")
"""What heads a list of tests and is no panel."""


def with_members(panel: str, listed: Sequence[str], known: Known) -> list[str]:
    """A panel before a list of its tests, once, and what is none of them; empty if it is a list of other tests.

    ::

        with_members("CBC", ["Hb", "platelets", "CRP"], known)  # ['CBC', 'CRP']
    """
    if axes.specimen(panel) not in ("", axes.BLOOD, "arterial blood", "venous blood") or _LEVELS.search(panel):
        return []
    of_panel = (part for part in listed if known(f"{panel} {part}") and not known(f"{part} {panel}"))
    members = [part for part in of_panel if not axes.specimen(part)]  # no 'cervical' of 'MRI spine'
    if len(listed) < 2 or 2 * len(members) <= len(listed) or not known(panel):
        return []
    return [panel, *(part for part in listed if part not in members and known(part))]


def _apart(piece: str, known: Known, studies: Studies) -> Iterator[str]:
    inner = [part.strip(ENDS) for match in _BRACKETS.finditer(piece) for part in LIST.split(match[1] or match[2] or "")]
    outer = _LEAD.sub("", _BRACKETS.sub(" ", piece).strip(ENDS))
    head, _, tail = outer.partition(" with ")
    last = JOINED.split(head)[-1]
    if tail and last != head and not known(f"{last} with {tail}"):  # 'protein and cell count with diff'
        both = [*single_requests(head, known, studies), *single_requests(tail, known, studies)]
        if all(map(known, both)):
            yield from both
            return
    parts = shared(rejoined([part.strip(ENDS) for part in JOINED.split(outer) if part], known), known)
    parts = [trimmed(part, known) for part in in_last_specimen(parts, known)]
    if len(parts) > 1 and all(known(part) for part in parts):
        yield from parts
    elif several := studies(outer):
        yield from several
    elif len(parts) > 1 and any(known(part) for part in parts):
        for part in parts:
            yield from [part] if known(part) else single_requests(part, known, studies)
    elif named := [part for part in inner if known(part)]:
        yield from named
    elif len(company := re.split(r"\s+with\s+|\s+w/\s*|\s+w\s+", outer)) > 1 and any(map(known, company)):
        for part in company:
            yield from [part] if known(part) else single_requests(part, known, studies)
    elif sides := slashed(outer, known) or _run(outer, known):
        yield from sides
    elif len(parts) > 1 and (all(map(studies, parts)) or any(slashed(part, known) for part in parts)):
        yield from (one for part in parts for one in (slashed(part, known) or [part]))
    else:
        yield from _without_circumstance(outer, known) or (parts if len(parts) == 1 and known(parts[0]) else [piece])


def _run(piece: str, known: Known) -> list[str]:
    """The tests of a run of names without commas; a part of the body is none of them ('both legs')."""

    def names_test(phrase: str) -> bool:
        if not known(phrase):
            return False
        linked = link(phrase, catalogue())
        place = linked is not None and linked.kind == "examination" and phrase.islower()
        return not (place and all(stem(word) in lexicon() for word in phrase.split()))

    names = run_of_names(piece, names_test) if why_no_test(piece) != "treatment" else []
    tests = [linked.test if (linked := link(name, catalogue())) else name for name in names]
    behind = [*tests, ""][1:]  # 'H. pylori urea breath test' is one
    return [name for name, test, after in zip(names, tests, behind, strict=True) if test != after]


def _without_circumstance(piece: str, known: Known) -> list[str]:
    """The tests before 'on room air', 'by PCR', 'from the right arm'; empty if no such head is known."""
    for match in _CIRCUMSTANCE.finditer(piece):
        head = trimmed(piece[: match.start()].strip(ENDS), known)
        if known(head) and not (len(head.split()) == 1 and known(f"{head} exam") and match[0].strip() == "from"):
            when = match[0].strip().casefold().startswith(("pre", "post", "before", "after", "prior"))
            fluid = "" if when else axes.specimen(piece[match.end() :])  # 'viral panel by nasopharyngeal swab'
            placed = f"{fluid} {head}"
            return [placed if not axes.specimen(head) and not placed.startswith(" ") and known(placed) else head]
        if sides := slashed(head, known):
            return sides
    return []
