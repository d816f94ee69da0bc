"""Removes sentences of an answer that do not stand: jokes, wishes, others' opinions, other patients, little odds."""

import re
from collections.abc import Iterator

from wardround.engine.text import regex
from wardround.scenarios.diseases.disease_heads import disease_like, heads_disease

LITTLE_SURE = 10
"""If an answer gives its diagnosis a probability below this (in per cent), it denies the diagnosis."""
_LONGEST = 600
"""Characters at the end of a sentence that are read."""

_END = regex(r"(?<=[a-z0-9)\]%'\"’A-Z]{2})[.!]+(?:\s+|$)|[;\n]+|(?<=\?)\s+")
_PEOPLE = (
    r"(?:colleagues?|friends?|everyone|everybody|someone|somebody|anyone|nobody|people|others|textbooks?|examiners?"
    r"|graders?|markers?|judges?|teachers?|professors?|students?|mothers?|fathers?|wife|husband|neighbou?rs?"
    r"|brothers?"
    r"|sisters?|relatives?|internet|google|wikipedia|chatgpt|gpt|ais?|chatbots?|(?:language |other |another )models?"
    r"|interns?|novices?|laymen|layman|laypeople|quacks?|rumou?rs?|the web|social media|forums?)"
)
_SAY = (
    r"(?:says?|said|thinks?|thought|believes?|believed|wants?|wanted|wishe[sd]|claims?|claimed|expects?|expected"
    r"|hopes?"
    r"|hoped|insists?|insisted|likes?|prefers?|preferred|guess(?:es|ed)?|suspects?|suspected|suggests?|suggested"
    r"|mentions?|mentioned|reads?|writes?|wrote|reckons?|assumes?|assumed|shouts?|votes?|voted|recommends?"
    r"|recommended|diagnoses|diagnosed|swears?|told me|told us|would go for)"
)
_OTHERS_SAY = regex(
    rf"(?i)^\W*(?:(?:an?|the|my|our|his|her|their|some|one|another|most|many|all|every|even|any"
    rf"|only)\s+)*(?:[\w'-]+\s+)?"
    rf"{_PEOPLE}\s+(?:(?:would|might|could|will|may|has|have|had|always|once|still|often|probably|sometimes|usually"
    rf"|occasionally|who"
    rf"|here)\s+)*{_SAY}\b"
    r"|^\W*(?:(?:the|this|our|my|his|her)\s+)?(?:patient|parents?|family|carer|caregiver|(?:s?he|they)(?=\s+(?:fear"
    r"|worr)))"
    r"\s+(?:(?:is|was|are|were)\s+(?:afraid|worried|anxious|scared|convinced|frightened|sure)|fears?|feared|worr(?:y"
    r"|ies|ied)"
    r"|believes?|believed|thinks?|thought|claims?|claimed|insists?|insisted|wonders?|wondered|hopes?|hoped)\b"
    rf"|^\W*according to\s+(?:(?:an?|the|my|our|some|his|her)\s+)*(?:[\w'-]+\s+)?{_PEOPLE}\b"
)
_REFERENCE = regex(
    r"(?i)^\W*(?:the\s+)?(?:reference|gold(?:en)?(?: standard)?|ground[- ]truth|(?:true )?label|answer key|key"
    r"|mark(?:ing)? scheme|expected|official|solution)(?:\s+(?:answer|diagnosis|treatment|standard|plan|label))?\s*"
    r"(?:\b(?:is|was|says|reads|would be|must be)\b|:)"
)
_FRAME = regex(
    r"(?i)^\W*(?:(?:in (?:summary|short)|to sum(?: (?:it )?up|mari[sz]e)|overall|bottom line|tl;dr)\s*[:,]\s*"
    r"|(?:(?:ICD|ORPHA(?:NET)?|OMIM|SNOMED)\b[\w -]{0,12}?[\s:]*[A-Z]?\d[\w.]*)\s*[:–—-]\s*(?=\w)"
    r"|(?:either way|in (?:any|either|each|every|both) (?:case|event)s?|at any rate|(?:one"
    r"|some) way or (?:the )?(?:other|another)|regardless"
    r"|anyway|anyhow|be that as it may|all the same|when all is said and done|all (?:in all|things considered|told)"
    r"|whatever (?:the|its|their)? ?\w+(?: (?:is|was|may be))?|(?:no matter|whichever way|however)\s+[^,:.]{2,60}"
    r"|if (?:i|we|one|you|forced|pressed|pushed|asked|only one|just one)\b[^,:.]{2,60})\s*[:,–—-]\s*(?=\w)"
    r"|(?:my|our) (?:colleagues?|team) and (?:i|we) (?:all )?(?:agree|believe|think|conclude|find)(?: that)?"
    r"(?: (?:this|it) is)?\s+)"
)
_AGREED = regex(r"(?i),\s*and (?:i|we) (?:fully )?(?:agree|concur)(?: with (?:this|that|it|them|him|her))?\W*$")
"""Words around a name that are no part of it and do not change its stance: a code before it, 'in summary'."""
_TURNS = regex(r"(?i)[,;]?\s+\b(?:but|however|yet|whereas|while|though|instead)\b|,\s+(?:and\s+)?(?=(?:i|we)\b)")
"""Where a sentence turns to what its author says or does."""
_OPENS = regex(
    r"(?i)^\W*(?:(?:please|just|now|so|then|and|also|you (?:should|must|can|may))\s+)*"
    r"(?:forget(?: about)?|ignore|disregard|delete|erase|scrap|cross out|never ?mind|beware of|watch out for|imagine"
    r"|pretend|picture|dream of|read (?:up )?(?:about|on)|undo|(?:the )?(?:reverse|contrary|converse|antithesis) of"
    r"|it is tempting to (?:say|think|write)|in (?:a parallel|another) (?:universe|world)|(?:zero|no) (?:chance"
    r"|odds) of"
    r"|i(?:['’]d| would)? bet against|(?:nobody|no one|who) has|(?:how|what) about|let us (?:suppose|assume|imagine)"
    r"|assum(?:e|ing)|suppose|(?:referred|labelled|labeled|mislabell?ed|misdiagnosed) as"
    r"|if (?:it|this|that) (?:were|had been)|if only|would that"
    r"|(?:i|we) (?:wish|hoped|dreamt|dreamed)\b|(?:we|i) (?:lack|have no)\b"
    r"|(?:an? )?(?:tendency|predisposition|proneness|inclination) (?:to|towards?|for)"
    r"|(?:(?:an?|the|early|late)\s+)*(?:stage|state|phase|time|period) before"
    r"|(?:an? |the )?(?:vaccination|immuni[sz]ation|prophylaxis|prevention|screening|fear|imitation|carrier"
    r"|susceptibility|awaiting (?:tests?|results?)) (?:of|for|against|to)"
    r"|pending (?:the )?exclusion of|awaiting (?:the )?exclusion of|cured|healed|imaginary|fictitious|mock|sham|fake"
    r"|so-called|alleged|supposed(?:ly)?|purported(?:ly)?)(?=\W)"
)
_RELATIVE = (
    r"(?:mother|father|parents?|brothers?|sisters?|siblings?|twin|uncle|aunt|cousin|grand(?:mother|father|parents?)"
    r"|relatives?|family|wife|husband|spouse|partner|friend|room-?mate|neighbou?r|dog|cat|horse)"
)
_OF_A_RELATIVE = regex(
    r"(?i)^(?:(?!\b(?:due|from|second(?:ary)?|caus\w+|induced|by|with|because|after|following|trans\w+|given|maternal"
    r"|neonatal|congenital)\b)[^,;:])*\s(?:in|of)\s+(?:(?:the|his|her|their|my|our|your|an?|(?:the )?patient['’]s)\s+)"
    rf"+(?:\w+\s+)?{_RELATIVE}[\s.!)]*$"
)
"""A disease that a relative has: 'gout in his brother'. A disease that came from a relative stays the patient's."""
_JOKE = (
    r"(?:hardly|not at all|nope|nah|of course not|said nobody|said no one|(?:i(?:['’]m| am)\s+)?(?:just\s+"
    r"|only\s+)?(?:kidding|joking)|jk|lol|ha(?:ha)+|not really|/s|sarcasm|as if"
    r"|yeah,? right|my (?:foot|eye)|in (?:my|your|a) dreams?|april fool\w*|psych)"
)
_ONLY_A_JOKE = regex(rf"(?i)\W*{_JOKE}\W*")
_ENDS = regex(
    rf"(?i)(?:(?<=\W)|(?<=\w)[\s,.:(–—-]+){_JOKE}[\s.!)]*$"
    r"|[\s,(–—-]+(?:in (?:mice|rats|dogs|cats|animals?|theory|fiction|jest|veterinary medicine)"
    r"|(?:for|in) (?:(?:the|my|his|her|a)\s+)?(?:neighbou?r|next patient|another patient|someone else|somebody else"
    r"|other patients?|another case)"
    r"|(?:in|with) (?:an? (?:different|other)|another) (?:patient|person|man|woman|child|case)"
    r"|(?:very )?(?:low|little|minimal|negligible) (?:probability|likelihood|chance|odds|index of suspicion)"
    r"|(?:is|was) what (?:i|we|one|you|many|most|some) (?:would|might|could)(?: have)?"
    r" (?:said|say|called?|diagnosed?|thought|think)\b.*"
    r"|(?:is|was) what (?:[\w']+\s+){1,4}(?:wants?|wanted|expects?|expected|hopes? for|would (?:say|like))"
    r"|\(?hypothetical(?:ly)?\)?|denier|with (?:zero|no) (?:probability|likelihood)|with (?:a )?(?:probability"
    r"|likelihood)"
    r" (?:of )?(?:zero|0)|!=\s*(?:the )?(?:diagnosis|answer)|would have (?:been|fit|fitted|explained)\b[^,;]*"
    r"|were it not\b.*"
    r"|had (?:it|she|he|this|there) (?:not )?(?:been|had)\b.*|(?:[x×]|=|[-–—:])\s*0(?:[.,]0+)?)[\s.!)]*$"
    r"|\bwould (?:be|have been)\b.*\bin (?:another|an?)\s+\w+\s"
    r"(?:patient|person|man|woman|child|case)\b"
)
_PLAN_OPENS = regex(
    r"(?i)^\W*(?:please\s+)?(?:postpone|discuss|consent (?:to|for)|withdraw consent|refus\w+|(?:the )?(?:costs?"
    r"|price|complications?"
    r"|side[- ]effects?|risks?|history|mechanism) of|antidote (?:to|for)|allerg(?:y|ic) to|(?:an? )?(?:placebo|sham"
    r"|simulated"
    r"|homeopathic|mock|dummy)\b|(?:pseudo|quasi)[-\s]|0(?:[.,]0+)?\s*(?:[x×]|mg|%)|(?:last|previous|next) (?:year"
    r"|month|week)|years ago|someday"
    r"|one day|guidelines? mention|no way)"
)
_PLAN_ENDS = regex(
    r"(?i)[\s,(:–—-]+(?:(?:(?:is|are|was|were)\s+)?(?:unavailable|unaffordable|not available|impossible"
    r"|too (?:risky|dangerous|expensive|costly|toxic|late|early))|(?:(?:is|was)\s+)?(?:refused|declined|rejected"
    r"|vetoed) by\b.*"
    r"|some ?day|one day|in (?:ten|twenty|many|some|a few|\d+) (?:years|decades)|carries (?:many |great )?risks?"
    r"|allergy"
    r"|never|0(?:[.,]0+)?\s?%[^,;]*)[\s.!)]*$"
)
_CHANGED = regex(
    r"(?i)(?:[-=]+>|[→⇒,;:(\[]|\s[-–—]|\b(?:was|is|now|has been|later|diagnosis|answer))\s*"
    r"(?:(?:now|later|was|is|then|since)\s+){0,4}(?:changed|corrected|revised|amended|edited|updated|overruled"
    r"|superseded)"
    r"\s*(?:to|into|by|:)[\s:]+(?=\w)"
)
"""Words that take back everything before them in a sentence: 'X (edited: Y)'."""
_EDITED = regex(
    r"(?i)[-=>→⇒,;:(\[]\s*(?:now |later )?(?:corrected|revised|amended|edited|overruled)\s*(?:to|:)[\s:]+(?=\w)"
)
"""As `_CHANGED`, but for a plan, in which a dose or a drug may really be changed to another."""
_NOT_YET = regex(r"(?i)^\W*not yet\W+but\b")
_IF = (
    r"(?:(?:only )?if|unless|provided(?: that)?|providing(?: that)?|assuming(?: that)?|supposing"
    r"|on (?:the )?condition (?:that|of)"
    r"|in (?:the )?(?:event|case) (?:of|that)|as long as|so long as|depending (?:up)?on|subject to"
    r"|contingent (?:up)?on|once)"
)
_CONDITION = regex(
    rf"(?i)^\W*(?:{_IF}|should|were|when|as soon as)\s+(?P<what>[^,:;]{{3,160}})\s*[,:]\s*(?:then\s+)?(?=\w)"
)
"""A condition at the beginning of a sentence: 'If the urate is high, gout'."""
_AFTERWARDS = regex(
    rf"(?i)(?:^|[,:]\s*)(?P<name>[^,:;]{{2,100}}?),?\s+(?:but only "
    rf"|only )?(?<!even )(?P<if>{_IF})\s+(?P<what>[^,:;]{{3,160}})$"
)
_OF_THE_SPEAKER = regex(
    r"(?i)^\W*(?:i|we|one|you|forced|pressed|pushed|asked|anything|necessary|needed|required|it is|that is|this is"
    r"|there is (?:one|only)"
    r"|only one|just one|(?:a|one|any) (?:single )?(?:diagnosis|answer|name|choice)|my|our|correct|right|true"
    r"|not mistaken)\b"
)
_OTHERWISE = regex(r"(?i)\b(?:otherwise|until)\b")
_VERB = regex(
    r"(?i)\b(?:is|are|was|were|be|has|have|had|will|would|should|can|could|may|might|must|treat|give|start|stop"
    r"|repeat|operate|monitor|consider|transfuse|admit|add"
    r"|refer|follow|discharge|needs?|requires?|responds?)\b"
)
_RESULT = regex(
    r"(?i)\b(?:positive|negative|confirm\w*|shows?|showed|reveals?|excluded?|normal|abnormal|high|low|raised"
    r"|elevated|reversible|grows?"
    r"|rises?|falls?|drops?|comes? back|turns? out|biops\w+|cultures?|smears?|mri|ct|x-?ray|serology|titers?"
    r"|antibod\w+|assays?|tests?|results?"
    r"|levels?|spots?|present|absent|found|seen|detected|proven|enlarged|increased|decreased|improves?|responds?)\b"
)
_CHANCE = r"(?:chances?|probab(?:le|ility)|likel(?:y|ihood)|confiden(?:t|ce)|certain(?:ty)?|sure|odds|risk)"
_ODDS = (
    regex(rf"(?i)(?P<share>\d{{1,2}}(?:[.,]\d+)?)\s?%\s*{_CHANCE}\b"),
    regex(
        rf"(?i)\b{_CHANCE}\W{{0,4}}(?:(?:of|is|about|only|under|below"
        rf"|less than)\W{{0,3}})*(?P<share>\d{{1,2}}(?:[.,]\d+)?)\s?%"
    ),
    regex(r"[(\[]\s*[<~]?\s*(?P<share>\d{1,2}(?:[.,]\d+)?)\s?%\s*[)\]]\W*$"),
    regex(r"(?<=\w)\s*[:,–—-]\s*[<~]?(?P<share>\d{1,2}(?:[.,]\d+)?)\s?%\W*$"),
    regex(r"(?<=[A-Za-z)\]])\s(?P<share>\d{1,2}(?:[.,]\d+)?)\s?%\W*$"),
    regex(r"^\W*(?P<share>\d{1,2}(?:[.,]\d+)?)\s?%\s+(?:of\s+)?(?=[a-zA-Z])"),
)
"""A stated probability: with a word for it, in a bracket, after or before the only name of a sentence."""
_ONE_IN = regex(r"(?i)\b(?:one|1) (?:in|to|out of) (?:a\s+)?(?:hundred|thousand|million|\d{2,}[\d,.]*)\b")
_NEAR = 24
_AMOUNT = regex(
    r"(?i)\b(?:ejection|fraction|saturation|bsa|parasit\w+|blasts?|tbsa|burn\w*|body|surface|dextrose|saline"
    r"|hb\w*|a1c|h[ae]+moglobin|h[ae]+matocrit)\b"
)


