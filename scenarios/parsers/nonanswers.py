"""Recognises text that is no answer: a placeholder, a postponement, a refusal, or a break of the speaker's role.

`template`, `postponed` and `refuses` are for one value or reply; `breaks` is for the whole action of any seat.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Literal

from wardround.engine.text import regex

_WORD = regex(r"[^\W_]+")
_PAIRS = (
    ("[", "]"),
    ("(", ")"),
    ("<", ">"),
    ("{", "}"),
    ("\uff08", "\uff09"),
    ("\u3010", "\u3011"),
    ("\u300a", "\u300b"),
    ('"', '"'),
    ("'", "'"),
)
_QUOTES = ('"', "'")
_HEADS = (
    "diagnosis|diagnoses|disease|diseases|condition|treatment|treatments|answer|conclusion|name|text"
    "|diagnose|krankheit|antwort|behandlung|therapie|diagnostic|maladie|réponse|traitement"
    "|diagnóstico|diagnostico|enfermedad|respuesta|tratamiento"
)
_SMALL = (
    "the|your|my|his|her|this|a|an|one|single|final|here|insert|enter|state|write|give|of|most|likely|primary|main"
    "|principal|plan|in|goes|and|or|else|only|just|put|fill|specify|provide|output|short|brief|full|complete|exact"
    "|correct|specific|best|possible|is|patient|s|le|la|votre|son|ici|ihre|die|der|das|endgültige|hier|su|el|aquí"
)
_NAMING = frozenset(_HEADS.split("|"))
_VOCABULARY = _NAMING.union(_SMALL.split("|"))
_OPENING = regex(
    r"(?:(?:insert|enter|state|write|give|put|fill in|specify|provide|output|name|only|just|directly)\s+)*"
    r"(?:(?:the|your|a|an|this|his|her|one|single|most|likely|final|primary|main|principal|specific|short|brief|full"
    r"|exact|correct|best|le|la|votre|ihre|die|der|das|su|el)\s+)*"
    rf"(?:{_HEADS})\b(?!\s*(?:is|was|:))",
    re.IGNORECASE,
)
_CHINESE = regex("(?:请|在此|填写|输入|你|您|的|最终|最|可能|诊断|疾病|名称|答案|结论|结果|治疗|方案|内容|此处)+")
_POSTPONED = regex(
    r"(?:i(?:\s+am|['\u2019]m)\s+|it\s+is\s+|(?:the\s+)?(?:final\s+)?diagnosis\s+is\s+)?(?:still\s+)?(?:"
    r"not\s+yet|not\s+(?:yet\s+)?(?:known|clear|determined|established|sure|certain|available|ready|possible|reached|made|confirmed)"
    r"|not\s+applicable|n/?a|unknown|unclear|undetermined|undecided|uncertain|unsure|pending|deferred|tbd|tba"
    r"|to\s+be\s+(?:determined|confirmed|decided|established)|awaiting|yet|nothing|none"
    r"|no\s+(?:(?:final|definitive|definite|clear|specific)\s+)?(?:diagnosis|answer|conclusion)"
    r"|insufficient\s+(?:information|data|evidence)|(?:more|further)\s+(?:information|tests?|testing|data|work-?up)"
    r"|need(?:s|ed)?\s+(?:more|further)|i\s+(?:do\s+not|don['\u2019]t)\s+know"
    r"|unbekannt|unklar|noch\s+nicht\s+\w+|inconnue?|indéterminée?|desconocid[oa]|indeterminad[oa]|pendiente"
    r"|未知|不明|待定|待查|尚不明确|无法确定|不确定)"
    r"(?P<more>(?:[\s,]+(?:yet|at\s+(?:this|the)\s+(?:time|moment|point|stage)|now|so\s+far|still|further|more|additional"
    r"|until|before|after|without|is|are|was|can\s+be|could\s+be|needed|required|possible|made|given|reached|available|tests?"
    r"|testing|results?|information|data|evaluation|investigations?|work-?up|ready|for|of|the|a|to|make|diagnose|diagnosis"
    r"|examination|of\s+origin|and|from|on|history|studies|imaging|labs?|laboratory|biopsy|consultation))*)[\s.?!]*",
    re.IGNORECASE,
)
_NAMES_MORE = regex(r"\s+(?:of|caused|due|with)\b", re.IGNORECASE)
"""Words that make a name of 'disease' in brackets, where they follow it: '[Disease of Graves]'."""
_LONGEST = 600
"""Longest placeholder or postponement, in characters."""
_COPIED = 6
"""Least number of words of a value that counts as copied if the instructions contain it."""


class Instructions:
    """The text of a scenario's prompts, used to recognise a copy of it."""

    def __init__(self, texts: Iterable[str]) -> None:
        texts = tuple(texts)
        spans = (span for text in texts for span in re.findall(r"[\[(<{]([^\[\](){}<>\n]{2,400})[\])>}]", text))
        self.placeholders = frozenset(_plain_words(span) for span in spans)
        self._body = f" {' '.join(_plain_words(text) for text in texts)} "

    def holds(self, value: str) -> bool:
        """Whether a value is a placeholder of the instructions, or has six words or more and is a passage of them."""
        if self is NO_INSTRUCTIONS:
            return False
        flat = _plain_words(value)
        if flat in self.placeholders:
            return True
        return len(flat.split()) >= _COPIED and f" {flat} " in self._body


