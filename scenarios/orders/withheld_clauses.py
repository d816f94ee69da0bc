"""Divides a request into clauses and marks those that order nothing, with the reason."""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from wardround.engine.text import regex
from wardround.scenarios.orders import axes
from wardround.scenarios.orders.joined_names import ENDS, JOINED, Known, order_words
from wardround.scenarios.orders.samples import IS_TAKEN, names_puncture
from wardround.scenarios.terms.wording import lexicon, stem

Why = Literal["negated", "conditional", "done", "treatment", "statement"]

_SHORT = r"(?:e\.g|i\.e|etc|incl|vit|vs|dr|st|approx|resp|c|h|e|s|b|p|m|n)"
_VERB = r"(?:order|get|obtain|send|check|do|perform|start|please|hold|cancel|not)"
_STOP = regex(
    rf"\.(?=\s+[a-z\d?])|[.!?]+(?=\s+[A-Z\[(\"*]|\s*$)|(?<=\w)\?(?=\s+[a-z])|;|\n|(?<!\d)\s(?:->|=>|\u2192)\s"
    rf"|(?:(?<=\bthat)|(?<=\bthis)|(?<=\bthem)|(?<=\bit)):(?=\s)|\s[-\u2013\u2014]\s|:(?=\s+(?:{_VERB}|(?i:he"
    rf"|she|they|it|i|we|his|her|this|there))\b)",
    re.UNICODE,
)
_REACH = 12
"""Characters before a full stop that are searched for an abbreviation that it belongs to."""
_SHORTENED = 5
"""Most letters of a word of the lexicon that a point may shorten ('quant. hCG')."""
_LONGEST_SHORTENED = 7
"""Most letters of any word that a point may shorten."""
_ABBREVIATED = regex(rf"(?i)(?:(?<![&/])\b{_SHORT})$")
_OPENS_SENTENCE = regex(rf"(?:also|and|then|pls|if|no|not|stop|hold|for|repeat|\?|{_VERB})\b|\?|[a-z]{{1,2}}[A-Z]")
_LAST_WORD = regex(r"[\w-]+\W*$")
_COMMA = regex(
    r",(?!\d)|(?:(?<=normal)|(?<=negative)|(?<=positive)|(?<=raised)|(?<=\bneg)|(?<=\bpos)|(?<=[-+]ve)|(?<=\d))\s+"
    r"(?:so|hence|therefore)\s+|\s+\bbut\b|\s+\bhowever\b|\s+\balthough\b|\s+(?:so|therefore|hence|thus)\s+"
    rf"(?=(?:(?:then|just|now|only|instead) )*(?:{_VERB}|swab|biopsy|scan|weigh|dip|culture|measure|examine"
    r"|i|we|let|can|could|would|recheck|repeat)\b)",
    re.IGNORECASE,
)
_COURTESY = regex(
    r"(?i),?\s*\b(?:if|when|where|as)\s+(?:at all\s+)?(?:possible|available|able|feasible|you can|you could"
    r"|appropriate|you have (?:it|them)|you would|you (?:don['\u2019]?t|do not) mind|i may(?=[\s,:]*(?:$|[,:]))"
    r"|that is (?:ok|okay|fine|alright)|ok|okay)\b,?"
)
_FAVOUR = regex(
    r"(?i)\s+(?:(?:should|would|will|might|may) (?:suffice|do|help|be (?:\w+ )?(?:helpful|useful|enough|sufficient"
    r"|supportive|informative|diagnostic|valuable|prudent|wise|ideal|advisable|decisive|sensible|beneficial"
    r"|worthwhile|of (?:use|value|help|interest)|fine|good|appropriate|indicated|reasonable|warranted|next|first"
    r"|needed|necessary|required|best))|(?:is|are|was|were|has been|have been) (?:requested|organi[sz]ed"
    r"|arranged)|(?:should|would|will|might|may|could) be (?:a|an|the|my|our|of)\b[^,;]*|(?:is"
    r"|are) (?:\w+ly )?(?:due|fine|ok|okay|enough|sufficient|adequate|overdue|called for|my next step|the next step"
    r"|first|next|key|helpful|useful|worthwhile|indicated|needed|required|necessary|recommended|warranted|appropriate"
    r"|reasonable|advised|a must|mandatory|essential)|(?:should|must|will|can|could|may|needs? to|has to"
    r"|ought to) (?:now |also |then |first |next )?be (?:obtained|performed|ordered|done|checked|sent|taken"
    r"|considered|repeated|measured|drawn|arranged|requested|undertaken|carried out|assessed))\b"
)
_SUBJECT = regex(
    r"(?i)^(?:(?:so|and|then)\s+)?(?:(?:the|my|our|your|a|one)\s+)?(?:[\w-]+\s+){0,3}?(?:tests?|steps?|investigation"
    r"|study|choice|thing|option|move|request|priority|exam|examination|imaging|modality)\b[^,;]{0,30}?\s(?:would be"
    r"|will be|should be|could be|is to|is|are|might be)\s+(?=(?:an?|the|to|her|his)\s)"
)
"""Before what is ordered, where the sentence calls it a test or a step ('The best test would be an MRI')."""
_CONDITION = (
    r"(?:only if|(?-i:[Ii]f|IF(?=\s+[A-Z]{3,}))|unless|in case|in the event|depending on|contingent on|provided"
    r"|assuming|pending|once(?=\s)|whenever|as needed|prn|(?:after|until|as soon as)\s[^,;]*?\b(?:settle|resolve"
    r"|improve|clear|stabili[sz]e|heal)s?|should (?:the|he|she|it|this|that|they|there|symptoms?|pain|fever"
    r"|results?|tests?|initial|these|those))\b"
)
_OPENS = regex(rf"(?i)^(?:(?:and|but|then|or|also|so|please)\s+)*(?:{_CONDITION}|when\s)")
_INSIDE = regex(rf"(?i)\s(?:(?!in case (?!of\b)){_CONDITION}|when\s)")
_TELLS = regex(
    r"(?i)\b(?:is|are|was|were|i am|has|had|have|been|takes?|took|taking|show(?:s|ed)|denie[sd]|presents|presented"
    r"|complains?|reports|reported|develop(?:s|ed)|suggests|explains?|drinks?|smokes?|lives?|came|went|received"
    r"|underwent|suspect|think|believe|worr(?:y|ied)|concerned|looks|seems|feels|appears|fell|slipped|lost|passes"
    r"|tells|says|said|snores|vomited|became|started|stopped|returned|noticed|remains|isn['\u2019]?t|(?:he|she|it"
    r"|there|that|they|we|i)['\u2019](?:s|re|ve|m))\b"
)
"""Verbs of a clause that tells something."""
_RELATIVE = regex(
    r"(?i)\s(?:on|from|in|off|with|using)\s(?:the|this|that|your|my)\s(?:[\w-]+\s){1,3}?(?:(?:that"
    r"|which)\s)?(?:you|i|we|they"
    r"|he|she)\s[^,;()]*"
)
"""Which sample a test is made on ('on the gas you just took')."""
_EARLIER = regex(
    r"(?i)\s(?:(?:be )?add(?:ed)?(?:[- ]on)?\s)?(?:on(?:to)?|to|off|from|using)\s(?:to\s)?(?:bloods"
    r"|(?:(?:the|this \w+['\u2019]?s?|yesterday['\u2019]?s?|his|her|earlier|existing|previous|same"
    r"|last)\s)+(?:bloods?|samples?|tubes?|specimens?))"
    r"(?:\s(?:already|that|was|were|sent|taken|drawn|in|the|lab|from|this|morning|today|earlier))*(?=[\s,.;?]*$)"
)
"""The earlier sample that a test is added to ('urate to bloods already sent')."""
_SUBORDINATE = regex(
    r"(?i)\s(?:as|because|since|before|until|after|while|which|whose|that|if|when|where|so that|given|for|to)\s"
)
_REQUESTS = regex(
    r"(?i)\b(?:please|pls|plz|kindly|needs?|should|would|could|can|must|wants?|like|requires?|warrants?|let|recommend"
    r"|consider|arrange|order|send|check|get|obtain|request(?:ing)?|ordering|asking|repeat|recheck|measure|draw|book"
    r"|schedule|perform|start with|begin with|proceed|what|how|which|due|next|first|best|useful|helpful|indicated"
    r"|(?:i|we)(?:['\u2019]ve| have)? (?:\w+ )?(?:requested|organi[sz]ed|arranged|booked|asked|ordered|taken)"
    r"|(?:was|were|is|are|been) (?:requested|organi[sz]ed|arranged)|reasonable|warranted|plan|benefit"
    r"|suggest (?:an?|the)|examin\w*|inspect|palpate|auscultate|percuss|add|run|take"
    r"|ok['\u2019]d|merits?|deserves?|interested|appreciate|see if|look|grateful|obliged|ask)\b"
)
"""Words by which a clause asks for something."""
_OPENER = regex(
    r"(?i)^(?:with|given|because|since|despite|considering|in (?:view|light) of|due to|owing to|following|after"
    r"|during|as (?:part of|he|she|it|they|we|i|there|this|that|the|her|his|a cause)|to (?:narrow|differentiate"
    r"|distinguish|help|complete|find|see|exclude|rule"
    r"|assess|work|clarify|investigate|look|evaluate|determine|confirm|establish|explain)|for (?:this|her|his|the|a"
    r"|an|their)|before (?!and after)|on account of)\b"
)
"""What opens a clause that says why or when, and orders nothing where a comma ends it."""
_CONTRAST = r"(?:(?:iv|oral|po|any|the|intravenous)\s+)*(?:contrast|gadolinium|gad|dye|reflex|diff|differential|prep)"
_DENIED = regex(
    rf"(?i)\b(?:no(?! (?:later|more than|less than|sooner|{_CONTRAST}))(?: need(?: for| to)?)?(?![.\w-])"
    r"|(?:do|does|did|would|should|will|need|can|is|are|was|were)(?: not|n['\u2019]?t)(?: yet)?|don['\u2019]?t"
    r"|not(?! only)|never|avoid(?:ing)?|hold(?:ing)?(?: off)?(?: on)?(?= )|defer(?:ring)?|skip(?:ping)?|cancel(?:ling"
    r"|ing)?|(?:scrap|ignor(?:e|ing)|forget|disregard|leave)(?= (?:the|that|out)\b)|change(?:d|s)? (?:my"
    r"|our) mind (?:about|on)|omit(?:ting)?|postpon(?:e"
    r"|ing)|delay(?:ing)?(?= (?:the|any|this|that|all)\b)|discontinue|stop(?:ping)?|(?:declin|refus)(?:es?|ed"
    r"|ing)|not keen on|against"
    r"|rather than|instead of"
    rf"|in place of|in lieu of|without(?! {_CONTRAST})(?= )|neither|nor)\b"
)
_OTHERS = r"(?:ent|urol\w*|renal|neuro\w*|derm\w*|cardio\w*|surg\w*|gyn\w*|resp|haem\w*|onc\w*|radiology|gp|pcp)"
"""Who else sees the patient or does a test."""
_NEEDLESS = regex(
    r"(?i)\b(?:not|un)\s?-?(?:needed|necessary|indicated|req(?:ui)?r?e?d|warranted|helpful|useful|wanted|funded"
    r"|justified"
    r"|worthwhile|relevant|tolerated|endemic|routine(?:ly)?|in use|in the acute(?: phase)?|on (?:the )?acute)\b"
    r"|\bdeferred\b"
    r"|\bon hold\b|\bcan wait\b|\b(?:cancel?led|postponed|rescheduled|no longer)\b|\s(?:no|n/a|skip"
    r"|(?<!and )(?<!& )hold|unable)\s*(?:\(|$)"
    r"|\b(?:to|could|can|may|might) be considered (?:later|at|next|in|after)\b|\bnot a priority\b|^(?:(?:please"
    r"|pls) )?chase\b"
    r"|\s(?:no (?:need|use|point|value)|contraindicated)\b|\b(?:they|team|\w+ reg) will (?:order|arrange|do|book)\b"
    rf"|\s{_OTHERS} to (?:do|arrange|perform|book)$|\s(?:with|w/) (?:the )?{_OTHERS}$"
    r"|\s(?:already (?:listed|booked|scheduled|arranged|requested|in progress)|(?:listed|booked|scheduled"
    r"|pencilled(?: in)?)"
    r" (?:for|on) (?!a\b|an\b)[^,;]*)$"
)
_NOT_NOW = regex(
    r"(?i)(?:but |so )?(?:not|no)(?: (?:just )?(?:today|now|yet|tonight|tomorrow|this \w+|any ?more|for now"
    r"|so soon|needed|necessary|required|indicated"
    r"|(?:at|for|until|till|before|during|while|unless|til)\b.*))?(?: (?:as|because|since|due to|while"
    r"|in view of)\b.*)?"
    r"|(?:(?:pt|patient|he|she|they|mum|mother|family|parents?)(?: has| have)? )?(?:(?:declin|refus)(?:es?|ed|ing)"
    r"|(?:(?:is|are|was|were) )?(?:not |un)(?:keen|willing|happy|sure|decided)(?: (?:on|about|for) (?:it|this"
    r"|that))?|(?:says?|said) no|(?:does|do)(?:n['\u2019]?t| not) want(?: (?:it|one|this|that))?)(?: by\b.*"
    r"| at present| today| for now)?"
)
"""Words behind a test that put it off or turn it down ('PSA, but not today', 'MRI, declined')."""
_REGRETS = "sorry|oops|wait|hang on|actually|apologies|my mistake"
_CHANGES = rf"(?:no|nope|{_REGRETS}|correction|on second thoughts?|rather|wrong patient)"
_SORRY = regex(rf"(?i)(?:{_REGRETS})\W*")
_AHEAD = regex(r"(?i)^(?:before|prior to|ahead of|pre)\s(?!and\b|meal|dose|bronch)")
"""What follows the sentence that orders and says ahead of what ('- before liver biopsy')."""
_AIMS = regex(r"(?i)to (?:check|confirm|look|exclude|assess|see|evaluate|rule|detect|monitor|identify|quantify)\b")
"""What follows a test and says why ('TSH - to check the thyroid')."""
_UNSAID = regex(
    rf"(?i)^(?:{_CHANGES}[\s,:!.-]+)*(?:(?:please|pls|but|so|and) )?(?:(?:no|nope|correction|scratch|no,? wait"
    rf"|cancel(?:led)?|conditional)\W*$"
    r"|stop (?:doing|sending|checking) (?:this|that|it|these)\W*$"
    r"|(?:scrap|scratch|strike|ignore|forget|cancel|disregard|drop|skip|delete|never mind|defer"
    r"|(?:hold(?: off)?(?: on)?|leave)"
    r"(?= [a-z ]+(?:$|\s(?:un)?till?\b|\sfor\b|\soff\b|\sout\b|\spending\b)))"
    r" (?:(?P<every>(?:all )?(?:these|those|them|both|all)|the lot)|that|this|it|the (?:last|previous"
    r"|above)(?: one)?)"
    r"(?=\W*$|\s(?:until?|till?|for|off|out|pending|please|one|now|unless|i|altogether)\b)[^,;]*$)"
)
"""What takes the clause before it back, or all of the sentence before it."""
_MEANT = regex(
    rf"(?i)^(?:{_CHANGES}[\s,:!.-]+)*(?:(?:i|we) meant(?: to (?:say|order|write))?\s|make (?:that|it)\s"
    rf"|should (?:be|read)\s"
    r"|(?:change|switch) (?:that|it|this) to\s|(?<=[ ,:-])(?<!no )(?!also|and|add|plus|can|could))"
    r"(?P<instead>\S.*)$|^(?P<said>\S.{3,60}?),?\s(?:i|we) mean(?:t)?\W*$"
)
"""What takes the clause before it back and puts another test in its place."""
_DONE = regex(
    r"(?i)\b(?:(?:was|were|is|are|has been|have been|came back|already|looked|returned)\s+(?:\w+ly\s+|all\s+"
    r"|also\s+)*(?:normal|negative|positive|unremarkable|done|performed|completed|obtained|reviewed|drawn|sent"
    r"|ordered|within)|(?:done|sent|taken|performed|checked|drawn|collected)\s(?:privately|elsewhere|externally"
    r"|already|yesterday"
    r"|by (?:(?:the|his|her|their) )?(?:gp|pcp|midwife|referring \w+)|last \w+|(?:\d+|a|two|three)"
    r" (?:days?|weeks?|months?|years?) ago|(?:at|in) (?:ed|clinic|the (?:clinic|community)|another hospital))"
    r"|already (?:done|performed|have|had|ordered|sent)|(?:showed|shows|revealed|demonstrated)\b)"
)
_RESULT = regex(
    r"(?i)^(?:(?:the|his|her|recent|last|initial|admission)\s+)*(?P<name>[^,;]{2,40}?)\s(?:done|normal|negative"
    r"|neg|pos|-ve|\+ve"
    r"|supp?ressed|undetectable|prolonged|borderline|rising|falling|positive|raised|elevated|high(?![ -]?(?:sens"
    r"|res|dose))|low(?![ -]?dose)|clear|unremarkable|nad|pending|awaited"
    r"|inconclusive|equivocal|stopped|abandoned|ha?emolysed|clotted|unchanged|abnormal|deranged)(?:\s(?!(?:and"
    r"|so|hence|therefore|then)\b)[^,;]*)?$"
)
"""A test with its result ('troponin negative', 'ETT stopped early due to pain')."""
_INSTEAD = regex(
    r"(?i)(?P<denied>(?:instead of|rather than|in place of|in lieu of)\s.*?|.*?(?=\s+(?:and|but|then)\s))\s+(?:(?:and"
    r"|but|then|so)\s+)?(?P<kept>(?:(?:just|instead|please|simply|only|rather|i['\u2019]?d|i['\u2019]?ll|i will"
    r"|i would|we will|let['\u2019]?s)\s+)*(?:do|get|order|obtain|send|perform|check|repeat|add|request|arrange"
    r"|measure|recheck|start with|(?:go|move|proceed) (?:straight|directly|on) to|go (?:for|with)"
    r"|proceed (?:to|with)|book)\s.*)$"
)
_SWAPPED = regex(
    r"(?i)(?P<denied>(?:(?:please|pls|can (?:you|we)|could (?:you|we)|let['\u2019]?s)\s)*(?:swap|exchange"
    r"|replace|switch|substitute|change)\s"
    r"(?:out\s)?(?!to\b|that\b|it\b|this\b).{2,60}?)\s(?:for|with|to|by)\s(?P<kept>\S.*)$"
)
"""One test in another's place ('swap the ultrasound for a CT')."""
_OR = regex(r"(?i)^(?:or|nor)\s|\s(?:or|nor)\s")
_ENDING_AND = regex(r"(?i)(?:\s*(?:,|\band\b|\bthen\b|&))+\s*$")
_TRAILING_AND = regex(
    r"(?i)^(?P<kept>.*\S)\s*(?:,|\band\b|\bplus\b|\bthen\b|\bwith\b(?=.*\breflex)|&|\+)(?:\s+|$)(?P<last>.*)$",
    re.DOTALL,
)