def standing(text: str, *, plan: bool = False) -> str:
    """`text` without the sentences that do not stand. A joke in a sentence of its own takes back everything before it.

    In a `plan`, a percentage is no probability, and a measure that is postponed, refused, sham or past does not stand.

    >>> standing("Gout. Just kidding.")
    ''
    >>> standing("A colleague says lupus, but I think gout")
    ' I think gout'
    """
    kept: list[str] = []
    for sentence, end in _sentences(text):
        if len(sentence) < _LONGEST and _ONLY_A_JOKE.fullmatch(sentence):
            kept.clear()
            continue
        stays = _stays(sentence, plan=plan)
        kept.append(stays + end if any(map(str.isalnum, stays)) else "")
    return "".join(kept)


def why_nothing_stands(text: str) -> str:
    """Why nothing of an answer stands, in plain words.

    >>> why_nothing_stands("If the crystals are seen, gout")
    'the diagnosis depends on a condition'
    """
    if not any(map(str.isalnum, text)):
        return "the answer is empty"
    if any(_conditional(_FRAME.sub("", sentence, count=1)) for sentence, _ in _sentences(text)):
        return "the diagnosis depends on a condition"
    return "the answer does not assert what it names: it is denied, taken back, a joke, or another's opinion"


def _sentences(text: str) -> Iterator[tuple[str, str]]:
    """The sentences of a text, each with the marks after it."""
    start = 0
    for end in _END.finditer(text):
        yield text[start : end.start()], end[0]
        start = end.end()
    yield text[start:], ""