NO_INSTRUCTIONS = Instructions(())


def template(value: str, instructions: Instructions = NO_INSTRUCTIONS) -> bool:
    """Whether a value is an unfilled placeholder or a copy of the `instructions`.

    Examples: '[diagnosis]', '(the disease, as specific as you can be)', '<your answer>', 'the diagnosis', '[...]'. A
    disease in brackets is an answer.
    """
    value = value.strip()
    if not value or len(value) > _LONGEST:
        return False
    inner, bracketed = _bare(value)
    words = [word.casefold() for word in _WORD.findall(inner)]
    if not words:
        return bracketed or set(value) <= set("_. \u2026")
    if instructions.holds(inner) or (not inner.isascii() and _CHINESE.fullmatch("".join(words))):
        return True
    if _VOCABULARY.issuperset(words) and not _NAMING.isdisjoint(words):
        return True
    opening = _OPENING.match(inner) if bracketed else None
    if opening is None or ":" in inner:
        return False
    return _NAMES_MORE.match(inner, opening.end()) is None


def postponed(value: str) -> bool:
    """Whether a value says only that there is no answer yet: 'not known yet', 'pending further tests'."""
    inner, _ = _bare(value.strip())
    return len(inner) <= _LONGEST and _POSTPONED.fullmatch(inner.strip()) is not None


_TAGGED = regex(r"<(?P<tag>[A-Za-z][\w-]*)>(?P<inner>.*?)</(?P=tag)>", re.DOTALL)


def _bare(value: str) -> tuple[str, bool]:
    """(the value without the marks around it, whether brackets were among them)."""
    value, bracketed, changed = value.strip(" \t\r\n*_`#:-"), False, True
    if tagged := _TAGGED.fullmatch(value):
        value, bracketed = tagged["inner"].strip(), not tagged["inner"].strip()
    while changed:
        changed = False
        for begin, end in _PAIRS:
            if len(value) > 1 and value.startswith(begin) and value.rstrip(".").endswith(end):
                value = value.rstrip(".")[1:-1].strip(" \t\r\n*_`")
                bracketed, changed = bracketed or begin not in _QUOTES, True
    return value, bracketed


def _plain_words(text: str) -> str:
    """The words in lower case, separated by single spaces."""
    return " ".join(_WORD.findall(text)).casefold()


LONGEST_REFUSAL = 20_000
"""Most characters of a text that are read for a refusal; this bounds the time for a reply of 1 MB."""

_CLAUSE = regex(
    r"[.!?;:\n\u3002\uff01\uff1f\uff1b\uff0c\uff1a]+|\s[-\u2013\u2014]+\s|,"
    r"|\b(?:but|however|although|though|nevertheless|nonetheless|still|yet|that said|instead|aber|jedoch|dennoch"
    r"|trotzdem|mais|cependant|toutefois|néanmoins|pero|sin embargo|no obstante)\b"
    r"|但是|但|然而|不过",
    re.IGNORECASE,
)

