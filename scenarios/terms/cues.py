"""The cues of an answer: words by which it asserts, joins, hedges or denies (`cues.csv`), in several languages."""

import re
from collections.abc import Iterable
from functools import cache
from itertools import groupby

from wardround.engine.text import regex
from wardround.scenarios.terms.wording import table_rows, tokens


@cache
def _table() -> dict[str, list[str]]:
    return {row["role"]: row["cues"].split("|") for row in table_rows("cues.csv")}


@cache
def every_word() -> frozenset[str]:
    """Every single word of the cues, in comparable form."""
    return frozenset(word for cues in _table().values() for one in cues for word in tokens(one))


@cache
def cues(role: str) -> tuple[str, ...]:
    """The cues of a role ('hedging', 'denying' ...), the longest first."""
    return tuple(sorted(_table()[role], key=len, reverse=True))


@cache
def cue_words(*roles: str) -> str:
    """A group for use in a larger pattern: any cue of the roles as a whole word."""
    every = sorted({cue for role in roles for cue in cues(role)}, key=lambda cue: (-len(cue), cue))
    runs = groupby(every, key=lambda cue: (cue[0].isalnum(), cue[-1].isalnum()))
    return "(?:" + "|".join(_whole(run, *ends) for ends, run in runs) + ")"


@cache
def cue(*roles: str) -> re.Pattern[str]:
    """A pattern that finds any cue of the roles, in upper or lower case."""
    return regex(cue_words(*roles), re.IGNORECASE)


def _whole(cues: Iterable[str], begins: bool, ends: bool) -> str:
    """A group of cues as whole words. `begins` and `ends` say whether they begin and end with a letter or digit.

    The look-arounds stand once around the whole group, which is six times as fast as around each cue.
    """
    words = "|".join(re.escape(cue).replace(r"\ ", r"\s+") for cue in cues)
    return (r"(?<![\w-])" if begins else "") + f"(?:{words})" + (r"(?![\w-])" if ends else "")