class Clause(msgspec.Struct, frozen=True):
    """A part of a request; `why` is '' if it is ordered. `breaks`: a sentence or line ends after it."""

    text: str
    why: Why | Literal[""] = ""
    breaks: bool = False


def request_clauses(text: str, known: Known) -> Iterator[Clause]:
    """The parts of `text` in order; those that order nothing are marked with the reason.

    Sentences end at full stops before a capital, semicolons, dashes between spaces and line ends. A condition at the
    start of a sentence covers all of it; one inside covers the text since the last comma or 'and'. A denial reaches to
    the next comma or 'but', and over a list continued with 'or'. Phrases that are `known` as a whole are not examined.
    """
    clauses: list[Clause] = []
    for sentence in _sentences(text, known):
        if known(sentence) and not denies(sentence):
            clauses.append(Clause(sentence, breaks=True))
        elif sentence:
            *parts, last = list(_sentence(_COURTESY.sub("", sentence))) or [Clause("")]
            clauses += [*parts, Clause(last.text, last.why, True)]
    for clause in _corrected(clauses, known):
        result = None if clause.why or known(clause.text) else _RESULT.match(clause.text)
        yield Clause(clause.text, "done", clause.breaks) if result and known(result["name"]) else clause


def _corrected(clauses: Sequence[Clause], known: Known) -> Sequence[Clause]:
    """The clauses without what a later one puts off or takes back ('CT head - no, make that MRI brain')."""
    kept: list[Clause] = []
    again = False
    for clause in clauses:
        aims = kept and kept[-1].breaks and _AIMS.match(clause.text) and known(kept[-1].text)
        if _SORRY.fullmatch(clause.text) or aims or (kept and kept[-1].breaks and _AHEAD.match(clause.text)):
            kept.append(Clause(clause.text, "statement", clause.breaks))
            continue
        meant, unsaid = _MEANT.match(clause.text), _UNSAID.match(clause.text)
        said = (meant["instead"] or meant["said"]) if meant else ""
        instead = said if any(map(known, JOINED.split(said))) else ""
        put_off = _NOT_NOW.fullmatch(clause.text) is not None and not _names_other(clause.text, known)
        before = [place for place, one in enumerate(kept) if one.why != "statement"]
        if (instead or unsaid or put_off) and before and not again:
            every = (unsaid and unsaid["every"]) or (put_off and kept[before[-1]].breaks and " " in clause.text)
            first = max((at + 1 for at in before[:-1] if kept[at].breaks), default=0) if every else before[-1]
            kept[first:] = [Clause(one.text, one.why or "negated", one.breaks) for one in kept[first:]]
        again = bool(unsaid or put_off)
        plain = Clause(clause.text, "negated" if unsaid else clause.why, clause.breaks)
        kept.append(Clause(instead, "", clause.breaks) if instead else plain)
    return kept