_ACTS = (
    r"diagnos\w*|provid\w*|giv(?:e|ing)|offer\w*|mak(?:e|ing)|determin\w*|assist\w*|help\w*|answer\w*|comply\w*|advis\w*"
    r"|advice|recommend\w*|prescrib\w*|treat\b|treating|suggest\w*|say\b|state\b|name\b|do (?:that|this|so)|fulfil\w*"
    r"|participat\w*|engag\w*|continu\w*|conclu\w*|commit\w*|identif\w*|establish\w*|reach\w*|respond\w*|play\b|share\b"
    r"|complete\b|proceed\w*|practi[cs]e"
)
_CANNOT = (
    r"can(?:no|['\u2019])?t|can not|could not|couldn['\u2019]t|won['\u2019]t|will not|would not|unable|not able"
    r"|(?:am|are|is) not (?:allowed|permitted|qualified|authori[sz]ed|licensed|comfortable|equipped|in a position)"
    r"|['\u2019]m not (?:allowed|permitted|qualified|authori[sz]ed|licensed|comfortable|able|equipped|in a position)"
    r"|must decline|have to decline|decline|refuse|should not|shouldn['\u2019]t|must not|not appropriate for me"
)
_NOT_MADE = r"(?:cannot|can['\u2019]t|can not|could not|couldn['\u2019]t)(?: yet)? be"