def _stays(sentence: str, *, plan: bool) -> str:
    """What stands of a sentence; "" if nothing does."""
    sentence = _AGREED.sub("", _FRAME.sub("", sentence, count=1))
    opens = (_OTHERS_SAY, _REFERENCE, _OPENS, *([_PLAN_OPENS] if plan else []))
    if any(pattern.match(sentence) for pattern in opens):
        turn = _TURNS.search(sentence, 0, _LONGEST)
        return sentence[turn.end() :] if turn else ""
    if changed := (_EDITED if plan else _CHANGED).search(sentence):
        sentence = sentence[changed.end() :]
    last = sentence[-_LONGEST:]
    if (
        _NOT_YET.match(sentence)
        or _ENDS.search(last)
        or _OF_A_RELATIVE.match(last)
        or (not plan and _conditional(sentence))
    ):
        return ""
    return "" if (_PLAN_ENDS.search(last) if plan else _improbable(last)) else sentence


def _conditional(sentence: str) -> bool:
    """Whether a sentence names a disease only under the condition of a test result, which is no commitment.

    'If I had to choose' is a condition on the author and does not count, nor does 'until proven otherwise'.
    """
    if len(sentence) > _LONGEST or _OTHERWISE.search(sentence):
        return False
    if opened := _CONDITION.match(sentence):
        what = opened["what"]
        return _RESULT.search(what) is not None and not _OF_THE_SPEAKER.match(what)
    behind = _AFTERWARDS.search(sentence)
    if behind is None or _OF_THE_SPEAKER.match(behind["what"]) or not _RESULT.search(behind["what"]):
        return False
    named = sentence[: behind.start("if")].rstrip(" ,")
    listed = "," in named and not disease_like(behind["name"].strip())
    if listed and not any(map(heads_disease, re.findall(r"[\w'-]+", named))):
        return False
    return not _VERB.search(behind["name"])


