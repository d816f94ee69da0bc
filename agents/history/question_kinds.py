"""Kinds of question that a doctor asks, in doctors' words and in lay words.

`split_questions` gives the questions of a turn, and `parse_question` says what one of them is about.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

import msgspec
from msgspec.structs import replace

from wardround.agents.history.vocabulary import Topic, concepts_in, little, meanings_in, topics_asked, wider_concepts
from wardround.engine.text import regex
from wardround.scenarios.terms.wording import RootWords, roots


def _any(*words: str) -> re.Pattern[str]:
    return regex("|".join(words), re.IGNORECASE)


BROUGHT = _any(r"why (?:did|has|have|is) (?:your|his|her|the) (?:\w+ )?(?:\w+ )?(?:bring|brought|call|sent?|want)")
"""Why somebody else brought the patient."""
OPENING = _any(
    r"what(?:'s| has| have)? (?:brings?|brought)",
    r"what(?:'s| is| seems to be| appears to be)?(?: been)? (?:the |your )?"
    r"(?:matter|problem|trouble|complaint|issue|concern)",
    BROUGHT.pattern,
    r"what(?:'s| is| has| seems)(?: to be| been)? (?:going on|wrong|bothering|troubling|happening|up)\b",
    r"what(?:'s| has)? (?:been )?happen(?:ed|ing)",
    r"how (?:can|may) (?:i|we) help",
    r"(?:what|how) can (?:i|we) (?:do|help)",
    r"wh(?:y|at) (?:have|has|did|are|is) (?:you|he|she|they) (?:come|here|brought|visit|come about|noticed)",
    r"what (?:are|were) you (?:here for|worried about|concerned about)",
    r"(?:reason|purpose) (?:for|of) (?:your|the|this) (?:visit|coming)",
    r"what's going on|tell me (?:what|why|everything|more|your story|about (?:it|yourself))",
    r"why (?:are|have) you (?:here|brought|come)",
    r"what(?:'s| is| are| has been)? (?:worrying|concerning|upsetting)|what (?:have|has|did) (?:you|he"
    r"|she|they) noticed?\b",
    r"how are you feeling|what seems|what(?:'s| has)? made (?:you|him|her|them) (?:come|book|call|see|bring|decide)",
    r"chief complaint|(?:main|biggest|greatest) (?:problem|complaint|concern|worry|trouble)|in your own words"
    r"|how do you feel",
    r"what(?:'s| has) changed(?:\W*$| (?:in|over) the (?:last|past)\b)",
)
OPENING_WORDS = RootWords(
    "made come see bring brought sir madam hospital clinic help matter trouble problem family today doctor emergency"
    " department office room visit appointment bother wrong happen worry concern young lady man mum mom dad main"
    " big story dear love time mate pet into sent send why gp nurse team ward unit maternity intensive care letter"
    " registrar paramedic ring rang call landed complaint symptom list all every moment past few these other one turn"
    " word own thank hello talk too through walk difficulty kept sort everything begin amiss"
    " daughter son baby child boy girl father mother wife husband"
)
"""Words of an opening that ask for nothing in particular."""
TROUBLE = _any(
    r"\b(?:what|tell|describe|talk|walk|take|list|explain|hear|know)\b[^?]*\b(?:trouble|problem|matter|complaints?|concerns?"
    r"|issue|difficulty|symptoms?|wrong|going on|happen(?:ed|ing)|bother\w*|troubling|ailing|noticed?|seeing|seen|amiss"
    r"|up with)\b",
    r"\b(?:why|how come|reason)\b[^?]*\b(?:brought|bring|came|come|coming|here|sent|send|refer\w*|visit|admitted|kept"
    r"|in)\b",
    r"\bwhat\b[^?]*\b(?:brought|brings|landed|come in with"
    r"|made (?:you|him|her|them) (?:bring|come|call|ring|see|seek))\b",
    r"\bwhat (?:would you like|do you want|can|could|should|shall|may)\b[^?]*\b(?:us|me|we|i|team)\b[^?]*"
    r"\b(?:do|sort out|look at|see to|know about)\b",
)
"""Asks for trouble or for why the patient came, whatever else it asks."""
MIND = re.compile(
    r"\b(?:feel\w* about|think|believe|reckon|mean to|worr\w+ .*most|(?:made|prompted).*(?:now|after))\b", re.IGNORECASE
)
"""Asks for thoughts about the trouble, or why the patient came only now."""
OF_BEFORE = re.compile(r"\b(?:it|that|they|them|those|ones?|her|him)\b", re.IGNORECASE)
"""Words that refer to what a question before it asked."""
MORE = _any(r"(?:any|some)thing else", r"what else", r"other (?:symptoms|complaints|problems)\b", r"is that all")
ELSE = _any(
    r"\b(?:anything|something|nothing|symptoms?) (?:else )?(?:\w+ ){0,2}(?:with|along|alongside|besides)\b"
    r"|\b(?:any|no) other (?:symptoms|complaints|problems)\b|\b(?:anything|nothing) else\b.*\bgo\w* (?:on|with)\b"
)
"""Asks what comes with the complaint."""
OPINION = _any(
    r"what do you think (?:it|this|is|the|you|could|might|has|caus)",
    r"do you (?:have any idea|know) what (?:it|this|is wrong|the problem|you have|causes)",
    r"what (?:is|'s) (?:your|the) diagnosis",
    r"any idea what|what (?:disease|illness) (?:do|is|have)",
)
RELATED = _any(r"\bblood relat|\brelated\b|\brelatives? of (?:yours|each other)\b|\bare (?:you|they)\b[^?]*\bcousins\b")
"""Asks whether two people are related, which "none" of the family does not answer."""
_KIN_HAS_IT = regex(r"\b(?:in|of|from|with) (?:your|the|his|her) family\b", re.IGNORECASE)
RESULTS = _any(
    r"\bwhat (?:did|does|was|were|is) .*\b(?:biops\w*|swabs?|scans?|x-?rays?|cultures?|scrapings?|tests?)\b"
    r".*\b(?:say|show|find|tell)\b",
    r"\b(?:what|how (?:high|low)) (?:was|is|were|are) (?:your|his|her|the|my) (?:last |latest |current )?(?:\w+ ){0,2}"
    r"(?:counts?|levels?|hba1c|a1c|psa|esr|crp|inr)\b",
    r"\b(?:results?|findings?) of\b|\byour (?:\w+ )?(?:results?|findings|vital signs)\b",
    r"\bwhat (?:did|does|do|was|is|were|are) (?:the|your|his|her)\b.*\b(?:show|reveal|reading|ecg|ekg|x-?ray|ct"
    r"|mri|scan"
    r"|examination|exam|blood tests?|labs?|heart rate|pulse)\b",
    r"\b(?:blood count|h(?:a)?emoglobin|creatinine|white cells?)\b",
)
GREETING = _any(
    r"^\W*(?:(?:hello|hi|thanks?)\b|good (?:morning|afternoon|evening)|nice to meet"
    r"|how are you(?: (?:doing|today|keeping))*\W*$|i am dr|my name"
    r"|(?:please )?(?:have|take) a seat\b|come (?:on )?in\b)"
)
AGE = _any(r"\bhow old (?:are|is) (?:you|he|she|your|the)\b(?! when)", r"\b(?:your|his|her) age\b|\bdate of birth\b")
_NAMED = (
    r"(?:(?:my|young|old|dear|little) )*(?:sir|madam|ma'am|mum|mom|mama|dad|mother|uncle|auntie|aunty|grandfather"
    r"|grandmother|grandpa|grandma|love|dear|darling|sweetheart|pet|mate|pal|friend|buddy|lad|lass|fella|man|lady|bhai|ji"
    r"|there|then|again|doctor|se\u00f1ora?|monsieur|madame|(?:mr|mrs|ms|miss) \w+)"
)
"""Forms of address, and words that stand beside a greeting."""
_SALUTE = re.compile(
    r"^\W*(?:hello|hi|hiya|hey|g'day|bonjour|buenos d\u00edas|good (?:day|morning|afternoon|evening)|thank you"
    rf"|thanks|right|okay|ok|well|now|so|all right|alright|tell me(?=,)|{_NAMED}(?=,))(?: {_NAMED})*"
    r"(?:\s*[,.!:-]|\s)\s*(?=\w)",
    re.IGNORECASE,
)
"""What a turn opens with before it asks."""
_CALLED = re.compile(rf",\s+(?!then|there|again){_NAMED}(?: ji)?(?=\s*[?.!]|$)", re.IGNORECASE)
"""Whom a question addresses."""
_YES_NO = _any(
    r"^(?:(?:and|so|ok|okay|well|now|but|then|also|hello|please)[, ]+)*(?:do|does|did|is|are|was|were|has|have|had|can"
    r"|could|will|would|any|ever|isn't|aren't|don't|doesn't|didn't|haven't|hasn't)\b",
    r"\b(?:do|does|did|is|are|have|has|were|was)(?:n't)? (?:you|he|she|it|there|they|your)\??$|^you (?:don't"
    r"|haven't|have)",
)
_POLITE = _any(
    r"(?:^|, )(?:(?:and|so|ok|okay|well|now|but|then)[, ]+)*(?:can|could|would|will) you (?:please |just |perhaps )?"
    r"(?:tell|show|point|describe|explain|say|list|name|give|run|walk|take|talk|put)\b"
)
"""'Can you show me where?' asks where, and not whether."""
_PARTICULAR = _any(r"^\W*(?:(?:and|so|but|well|now)[, ]+)*(?:what(?! about)|how|where\w*|when|who\w*|which|why)\b")
"""The beginning of a question that yes or no cannot answer, though its end may look so ('What is it?')."""
_MEANT = _any(r"^(?:I mean|like|such as|for (?:example|instance)|that is|say)\b", r"\bI mean\W*$")
"""A remark that only explains the question before it."""
_CLAUSE = regex(
    r",?\s+(?:and|but)\s+(?:(?:roughly|about|exactly|if so|also|then|just|for|in|on|at|with),?\s+)?"
    r"(?=(?:do|does|did|is|are|was|were|has|have|had|any|when|where|what|how|who|which|why|since)\b)"
    r"|(?<=[?.!])\s+",
    re.IGNORECASE,
)
ATTRIBUTES: tuple[tuple[str, re.Pattern[str], re.Pattern[str]], ...] = (
    (
        "length",
        _any(r"how long (?:did|does|do|were|was)\b(?!.*\bago\b)", r"how long .*\blast"),
        _any(
            r"\b(?:last(?:s|ed|ing)|after (?:about|approximately)? ?\d+|for (?:about |approximately )?\d+)\b",
            r"\d+[- ](?:second|minute)s?\b|\b(?:a|one|two|three|few) (?:second|minute)s?\b",
        ),
    ),
    (
        "setting",
        _any(
            r"what (?:was|were|are) (?:you|he|she) doing",
            r"(?:just )?before (?:it|that|this|you) (?:start|happen|pass|faint)\w*\??$",
        ),
        _any(
            r"\b(?:while|during|immediately after|right after|as (?:he|she|i) was|participation|playing"
            r"|when (?:he|she|i)) "
        ),
    ),
    (
        "cause",
        _any(r"\bhow (?:did|does|do|was|were) .*(?:happen|hurt|injur|break|broke|come about)", r"\bhow it happened"),
        _any(r"\b(?:collision|accident|fell|fall|hit|struck|injur|trauma|assault|bitten|while|when|after)\w*\b"),
    ),
    (
        "place",
        _any(
            r"\bwhere (?:did|does|do|exactly|is|are|was|were|in|on|about|abouts|else)\b(?!.*(?:work|live|from|born))",
            r"\bwhich (?:side|parts?|bits?|areas?|joints?|arm|leg|eye|ear|joint|hand|foot)\b",
        ),
        _any(r"."),
    ),
    (
        "radiation",
        _any(
            r"\b(?:spread|radiat\w*|shoots?)\b",
            r"\b(?:go|goes|move|moves|travel|travels) (?:any|some|down|to|into|through|up)",
        ),
        _any(
            r"\b(?:radiat\w*|spread\w*|shoot\w*|goes (?:down|to|into|through)|moves? to|moved|going through"
            r"|into (?:the|my|his|her))\b"
        ),
    ),
    (
        "onset",
        _any(
            r"\bsince when\b|\bhow long\b|\bhow many (?:minutes|hours|days|weeks|months|years)\b|\bhow recent",
            r"\bwhen (?:did|was|were|has|have)\b|\bwhen\?|\b(?:start|began|begin|beginning|onset|first notice)\w*\??$",
        ),
        _any(r"."),
    ),
    (
        "manner",
        _any(r"\b(?:sudden|gradual|abrupt|slowly|all at once|out of the blue)\w*"),
        _any(r"\b(?:sudden|gradual|abrupt|slow|progressive|insidious|overnight|all at once|out of the blue)\w*"),
    ),
    (
        "rhythm",
        _any(r"\bcomes? and goe?s?\b|\ball the time\b|\bconstant\w*|\bintermittent\w*|\bcontinuous"),
        _any(
            r"\b(?:intermittent|constant|come and go|comes and goes|on and off|continuous|episod|occasional"
            r"|waxing|wanes|all the time)\w*"
        ),
    ),
    (
        "return",
        _any(
            r"\b(?:come|came|coming) back\b|\b(?:go|went|gone|goes|going) away\b|\bdisappear"
            r"|\bclear(?:ed)? up\b|\bheal(?:ed)?\b|\breturned?\b"
        ),
        _any(
            r"\b(?:recurr|disappear|resolv|return|clear(?:ed|s)? (?:up )?(?:after|within|on)|heal|subsid"
            r"|went away|gone away)\w*"
        ),
    ),
    (
        "course",
        _any(
            r"\b(?:get|gets|getting|got|grow|grown|growing|become|changed?|progress\w*)\b.*\b(?:better|worse"
            r"|bigger|larger"
            r"|smaller|size|over time|grown|progressed)\b|\b(?:is|are|has|have|was|were) (?:it|they|he"
            r"|she|the \w+|your \w+)"
            r" (?:been )?(?:still )?(?:grow|chang|worsen|improv|shrink|enlarg|spreading|progress|bigger"
            r"|larger|smaller|better|worse)"
            r"|\bha(?:s|ve) (?:it|the \w+|they) (?:changed|grown"
            r"|spread|improved)"
        ),
        _any(
            r"\b(?:wors\w*|increas\w*|progress\w*|improv\w*|better|bigger|enlarg\w*|grow\w*|grew|resolved"
            r"|unchanged|stopped)\b"
        ),
    ),
    (
        "relief",
        _any(r"\b(?:better|reliev\w*|eases?|helps?|helped|alleviat\w*|soothe\w*|any good|any difference|any use)\b"),
        _any(
            r"\b(?:better|reliev\w*|eased?|eases|helps?|helped|helping|alleviat\w*|improve\w*|unsuccessful"
            r"|settle[sd]?|is best)\b"
        ),
    ),
    (
        "trigger",
        _any(
            r"\b(?:worse|worst|worsen\w*|aggravat\w*|trigger\w*|brings? (?:it|the \w+|them) on|sets? (?:it"
            r"|the \w+) off)\b",
            r"\bparticular time\b|\btime of (?:day|year)\b|\bwhen (?:is|does|do) .*\bworst?e?\b",
        ),
        _any(
            r"\b(?:worse|worst|worsen\w* (?:with|when|after|by|in|on|upon|during|at|while)|aggravat\w*|trigger\w*"
            r"|exacerbat\w* (?:by|with)|brought on|especially|only when|with exertion|every (?:winter|summer"
            r"|spring|autumn|fall|morning|night)|yearly)\b"
        ),
    ),
    (
        "occasion",
        _any(r"\bwhen do(?:es)? (?:it|the \w+|they|you get|your \w+)\b|\bbrings? (?:it|the \w+|them) on\b"),
        _any(r"\b(?:when|while|after|during|upon|with|on exertion|especially|every) \w+"),
    ),
    (
        "severity",
        _any(
            r"\bhow (?:bad|severe|strong|intense)\b|\bscale\b|\bout of (?:ten|10)\b|\bsevere\?|\bworst \w+ (?:of|ever)"
        ),
        _any(
            r"\b(?:sever\w*|mild\w*|moderate\w*|slight\w*|terrible|unbearable|excruciating|intense|bad|worst"
            r"|\d+ ?/ ?10|out of (?:10|ten))\b"
        ),
    ),
    (
        "character",
        _any(
            r"\bwhat (?:does|is|was) (?:it|the \w+) (?:feel )?like\b|\bwhat (?:kind|sort|type) of\b|\b(?:sharp"
            r"|dull|describe)\b"
        ),
        _any(
            r"\b(?:burning|sharp|dull|cramp\w*|stabbing|aching|throbbing|pressure|pressing|shooting|squeez\w*"
            r"|tight\w*|colic\w*"
            r"|tearing|gnawing|pulsating|prick\w*|tender|itchy|pounding|thunderclap|heavy)\b"
        ),
    ),
    (
        "colour",
        _any(r"\bcolou?r\b|\blook like\b"),
        _any(
            r"\b(?:yellow|green|red|white|brown|black|clear|bloody|pink|blue|dark|pale|foamy|thick|rust\w*|orange"
            r"|grey|gray)\b"
        ),
    ),
    (
        "night",
        _any(r"\bwake[sn]?\b|\bat night\b"),
        _any(r"\b(?:wakes?|waking|woken|woke|night|nocturnal|nightly)\b"),
    ),
    (
        "amount",
        _any(r"\bhow (?:many (?!minutes|hours|days|weeks|months|years)|much|often|frequent|big|large)\b"),
        _any(
            r"\d|\b(?:one|two|three|four|five|six|seven|eight|several|twice|daily|once|every|occasional\w*|few"
            r"|social\w*|heavy|moderate)\b"
        ),
    ),
    (
        "who",
        _any(r"^\W*who\b"),
        _any(
            r"\b(?:wife|husband|mother|father|parents|son|daughter|friend|neighbou?r|alone|flatmates?|teacher"
            r"|brother|sister|family)\b"
        ),
    ),
)
"""Each kind of detail: its name, what a question about it holds, and what a sentence that tells it holds."""


class HistoryQuestion(msgspec.Struct, frozen=True):
    """What one question asks; `details` are names of `ATTRIBUTES`."""

    text: str
    yes_no: bool
    details: tuple[str, ...]
    findings: frozenset[str]
    sites: frozenset[str]
    topics: tuple[Topic, ...]
    words: frozenset[str]
    meanings: frozenset[str]

    @property
    def bare(self) -> bool:
        """Whether it says nothing of what it is about, and so leans on what was asked before ('And since when?')."""
        return not (self.findings or self.sites or self.topics)

    @property
    def of_relatives(self) -> bool:
        """Whether it asks about the family: what follows is about the patient again."""
        return any(topic.name == "family" for topic in self.topics)

    def after(self, earlier: "HistoryQuestion") -> "HistoryQuestion":
        """This question, asked of what the earlier one was about."""
        return replace(
            self, findings=earlier.findings, sites=earlier.sites, topics=earlier.topics, meanings=earlier.meanings
        )


@lru_cache(maxsize=8192)
def parse_question(text: str) -> HistoryQuestion:
    """What one question asks.

    Example: `parse_question("How long has your tummy hurt?").details` is `("onset",)`.
    """
    text = " ".join(text.replace("\u2019", "'").split())
    whether = _YES_NO.search(text) is not None and _POLITE.search(text) is None
    return HistoryQuestion(
        text=text,
        yes_no=whether and _PARTICULAR.search(text) is None,
        details=tuple(name for name, question, _ in ATTRIBUTES if question.search(text)),
        findings=narrowest(concepts_in(text, "finding", "disease")),
        sites=concepts_in(text, "site"),
        topics=topics_asked(text),
        words=frozenset(word for word in roots(text) if word not in little() and len(word) > 2),
        meanings=meanings(text),
    )


@lru_cache(maxsize=4096)
def meanings(text: str) -> frozenset[str]:
    """What the words of `text` mean: their fields, and the roots of words that belong to none."""
    fields, rest = meanings_in(text)
    return fields | frozenset(f"={word}" for word in roots(rest) if word not in little() and len(word) > 2)


def narrowest(names: frozenset[str]) -> frozenset[str]:
    """The concepts without those that another of them belongs to."""
    above = frozenset(wide for name in names for wide in wider_concepts(name) - {name})
    return names - above


def split_questions(text: str) -> Sequence[str]:
    """The questions of a turn: 'Any fever? And do you cough?' has two.

    A greeting is left out, and so is a comment, unless the question after it needs it ('I hear that you fell. Tell me
    about that.').
    """
    plain = " ".join(text.replace("\u2019", "'").split())
    while plain != (rest := _SALUTE.sub("", plain)):
        plain = rest
    plain = _CALLED.sub("", plain)
    pieces = [piece.strip() for piece in _CLAUSE.split(plain) if piece.strip(" ?.!")]
    if len(pieces) < 2:
        return pieces
    said = [piece for piece in pieces if not GREETING.search(piece) or OPENING.search(piece)]
    questions, comment = list[str](), ""
    for piece in said:
        if questions and _MEANT.search(piece):
            questions[-1] = f"{questions[-1].rstrip('?')} ({piece.rstrip(' .?!')})?"
            continue
        if not (piece.endswith("?") or _YES_NO.search(piece) or _WH.search(piece)):
            comment = piece
            continue
        questions.append(f"{comment} {piece}" if comment and not _stands_alone(piece) else piece)
        comment = ""
    return questions or said or pieces[:1]


def _stands_alone(question: str) -> bool:
    """Whether a question names what it asks about, or asks why the patient came."""
    asked = parse_question(question)
    return bool(asked.words) or not asked.bare or OPENING.search(question) is not None


def is_opening(question: HistoryQuestion) -> bool:
    """Whether it asks why the patient came and for nothing in particular."""
    return (
        OPENING.search(question.text) is not None
        and not question.findings
        and not question.words.difference(OPENING_WORDS)
        and _KIN_HAS_IT.search(question.text) is None
    )


def trouble_part(text: str) -> str:
    """The part of a question that asks what the trouble is ('No need to be shy, what is the trouble?')."""
    parts = [part for part in re.split(r"[,:;]\s", text) if TROUBLE.search(part)]
    return _AT_CLINIC.sub("", parts[-1] if parts else text)


_AT_CLINIC = regex(r"\b(?:the|this|our) (?:[\w-]+ ){0,2}(?:clinic|ward|unit|department|team|doctors?)\b", re.IGNORECASE)
"""Where or to whom the patient came, which is no part of the trouble."""


_WH = regex(r"\b(?:when|where|what|how|who|which|why|since when|tell me|describe)\b", re.IGNORECASE)