def _names_other(denial: str, known: Known) -> bool:
    """Whether a denial names a test of its own ('not for bacterial culture'), so that it denies none before it."""
    words = denial.split()
    return any(known(" ".join(words[at:]).strip(ENDS)) for at in range(1, len(words)))


def _sentences(text: str, known: Known) -> Iterator[str]:
    start = 0
    for stop in _STOP.finditer(text):
        if _outside(text, start, stop.start()) and not (stop[0].startswith(".") and not _full_stop(text, stop, known)):
            yield text[start : stop.start()].strip()
            start = stop.end()
    yield text[start:].strip()


def _full_stop(text: str, stop: re.Match[str], known: Known) -> bool:
    """Whether a point ends a sentence and shortens no word.

    Before a small letter, a figure or a question mark it ends one only behind a figure, a bracket or a whole word.
    """
    before = text[max(0, stop.start() - _REACH) : stop.start()]
    after = text[stop.end() :].lstrip()
    if _ABBREVIATED.search(before) or (before.endswith("no") and after[:1].isdigit()):
        return False
    if not after or not (after[0].islower() or after[0].isdigit() or after[0] == "?") or _OPENS_SENTENCE.match(after):
        return True
    word = _LAST_WORD.search(before)
    last = word[0].casefold() if word else ""
    if before[-1:].isdigit():
        return text[: stop.start()].rstrip("0123456789.").rstrip(" (")[-1:].isalnum()  # 'Wells 2. d-dimer', no '2. CBC'
    if before[-1:] == ")" or last[:1].isdigit() or len(last) > _LONGEST_SHORTENED:
        return True
    return known(last) or last in order_words("beside") or (len(last) > _SHORTENED and stem(last) in lexicon())