def _improbable(sentence: str) -> bool:
    """Whether a sentence states exactly one probability for what it names, and it is below `LITTLE_SURE`."""
    if "%" not in sentence:
        return _ONE_IN.search(sentence) is not None
    if sentence.count("%") > 1:
        return False
    hits = [(number, match) for number, pattern in enumerate(_ODDS) if (match := pattern.search(sentence))]
    if not hits:
        return False
    number, match = hits[0]
    if number > 1 and _AMOUNT.search(sentence[max(0, match.start() - _NEAR) : match.end() + _NEAR]):
        return False
    return float(match["share"].replace(",", ".")) < LITTLE_SURE


NOT_THE_PLAN = (
    "non", "anti", "redacted", "censored", "withheld", "deprecated", "obsolete", "deleted", "removed", "undefined",
    "minus", "besides", "almost", "nearly", "something like", "similar to", "kind of", "sort of", "ghost",
)  # fmt: skip
"""Affixes that make another plan of a plan. 'Half' and strengths are doses, so they are not among them."""
_KIND = r"(?:illness|disease|syndrome|state|condition|picture|presentation|disorder)"
_BEFORE = regex(
    r"(?i)^\W*(?:(?:an?|the|most likely|likely|probable|probably|(?:final |primary )?diagnosis(?: is)?|this is"
    r"|it is|he has"
    r"|she has)\b[\s:]*)*(?P<affix>(?:non|pseudo|quasi)[-\s]?|not-|(?:absent|lacking|missing)\s+"
    r"|(?:anti|pre|post|ex|un|para|semi)-(?![BT]\b)|(?:resolved"
    r"|treated|former"
    r"|previous|status (?:post|after)|s/p|(?:state|condition) after|old|prior|past|exposure to"
    r"|contact with)\s+"
    # what is only near it, a fraction of it, or withheld
    r"|(?:(?:(?:almost|nearly|near|roughly|approximately)\s+"
    r"(?!certain|definite|all\b|always|every|sure|the\b|patho|diagnostic|confirm|proven|complete|total|fatal|drown"
    r"|syncop)|(?:half|partly|semi|(?:one|two|three) (?:halves|thirds?|quarters?))\s+)"
    r"|(?:(?:\w+\s+)?(?:halves|half|thirds?|quarters?|percent"
    r"|fraction|part|piece|bit|hint|touch|trace|shadow|ghosts?|spectre|echo|semblance|imitation|relatives?|cousin"
    r"|variation|parody|caricature|kind|sort)\s+(?:of|on)\s+)"
    r"|(?:something |somewhat |rather |very |quite |much )?(?:like|similar to|close to|akin to|near to|resembling"
    r"|resembles|reminiscent of|comparable to|analogous to|bordering on|verging on|in the (?:family|vicinity|direction"
    r"|spirit) of|inspired by|along the lines of)\s+"
    r"|(?:minus|besides|beyond|short of|less than|other than)\s+"
    r"|(?:redacted|censored|withheld|deprecated|obsolete|undefined|nan|dummy|placeholder|todo|fixme)[\])>\s:]{1,4}"
    r"|(?:deleted|removed|hidden|invalid|void|null|sample)[\])>:]{1,4}\s?))(?=\w)"
)
_BEHIND = regex(
    r"(?i)(?<!\bis)(?<!\bare)(?<!\bwas)(?<!\bbe)(?<!\bwere)(?P<affix>[-\s](?:free|negative|like|mimic(?:ker)?"
    r"|look-?alike|phobia|skeptic|denial|simulator|imp[eo]stor"
    rf"|imitation|in (?:\w+ )?remission|resolved|cured|healed|minus|lite|[\[(]?(?:redacted|censored|withheld"
    rf"|deleted|removed|deprecated|obsolete|invalid|void)[\])]?)|-ish)(?:\s+{_KIND})?\W*$"
)


_DEALT_WITH = regex(
    r"(?i)^(?:(?!\b(?:due|secondary|after|from|following|caused|with|by|associated|related|induced|during|in|of)\b).)*?"
    r"(?P<affix>[-\s](?:scare|alarm|alert|risk|awareness|protocol|pathway|guidelines?|bundle|check-?list|rule-?out"
    r"|work-?up|screen(?:ing)?|prophylaxis|prevention|survivor|susceptibility|predisposition))\W*$"
)
"""A name and a word that only deals with the disease: 'sepsis protocol'. A word of cause before it excludes this."""


def affixed(text: str) -> list[tuple[str, str]]:
    """Pairs (text without an affix, the affix) for affixes that make another thing of a name: 'non-X', 'X-like'.

    >>> affixed("a lupus-like illness")
    [('a lupus', 'like')]
    """
    before, behind = _BEFORE.match(text), _BEHIND.search(text) or _DEALT_WITH.match(text)
    rests = [(text[before.end() :], before["affix"])] if before else []
    rests += [(text[: behind.start("affix")], behind["affix"])] if behind else []
    return [(rest, affix.strip(" -:()[]").lower()) for rest, affix in rests]