_REFUSING = tuple(
    regex(words, re.IGNORECASE)
    for words in (
        # English: 'I am sorry, I cannot provide ...', 'Unable to determine', 'no diagnosis can be made'
        rf"^\W*(?:(?:so|and|therefore|thus|sorry|unfortunately|as such|regrettably)\W+)*(?:(?:i|we|one)\b\W{{0,3}}"
        rf"(?:\w+\W+){{0,3}}?)?(?:{_CANNOT})\b(?:\W+\w+){{0,6}}?\W+(?:{_ACTS})",
        rf"\b(?:i|we)\b\W{{0,3}}(?:\w+\W+){{0,3}}?(?:{_CANNOT})\b(?:\W+\w+){{0,6}}?\W+(?:{_ACTS})",
        rf"\b(?:diagnos[ie]s|treatment|answer|conclusion|it|this)\b.{{0,40}}\b{_NOT_MADE} (?:made|given|determined"
        r"|established|provided|reached|stated|named|answered|confirmed)",
        r"\bno (?:\w+ ){0,2}(?:diagnosis|answer|conclusion|treatment)\b.{0,20}\b(?:can|could|is|was) (?:be )?"
        r"(?:made|given|possible|determined|provided|reached|available|offered)",
        r"\bi (?:do not|don['\u2019]t) (?:feel comfortable|have enough|want to|know (?:the|what|enough))",
        # German
        r"\b(?:ich|wir)\b.{0,30}\b(?:kann|können|darf|dürfen|werde|möchte|bin|sind)\b.{0,80}"
        r"\b(?:nicht|kein\w*|außerstande)\b.{0,60}\b(?:diagnos\w*|stellen|geben|helfen|\w*antworten|empfehl\w*"
        r"|beraten|rat|bestimmen|behandeln|nennen|unterstützen|lage)",
        r"\b(?:kann|darf|werde) ich\b.{0,60}\b(?:nicht|kein\w*)\b.{0,60}\b(?:diagnos\w*|stellen|geben|helfen"
        r"|\w*antworten|empfehl\w*|beraten|bestimmen|behandeln|nennen|unterstützen)",
        r"\b(?:eine|keine) (?:\w+ )?(?:diagnose|antwort)\b.{0,20}\b(?:ist|war) (?:\w+ ){0,2}(?:nicht )?möglich",
        # French
        r"\b(?:je|nous)\b.{0,12}?(?:\b(?:peux|puis|saurais|suis|veux|pouvons|sommes)\b).{0,30}?\b(?:pas|incapables?"
        r"|plus)\b.{0,50}?\b(?:diagnosti\w*|poser|donner|fournir|établir|aider|répondre|conseil\w*"
        r"|recommand\w*|prescrire|déterminer|proposer|traiter)",
        r"\b(?:je|nous)\b.{0,6}\b(?:ne |n['\u2019])(?:peux|puis|saurais|pouvons)\b.{0,40}?\b(?:diagnosti\w*|poser"
        r"|donner|fournir|établir|aider|répondre|conseil\w*|recommand\w*|prescrire|déterminer|proposer)",
        # Spanish
        r"\bno (?:puedo|podemos|podría|soy capaz|estoy (?:capacitad[oa]|autorizad[oa]|en condiciones)"
        r"|me es posible|es posible)\b.{0,50}?(?:diagn\w*|dar\w*|proporcionar|ofrecer|ayudar\w*|responder|recomendar"
        r"|determinar|aconsejar|prescribir|emitir|hacer|tratar)",
        # Chinese
        r"(?:无法|不能|不可以|没有办法|没法|不便|拒绝)"
        r".{0,16}?(?:诊断|提供|给出|回答|确定|作出|做出|判断"
        r"|建议|帮助|协助|治疗)",
    )
)
_DENYING = regex(
    r"not|no |'t|cant|unable|decline|refuse|nicht|kein|pas|plus|incapable|n(?:e |')(?:peux|puis|saurais|pouvons)"
)
"""Every match of `_REFUSING` in a text of ASCII contains one of these, in lower case."""
_SELF = regex(
    r"\bas an? (?:\w+ )?(?:ai\b|artificial intelligence|(?:large )?language model|chatbot|virtual assistant)"
    r"|\bi(?:\s+am|['\u2019]m) (?:just |only |merely |simply )?(?:an? )?(?:\w+ )?(?:ai\b|artificial intelligence"
    r"|(?:large )?language model|llm\b|chatbot|virtual assistant|computer program)"
    r"|\bals (?:ein(?:e|em|er)? )?(?:ki\b|künstliche intelligenz|(?:großes )?sprachmodell)"
    r"|\bich bin (?:nur |lediglich |bloß )?(?:eine? )?(?:ki\b|künstliche intelligenz|(?:großes )?sprachmodell"
    r"|chatbot)"
    r"|\ben tant qu(?:e |['\u2019])(?:une? )?(?:ia\b|intelligence artificielle|modèle|assistant virtuel)"
    r"|\bje (?:ne )?suis (?:qu['\u2019])?(?:une? )?(?:ia\b|intelligence artificielle|modèle de langage)"
    r"|\bcomo (?:una? )?(?:ia\b|inteligencia artificial|modelo de (?:lenguaje|ia)|asistente virtual)"
    r"|\bsoy (?:solo |sólo )?(?:una? )?(?:ia\b|inteligencia artificial|modelo de lenguaje|asistente virtual)"
    r"|(?:作为|身为|我只?是).{0,8}(?:人工智能|AI|语言模型|大模型)",
    re.IGNORECASE,
)
_NAMES_OF_MODELS = (
    *("intelligen", "inteligencia", "model", "mod\u00e8le", "llm", "chatbot", "assistant", "asistente"),
    *("computer program", "\u4f5c\u4e3a", "\u8eab\u4e3a", "\u6211\u662f", "\u6211\u53ea\u662f"),
)
_SHORT_NAMES = regex(r"\b(?:ai|ki|ia)\b")
"""Every match of `_SELF` contains one of these, in lower case."""
_NO_DOCTOR = regex(
    r"\bi(?:\s+am|['\u2019]m) not (?:an? )?(?:\w+ ){0,2}(?:doctor|physician|clinician|professional)"
    r"|\bich bin kein(?:e)? (?:arzt|ärztin|mediziner\w*)|\bje ne suis pas (?:une? )?(?:médecin|professionnel)"
    r"|\bno soy (?:una? )?(?:médic[oa]|doctora?|profesional)|我不是.{0,4}(?:医生|医师)",
    re.IGNORECASE,
)
_EXCEPT = regex(r"\b(?:other than|except|apart from|aside from|besides|rule|ruling|exclude|excluding)\b", re.IGNORECASE)
_POLITE = regex(
    r"\b(?:sorry|apologi[sz]e|apologies|please|consult\w*|see an?|seek\w*|speak (?:to|with)|talk (?:to|with)|contact"
    r"|thank|understand|important to|recommend(?:ed)? (?:that )?(?:you|to|seeing|consulting)|bitte|wenden sie|leid"
    r"|désolée?|veuillez|consultez|lo siento|disculpe|consulte|acuda)\b"
    r"|抱歉|对不起|请|咨询|就医|联系",
    re.IGNORECASE,
)
_PLAIN = regex(
    r"(?i)\b(?:diagnos\w*|treatment\w*|therapy|medical|clinical|professional\w*|doctor\w*|physician\w*|health(?:care)?|care"
    r"|advice|answer\w*|information|patient\w*|provider\w*|the|an?|and|or|of|to|for|in|at|on|with|without|this|that|is|are"
    r"|be|my|your|you|it|as|such|any|further|more|sure|here|so|therefore|unfortunately|regrettably|arzt|diagnose|médecin"
    r"|diagnostic|médico|diagnóstico|final|conclusion|ai|language|model|assistant|large|und|oder|et|ou|y|o|ni|nor)\b"
)
_CONTENT = regex(r"[^\W\d_]{3,}|[一-鿿]{2,}")