def denies(text: str) -> bool:
    """Whether a part of a list is denied ('KUB, no CT')."""
    parts = [part for sentence in _STOP.split(text) for part in _parts(sentence or "")]
    return any(_DENIED.match(part) or _MEANT.match(part) or _NEEDLESS.search(part) for part in parts) or _put_off(text)


def _put_off(text: str) -> bool:
    """Whether a bracket puts a test off ('G6PD (not during the hemolysis)'), or says that it is done or needless."""
    brackets = re.findall(r"\(([^()]*)\)", text)
    return any(
        _NOT_NOW.fullmatch(inner)
        or _ELSEWHERE.match(inner)
        or (_NEEDLESS.search(f" {inner}") and "contrast" not in inner)
        for inner in brackets
    )


_ELSEWHERE = regex(
    r"(?i)(?:already|was|were|has been|have been)?\s?(?:done|sent|taken|performed|drawn|requested|booked)"
    r"(?:$|,| (?:at|yesterday|today|already|elsewhere|last|this|earlier|\d)\b)"
    r"|(?:dr|mr|ms|mrs|prof|the \w+|they|\w+ team)\b.{0,20}\bwill (?:do|order|arrange|book)\b"
)
"""The text of a bracket behind a test that is done or that another orders."""


def _outside(text: str, start: int, end: int) -> bool:
    """Whether no bracket stays open between two positions."""
    part = text[start:end]
    return part.count("(") <= part.count(")") and part.count("[") <= part.count("]")