_WORDS = {
    "or": "oder beziehungsweise bzw respektive ou oppure lub albo veya или либо أو",
    "and": "und sowie et y e",
    "with": "mit avec con",
    "not": "nicht kein keine keinen keiner weder noch pas ni não nem né geen niet nie değil не нет ليس ليست",
    "without": "ohne sans sin senza sem zonder bez без",
    "due to": "durch wegen aufgrund",
    "but": "aber sondern mais pero sino ma mas maar lecz ale ama fakat но а",
    "probably": "wahrscheinlich vermutlich probablement probablemente probabilmente provavelmente waarschijnlijk"
    " вероятно",
    "possibly": "möglicherweise eventuell peut-être posiblemente quizás",
    "ruled out": "ausgeschlossen exclu exclue descartado descartada excluido excluida escluso esclusa excluído excluída"
    " descartou-se uitgesloten wykluczono wykluczone исключен исключена исключено",
    "unlikely": "unwahrscheinlich improbable improbable",
    "is": "ist est es",
    "the": "der die das le la les el los las",
    "a": "ein eine einen un une una",
}
_PHRASES = {
    "due to": ("infolge von", "dû à", "due à", "debido a", "secondaire à", "secundario a", "causé par", "causado por"),
    "rather than": ("eher als", "plutôt que", "en lugar de", "más que", "piuttosto che", "em vez de", "вместо"),
    "or": ("ya da", "bzw."),
    "no": ("se descarta", "se descartan", "no hay evidencia de", "nessuna evidenza di", "nessun segno di"),
    "negative for": ("negativo para", "negativ für", "négatif pour"),
    "absence of": ("absence de", "absence d'", "ausencia de", "assenza di", "ausência de"),
    "history of": ("z.n.", "zustand nach", "antécédent de", "antécédents de", "antecedente de", "antecedentes de"),
    "suspected": ("verdacht auf", "suspicion de", "sospecha de"),
    "most likely": ("am ehesten", "le plus probablement", "lo más probable es"),
    "differential:": ("differentialdiagnostisch", "differenzialdiagnostisch"),
    "has": ("leidet an", "souffre de", "souffre d'", "padece", "padece de", "soffre di", "sofre de"),
    "by likelihood": (
        "nach wahrscheinlichkeit",
        "par ordre de probabilité",
        "por orden de probabilidad",
        "按可能性排序",
        "按可能性",
    ),
    "the diagnosis is": (
        "le diagnostic est",
        "le diagnostic le plus probable est",
        "el diagnóstico es",
        "el diagnóstico más probable es",
        "die diagnose ist",
        "die diagnose lautet",
        "die wahrscheinlichste diagnose ist",
        "la diagnosi è",
        "la diagnosi più probabile è",
        "o diagnóstico é",
        "o diagnóstico mais provável é",
        "de diagnose is",
    ),
    "diagnosis:": (
        "diagnose:",
        "diagnostic:",
        "diagnóstico:",
        "diagnostic :",
        "最终诊断：",
        "诊断：",
        "诊断:",
        "最终诊断:",
        "diagnosi:",
        "rozpoznanie:",
        "диагноз:",
        "tanı:",
        "診断：",
        "診断:",
        "진단:",
        "التشخيص:",
    ),
    "this is": ("il s'agit de", "il s'agit d'", "se trata de"),
    "it is": ("es handelt sich um", "handelt es sich um", "si tratta di", "trata-se de", "это"),
    "it is not": (
        "non si tratta di",
        "não se trata de",
        "to nie",
        "это не",
        "il ne s'agit pas de",
        "il ne s'agit pas d'",
        "no se trata de",
        "es handelt sich nicht um",
    ),
    "is not": ("n'est pas", "no es", "non è", "não é", "ist nicht", "ist kein", "ist keine"),
}
_HAN = (
    ("cannot diagnose", "无法诊断 不能诊断"),
    ("unlikely", "可能性小 可能性不大 可能性较小 可能性低 可能性极小"),
    ("ruled out", "已排除 可排除 可除外 被排除 否定"),
    ("possibly", "不除外 不能除外 不能排除 待排除 待排"),
    (
        "not",
        "不是 并非 不考虑 不支持 排除 除外 没有 而非 非",
    ),
    ("not,", "ではない ではなく でない じゃない 이아니라 가아니라 이아니다 이아닌 가아닌 아니라 아닌 아니다"),
    ("but", "而是 但是 但"),
    ("or", "或者 还是 抑或 或 または もしくは あるいは 또는 혹은"),
    ("due to", "继发于 由于"),
    ("complicated by", "并发 合并 伴有 伴"),
    ("and", "以及 和 与 及"),
    ("possibly", "可能是 可能 疑似 考虑为 考虑"),
    ("the diagnosis is", "诊断为 诊断是 最可能的诊断是 最可能的诊断为 最可能诊断为 最可能诊断是 考虑诊断为 診断は"),
    ("most likely", "最可能 最有可能"),
    ("probably", "很可能 极可能"),
    ("the patient", "该患者 患者 该病人 病人"),
    ("has", "患有 罹患 患的是"),
    ("consistent with", "符合"),
    ("", "的诊断 です"),
)
_MARKS = str.maketrans({"，": ", ", "、": ", ", "；": "; ", "。": ". ", "：": ": ", "（": " (", "）": ") ", "／": "/"})
# Only words that English lacks identify a language: 'con', 'die' or 'e' alone must not change an English answer.
_TELLING = regex(
    r"(?i)\b(?:oder|und|mit|nicht|keine?[nr]?|ohne|ist|ausgeschlossen|wahrscheinlich|ou|avec|pas|sans|est|mais|exclue?"
    r"|con|sin|pero|sino|es|no es|descartad[oa]"
    r"|ma|senza|non è|não|mas|sem|nem|geen|niet|maar|zonder|nie|lecz|ale|lub|albo|bez|değil|veya|ama"
    r"|debido|y|à|plutôt|probablement|probablemente|weder|ni|né|bzw|beziehungsweise|oppure)\b"
)
_ENGLISH = regex(r"(?i)\b(?:the|and|or|with|is|not|due to|of|likely|diagnosis)\b")
_IDLE = regex(r"[^\w()\[\]<>{}]{24,}")
"""A long run of punctuation without a word; it is reduced to a single mark."""
_O = regex(r"(?<=[\wáéíóúñ]) o (?=[\wáéíóúñ])")
_WORD_FOR = {word: english for english, words in _WORDS.items() for word in words.split()}
_PHRASE_FOR = {phrase: english for english, phrases in _PHRASES.items() for phrase in phrases}
_PHRASE = regex("|".join(re.escape(phrase) for phrase in sorted(_PHRASE_FOR, key=len, reverse=True)), re.IGNORECASE)
_WORD = regex(rf"(?i)\b(?:{'|'.join(sorted(_WORD_FOR, key=len, reverse=True))})\b")
_FOREIGN = regex(
    r"(?i)\b(?:oder|beziehungsweise|bzw|respektive|und|sowie|ou|oppure|nicht|keine?[nr]?|ohne|durch|wegen|aufgrund|aber|sondern|mais|pero|avec|sans|ist"
    r"|weder|ni|wahrscheinlich|vermutlich|probablement|probablemente|möglicherweise|eventuell|peut-être|posiblemente|quizás"
    r"|ausgeschlossen|exclue?|excluid[oa]|descartad[oa]|unwahrscheinlich|senza|não|geen|niet|zonder|maar|lecz|lub|albo|wykluczon[oe]"
    r"|değil|veya|fakat|не|нет|или|либо|но|а|без|исключен[ао]?|вероятно|ليس|ليست|أو|esclus[oa]|excluíd[oa]|uitgesloten)\b"
)
"""Those words of `_WORDS` that occur in no English text."""
_SPARED = regex(r"除了?([^除，,。\n]{1,60}?)(?:以|之)?外(?!科|伤|周|阴|耳)")
"""'All but X' in Chinese."""
_HAN_FOR = {word: english for english, words in _HAN for word in words.split()}
_HAN_WORD = regex("|".join(sorted(_HAN_FOR, key=len, reverse=True)))
_HAS_HAN = regex(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_NO_HAN = regex(r"无(?=\s*[A-Za-z])|이 아니|가 아니")


def cues_in_english(text: str) -> str:
    """Translate joining, denying and hedging words to English, from German, French, Spanish, Chinese and others.

    Names of diseases stay as they are. English words are not changed; Chinese marks and long runs of marks are.
    """
    text = _IDLE.sub(lambda run: "\n" if "\n" in run[0] else ", ", text.translate(_MARKS))
    if _HAS_HAN.search(text):
        text = _SPARED.sub(r" except for \1 ", text)
        text = _PHRASE.sub(lambda match: f"{_PHRASE_FOR[match[0].lower()]} ", text)
        text = _NO_HAN.sub(lambda match: " no " if match[0] == "无" else "이아니", text)
        text = _HAN_WORD.sub(lambda match: f" {_HAN_FOR[match[0]]} ", text)
        text = re.sub(r"(?:\s+|^)是", " is ", text).replace("是", " is ")
    if not _ENGLISH.search(text) and (_TELLING.search(text) or _O.search(text)):
        text = _PHRASE.sub(lambda match: _PHRASE_FOR[match[0].lower()], text)
        text = _O.sub(" or ", _WORD.sub(lambda match: _WORD_FOR[match[0].lower()], text))
    else:  # English, or English among foreign names: replace only words that cannot be English
        text = _PHRASE.sub(lambda match: _PHRASE_FOR[match[0].lower()], text)
        text = _O.sub(" or ", _FOREIGN.sub(lambda match: _WORD_FOR[match[0].lower()], text))
    return text