def refusal_clauses(text: str) -> Iterator[str]:
    """Split a text into clauses at full stops, commas, colons and contrasting words."""
    return (clause.strip() for clause in _CLAUSE.split(text[:LONGEST_REFUSAL]) if clause.strip())


def refusing(clause: str) -> bool:
    """Whether a clause declines to answer. 'Cannot rule out gout' and 'nothing other than gout' do not."""
    may = not clause.isascii() or _DENYING.search(clause.lower()) is not None  # far quicker to see than the rest
    return may and _EXCEPT.search(clause) is None and any(pattern.search(clause) for pattern in _REFUSING)


def self_as_model(text: str) -> bool:
    """Whether the speaker calls itself a model, an AI or a program."""
    text = text[:LONGEST_REFUSAL]
    low = text.casefold()
    if not any(part in low for part in _NAMES_OF_MODELS) and _SHORT_NAMES.search(low) is None:
        return False  # far quicker to see than that the pattern does not match
    return _SELF.search(text) is not None


def has_refusal(text: str) -> bool:
    """Whether any clause of a text declines to answer, whatever the other clauses say."""
    return any(refusing(clause) for clause in refusal_clauses(text))


def remainder(text: str) -> str:
    """A text without its refusing clauses, remarks about the speaker and polite phrases."""
    kept = []
    for clause in refusal_clauses(text):
        if refusing(clause) or _SELF.search(clause) or _NO_DOCTOR.search(clause) or _POLITE.search(clause):
            continue
        if _CONTENT.search(_PLAIN.sub(" ", clause)):
            kept.append(clause)
    return ". ".join(kept)


def refuses(text: str) -> bool:
    """Whether a text only refuses, or only says that a model or no doctor speaks: its `remainder` is empty."""
    declines = has_refusal(text) or self_as_model(text) or _NO_DOCTOR.search(text[:LONGEST_REFUSAL]) is not None
    return declines and not remainder(text)


Kind = Literal["plays_other", "recites", "self_as_model", "template"]
KINDS: tuple[Kind, ...] = ("plays_other", "recites", "self_as_model", "template")

RUN = 10
"""Number of consecutive words that count as recited from the instructions; a Chinese character counts as a word."""
LONGEST = 200_000
"""Most characters of a text that are read for a break of the role."""

_LABELS = {
    "doctor": r"doctor|dr|physician|clinician|arzt|ärztin|médecin|docteur|médico|doctora?|医生|医师",
    "patient": r"patient|patientin|patiente|paciente|患者|病人",
    "examiner": r"examiner|measurement|nurse|lab(?:oratory)? technician|untersucher|examinateur|examinador|检查员|护士",
}
_TURN = regex(
    r"^[ \t>*_#\-]*(?:(?P<ask>ask|order|question)|"
    + "|".join(rf"(?P<{seat}>{words})" for seat, words in _LABELS.items())
    + r")(?:['\u2019]s)?(?: (?:answers?|repl(?:y|ies)|responds?|response|says))?[ \t]*[*_]{0,3}[ \t]*[:\uff1a][ \t*_]*"
    r"(?P<said>[^\n]*)",
    re.IGNORECASE | re.MULTILINE,
)
_FIRST_PERSON = regex(
    r"\b(?:i|i['\u2019](?:m|ve|d|ll)|my|me|ich|mein\w*|mir|je|j['\u2019]ai|mon|ma|mes|yo|mi|mis|tengo|me)\b|我",
    re.IGNORECASE,
)
_ASKS = regex(r"[?\uff1f][*_ \t\"'\u201d]*$")
_WORDS = regex(r"[㐀-鿿]|[^\W_]+")