def _sentence(sentence: str) -> Iterator[Clause]:
    conditional = False
    denied = done = False
    parts = list(_parts(sentence))
    for place, part in enumerate(parts):
        if place + 1 < len(parts) and _OPENER.match(part) and not _REQUESTS.search(part):
            yield Clause(part, "statement")
            continue
        if conditional or _OPENS.search(part):
            conditional = True
            yield Clause(part, "conditional")
            continue
        if done or _HAD.match(part) or _ANOTHER_DID.match(part):
            done = True
            yield Clause(part, "done")
            continue
        if denied and (_OR.search(part) or any(_OR.match(later) for later in parts[place + 1 :])):
            yield Clause(part, "negated")
            continue
        inner = list(_part(part))
        denied = bool(inner) and inner[-1].why == "negated"
        yield from inner


def _parts(sentence: str) -> Iterator[str]:
    start = 0
    for comma in _COMMA.finditer(sentence):
        if _outside(sentence, start, comma.start()):
            yield sentence[start : comma.start()].strip()
            start = comma.end()
    yield sentence[start:].strip()


def _part(part: str) -> Iterator[Clause]:
    """One part between commas: first the text that orders, then the text that does not."""
    part = _RELATIVE.sub("", _EARLIER.sub("", part))
    heading, colon, listed = part.partition(": ")
    if colon and listed and (why := _heads(heading)):
        yield Clause(heading, why)
        yield from _part(listed)
        return
    bare = re.sub(r"\([^()]*\)", lambda inner: " " * len(inner[0]), part)
    if _NEEDLESS.search(bare) or _put_off(part):
        yield Clause(part, "negated")
    elif swapped := _SWAPPED.match(part):
        yield Clause(swapped["denied"], "negated")
        yield from _part(swapped["kept"])
    elif _REFERS.match(bare):
        yield Clause(part, "treatment")
    elif (result := _DONE.search(bare)) and not _INSIDE.search(bare[: result.start()]):
        yield Clause(part, "done")
    elif condition := _INSIDE.search(bare):
        head = _TRAILING_AND.match(part[: condition.start()])
        if head:
            yield Clause(head["kept"])
        yield Clause(part[head.start("last") :] if head else part, "conditional")
    elif denial := _DENIED.search(bare):
        before = _ENDING_AND.sub("", part[: denial.start()]).strip()
        if before and _NOT_NOW.fullmatch(part[denial.start() :]):
            yield Clause(part, "negated")
            return
        if before:  # 'check INR and hold warfarin'
            yield Clause(before)
        rest = _INSTEAD.match(part[denial.start() :])
        yield Clause(rest["denied"] if rest else part[denial.start() :], "negated")
        if rest:
            yield from _part(rest["kept"])
    elif part:
        ordered = _FAVOUR.sub("", _SUBJECT.sub("", part))
        subordinate = _SUBORDINATE.search(bare)
        main = bare[: subordinate.start()] if subordinate else bare
        tells = ordered == part and _TELLS.search(main) and not _REQUESTS.search(bare)
        yield Clause(part, "statement") if tells else Clause(ordered)


def _heads(head: str) -> Why | Literal[""]:
    """Why the words before a colon order nothing though the list behind it is ordered ('Started on lithium: TSH')."""
    if _DONE.search(head) or IS_TAKEN.search(head):
        return "done" if axes.specimen(head) not in ("", axes.BLOOD) or names_puncture(head) else ""
    return "statement" if _TELLS.search(head) and not _REQUESTS.search(head) else ""


_HAD = regex(
    r"(?i)(?:(?:bloods?|tests?|labs?|results?|already|all|so far|have|has|we|been|is|are)\s)*(?:done|had|sent"
    r"|back|pending"
    r"|awaited|outstanding|normal)(?:\s(?:already|so far|today|yesterday|this \w+|in ed|in clinic|at the gp"
    r"|by gp))?\s?:\s"
)
"""The heading of a list of tests that are done ('Done so far: FBC, CRP')."""
_ANOTHER_DID = regex(
    r"(?i).{0,25}\b(?:gp|pcp|clinic|ed|midwife|hospital|they)\s(?:has |have |already )*(?:did|done|checked|sent"
    r"|took)\s"
)
"""Says that another has done the tests that follow ('GP did TFT, B12')."""
_REFERS = regex(
    rf"(?i)^(?:{_OTHERS}|ophthal\w*|ortho\w*|gastro|psych\w*|physios?|ot|salt|dietic\w*|pharm\w*|(?:med )?reg|team|obs"
    r"|micro|id|palliative|icu|itu|anaesthe\w*|vascular)"
    r"\s(?:to(?!\s(?:do|perform|measure|check|carry out|repeat)\b)|will|aware|informed|happy|has|have)\b"
)
"""Says what another does for the patient ('ENT to scope him')."""