def plays_other(text: str, seat: str, said: Iterable[str] = ()) -> bool:
    """Whether `seat` speaks for another seat: a dialogue with itself.

    A labelled line begins with the name of a seat or with ASK, ORDER or QUESTION, and a colon. The seat speaks for
    another if it writes a line of another seat after one of its own, after an ASK or after a question, if a line of its
    own follows a question or words in the first person of another, or if it writes two lines of other seats in the
    first person. A summary that opens with 'Patient: 45-year-old man' does not count. Quotes of what the others really
    `said` before are allowed.
    """
    turns = list(_turns(text))
    known = [_flat(other) for other in said] if turns else []
    asked, spoken, talk = False, 0, False
    for kind, words, above in turns:
        flat = _flat(words)
        other = kind not in ("ask", seat) and flat != "" and not any(flat in heard for heard in known)
        if (other and (asked or _ASKS.search(above))) or (kind == seat and talk):
            return True
        asked = asked or kind in ("ask", seat)
        in_person = other and _FIRST_PERSON.search(words) is not None
        spoken += in_person
        talk = in_person or (other and _ASKS.search(words) is not None)
    return spoken > 1


_FEW = 200
"""Most words of a text whose runs `recites` looks for one by one."""
_HALF = RUN // 2


def _turns(text: str) -> Iterator[tuple[str, str, str]]:
    """(label, speech, last line of text above) of each labelled line."""
    text = text[:LONGEST]
    if ":" not in text and "\uff1a" not in text:
        return
    for match in _TURN.finditer(text):
        kind = next(name for name in ("ask", *_LABELS) if match[name] is not None)
        yield kind, match["said"], text[max(0, match.start() - 400) : match.start()].rstrip().rpartition("\n")[2]


class Passages:
    """Texts indexed by their runs of ten words; the index is built on first use."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = texts

    @cached_property
    def runs(self) -> frozenset[tuple[str, ...]]:
        """Every run of ten consecutive words."""
        return frozenset(run for text in self._texts for run in _cut(_folded(text)))


def recites(text: str, instructions: str | tuple[str, ...], *known: Passages) -> bool:
    """Whether a text repeats ten consecutive words of its instructions that occur in none of the `known` texts.

    The instructions are one text, or several messages in their order. `known` is what the speaker may repeat: its
    story, the record, what others said.
    """
    words = _folded(text)
    if len(words) < RUN or not instructions:
        return False
    messages = (instructions,) if isinstance(instructions, str) else instructions
    if len(words) > _FEW:
        shared = _cut(words) & _cut(_folded("\n".join(messages)))
    else:  # to look for pieces in the text is far quicker than to cut all of a long text into runs
        whole = f" {_flat_all(messages)} "
        # every run holds a half that begins at a multiple of its length
        starts = range(0, len(words) - _HALF + 1, _HALF)
        if not any(f" {' '.join(words[at : at + _HALF])} " in whole for at in starts):
            return False
        shared = {run for run in _cut(words) if f" {' '.join(run)} " in whole}
    for passages in known:
        if not shared:
            return False
        shared -= passages.runs
    return bool(shared)


def breaks(
    text: str, seat: str, instructions: str | tuple[str, ...], case: Passages, said: Sequence[str] = ()
) -> list[Kind]:
    """The kinds of role break in one action of a seat, in the order of KINDS.

    `instructions` is everything that was sent to the seat's model, `case` the text of the case, and `said` what the
    other seats said before.
    """
    breaches: dict[Kind, bool] = {
        "plays_other": plays_other(text, seat, said),
        "recites": recites(text, instructions, case, Passages(said)),
        "self_as_model": self_as_model(text),
        "template": template(text),
    }
    return [kind for kind in KINDS if breaches[kind]]


def _folded(text: str) -> list[str]:
    """The words of a text in one case."""
    return _flat(text[:LONGEST]).split()


def _cut(words: Sequence[str]) -> set[tuple[str, ...]]:
    """The runs of ten words."""
    return {tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1)}


def _flat_all(messages: Sequence[str]) -> str:
    """The words of all messages, at most `LONGEST` characters of them."""
    if sum(map(len, messages)) + len(messages) > LONGEST:
        return _flat("\n".join(messages)[:LONGEST])
    return " ".join(filter(None, map(_flat, messages)))


@lru_cache(maxsize=256)
def _flat(text: str) -> str:
    """The words of a text in one case, with one space between them; kept, since the instructions of a seat recur."""
    return " ".join(_WORDS.findall(text)).casefold()
