"""Reads the answer to a closed question, in a reply's text or from the verb `answer`; it never guesses."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from wardround.engine.records import Action, Json
from wardround.engine.text import later
from wardround.scenarios.parsers.moves import Unusable, schema_of
from wardround.scenarios.parsers.stated_answers import answer_text, plain_signs, stated_answers
from wardround.scenarios.question_item import LETTERS, QuestionItem

_YES = frozenset(
    (
        *("true", "t", "yes", "y", "correct", "right", "accurate", "对", "正确", "是", "真", "有", "存在"),
        *("wahr", "richtig", "ja", "vrai", "oui", "verdadero", "sí", "si"),
    )
)
_NO = frozenset(
    (
        *("false", "f", "no", "n", "incorrect", "wrong", "not correct", "not true", "not right", "not accurate"),
        *("untrue", "inaccurate", "错", "错误", "不正确", "不对", "否", "假", "不是", "没有", "不存在"),
        *("falsch", "nein", "faux", "non", "falso"),
    )
)
_NOT = r"not\s+(?:correct|true|right|accurate)"
_SURELY = r"(?:definitely|absolutely|certainly|clearly|surely|indeed|therefore|thus|hence|so)"
_OPENS = later(
    rf"^[\W_]*(?:(?:{_SURELY}|I(?: would|'d)? (?:say|think|believe)(?: that)?|(?:it|this|that) is)\b[\s,:]*)*"
    rf"(?P<word>{_NOT}|[a-zé\u00ed]+|[\u4e00-\u9fff]{{1,3}})",
    re.IGNORECASE,
)
_HEDGED = later(
    r"\b(?:partly|partially|possibly|may ?be|perhaps|both|neither|either|sometimes|depends)\b|可能|部分|吗|是否|不一定"
    r"|^\W*\w+\s*(?:/|\bor\b|或)|^\W*\w+\W*\?",
    re.IGNORECASE,
)
_BEHIND = later(r"^(?:\W|\b(?:and|or|but)\b)*(?P<word>[^\W\d_]+)\s*(?:[.,;:!?\u3002]|$)", re.IGNORECASE)
_SUBJECT = later(
    r"(?:^|[.!?;:,\n]\s*|\b(?:so|thus|hence|therefore|think|believe|conclude|and|that|because)\s+)"
    r"(?:(?:the|this|her|his|a|student'?s?|offered|given|above)\s+)*"
    r"(?:statement|claim|answer|assertion|it|this|that|she|he|student|alice(?:'s answer)?)[*_\"']*\s+(?:is|was)\s+"
    rf"(?:{_SURELY}\s+)?(?:an?\s+)?[*_\"']*(?P<said>{_NOT}|[a-z]+)\b(?!\s*(?:or\b|/|\?))",
    re.IGNORECASE,
)
_HOLDS = later(
    r"\b(?:statement|claim|assertion)\s+(?P<not>does\s+not\s+hold|fails)|\b(?:statement|claim|assertion)\s+holds\b",
    re.IGNORECASE,
)
_CHINESE = later(
    r"(?:说法|陈述|表述|叙述|论述|观点|命题|该句|此句|这句话|(?:学生的?)?(?<!正确)(?<!最终)(?:回答|答案))(?:是)?"
    r"(?P<said>不正确|不对|错误|错|正确|对|真|假)(?:的)?(?!吗|还是|与否)"
)
_DOUBTED = later(
    r"\b(?:not|never|doubt|whether|if|unless|evidence|case|cannot|deny|unclear|argue[sd]?|some|many|people)\b[^.!?;\n]{0,60}$|n't\b[^.!?;\n]{0,60}$"
    r"|(?:不能说|是否|如果|不认为|无法说)[^\u3002;\n]{0,20}$",
    re.IGNORECASE,
)
_CLAUSE = later(r"[.,;!\n\u3002]")
_SHORT_FORMS = ((re.compile(r"(?i)\b(is|was)n't\b"), r"\1 not"), (re.compile(r"(?i)\b(it|that)'s\b"), r"\1 is"))


def stated_verdict(text: str) -> bool | None:
    """The one verdict that a reply states; None if it is hedged, denied, asked or double."""
    for pattern, plain in _SHORT_FORMS:
        text = pattern.sub(plain, text)
    stated = stated_answers(text)
    firm = [said for one in stated.firm if (said := _of_statement(one)) is not None]
    if firm and "final" in text.casefold():
        return firm[-1]
    lines = [line for line in stated.rest.splitlines() if line.strip()] or [""]
    opening = _opening(stated.rest)
    ends = {polar(line.strip(" \t*_`\"'()[]{}<>#:.!\u3002")) for line in (lines[0], lines[-1])}
    if {True, False} <= {opening, *ends}:
        return None
    verdicts = {*firm} if opening is None else {opening, *firm}
    if not verdicts:
        verdicts = {said for said in (_opening(lines[-1]),) if said is not None} if len(lines) > 1 else set()
    if not verdicts:
        verdicts = set(_subjects(lines[-1])) or set(_subjects(lines[0]))
    return verdicts.pop() if len(verdicts) == 1 else None


def _of_statement(said: str) -> bool | None:
    clause = _CLAUSE.split(said, maxsplit=1)[0]
    return None if _HEDGED.search(clause) else polar(clause.strip(" \t*_`\"'()[]{}<>#:"))


def _opening(said: str) -> bool | None:
    """The verdict that opens a text; None for another word, a hedge beside it, or the opposite behind it."""
    match = _OPENS.match(said)
    if match is None or _HEDGED.search(re.split(r"[.\u3002]", said, maxsplit=1)[0]):
        return None
    verdict, behind = polar(match["word"]), _BEHIND.match(said[match.end() :])
    opposite = verdict is not None and behind is not None and _exactly(behind["word"]) is (not verdict)
    return None if opposite else verdict


def _subjects(line: str) -> list[bool]:
    """The verdicts on a named subject ("the statement is false"), without those that are denied or in doubt."""
    stated = [
        said
        for pattern in (_SUBJECT, _CHINESE)
        for match in pattern.finditer(line)
        if (said := _exactly(match["said"])) is not None and not _DOUBTED.search(line[: match.start("said")])
    ]
    holds = [match["not"] is None for match in _HOLDS.finditer(line) if not _DOUBTED.search(line[: match.start()])]
    return [] if re.search(r"[?]\s*$|吗", line) else [*stated, *holds]


def _exactly(word: str) -> bool | None:
    plain = " ".join(word.casefold().split())
    return False if plain in _NO else True if plain in _YES else None


def polar(word: str) -> bool | None:
    """What a word says, or a Chinese one that begins with such a word; None if nothing."""
    plain = re.sub(r"^是(?=[错对正不假真])", "", " ".join(word.casefold().split()))
    if (verdict := _exactly(plain)) is not None:
        return verdict
    shorter = (plain[:length] for length in (3, 2, 1) if length < len(plain) and re.match(r"[\u4e00-\u9fff]", plain))
    return next((said for part in shorter if (said := _exactly(part)) is not None), None)


_LEAD = later(
    r"^(?P<called>(?:option|choice|answer|letter|选项)\s*)?[ \t]*[(\[*_`\"'{<]*"
    r"(?P<letter>[A-Za-z])(?:选?项)?(?![A-Za-z0-9_'])[)\]*_`\"'}>]*(?P<rest>.*)$",
    re.IGNORECASE | re.DOTALL,
)
_LABELLED = later(
    r"(?:^|(?<=[.;!?\u3002;])\s)[ \t#>*_(\[\-]*(?:(?i:option|choice)[ \t]+)?"
    r"(?P<head>[A-Z])[*_]*[)\].:\u3001](?!\w)"
    r"|\b(?i:so|thus|hence|therefore),?[ \t]+(?:(?i:it is|it's|the answer is|option|choose)[ \t]+)*[*_(]*"
    r"(?P<end>[A-Z])[)*_]*[ \t]*(?=[.;!,]|$)",
    re.MULTILINE,
)
_BRACKET = later(r"^\(?[a-z]\)")
_MORE = later(
    r"^[ \t]*(?:,|and|or|&|/|\+|和|或|还是|、|及)[ \t]*(?:option[ \t]*)?[(*\"']*(?!I[ \t]+[a-z])[A-Z](?![A-Za-z0-9_'])",
    re.IGNORECASE,
)
_DENIED = later(
    r"^(?:definitely |clearly |probably )?(?:(?:not|neither|none of|incorrect|wrong|false|rejected|excluded"
    r"|ruled out)\b"
    r"|no\b(?!\.)|不|非|错)",
    re.IGNORECASE,
)
_NOT_BUT = later(r"^not\s+[^,;.\n]{1,60}?,?\s+but\s+(?:rather\s+)?", re.IGNORECASE)
_SEPARATED = later(
    r"^[ \t]*(?:[:,;!\u3002\u3001)\]]|\.(?!\w)|[\-\u2013\u2014](?!\w)|\(|because|since|as\b|over\b"
    r"|rather than|instead of"
    r"|not[ \t]+[A-Z]\b|因为|由于|正确|不选|而不|而非|$)",
    re.IGNORECASE,
)
_SPECIES = later(r"^\.[ \t]?[a-z]")
"""What stands behind the letter of a genus, as in 'E. coli'."""
_REFUTED = later(
    r"^[\s.:,;)\]*_\-\u2013\u2014]+(?:\([^)\n]{0,80}\)[\s:]*)?(?:is\s+|was\s+|是)?"
    r"(?:(?:incorrect|wrong|false|no|not correct|not right|rejected|excluded|ruled out)\b|错误|不正确|不对|排除)",
    re.IGNORECASE,
)
_JOIN = (
    r"[\s,;/.()\[\]\"'&+\-\u2013\u2014\u3001*_?]*"
    r"(?:(?i:and|or|also|alternatively|possibly|maybe|perhaps|otherwise|else|but|und|oder|ou|et|rather|actually"
    r"|really|it is|"
    r"it's|I|would|should|be|could|can|as well as|followed by|then|plus|\u6216\u8005?|\u548c|\u53ca|\u4e0e|\u8fd8\u662f"
    r"|\u4e5f\u53ef)[\s,:;()]*)*"
)
"""What stands between two options of a list."""
_TRIM = " \t\r\n*_`\"'.,;:!\u3002()[]{}#$\\"
_OPENER = later(
    r"^(?:[^\w(\[\n]+|(?:certainly|sure|okay|ok|of course|so|thus|hence|therefore|probably|most likely"
    r"|definitely|clearly"
    r"|i (?:think|believe|would say)(?: that)?|i'd say(?: that)?|it is|it's|it must be|q(?:uestion)?[ \t]*\d+|\d+"
    r"|answer (?:choice|option|letter)|the letter is|因此|所以|故|我认为是|我觉得是|应该是)(?=[\W]"
    r"|[A-Z])[ \t]*[:.,)!\-]*[ \t]*)",
    re.IGNORECASE,
)
_CONCEDED = later(r"^(?:while|although|though|since|because|as|given)\b[^,\n]*,\s*", re.IGNORECASE)
_SAID_BEFORE = later(r"[.;!?:]\s+|,\s+(?:but|so|and)\s+", re.IGNORECASE)
_LAST_LETTER = later(r"[:,;.][ \t]+(?:option[ \t]+)?[*_(]*(?P<letter>[A-Z])[*_)]*[.!]?$")
_LONGEST_LINE = 400
_NO_SIGN = later(r"^\W*[\u2260\u274c\u2717\u2718\u2716\u00d7\u00ac\U0001f6ab]|^!=")
_RIGHT_ONE = later(
    r"(?:correct|right|actual|proper|best)\s+(?:answer|option|choice|one)\b[^\n]{0,20}?"
    r"(?:is|should be|would be|:)\s*(?P<said>[^\n]*)|\bit\s+should\s+(?:be|have been)\s+(?P<should>[^\n]*)"
    r"|(?:正确|应)(?:的)?(?:答案|选项)?(?:应该|应)?(?:是|为|选)[:]?\s*(?P<chosen>[^\n]*)",
    re.IGNORECASE,
)
_VERDICT_FIRST = later(
    r"^[\W_]*(?:answer\W+)?(?:incorrect|wrong|false|no|错误|不正确|不对|错)[\s,;.:*\u3002\->\u2192]+", re.IGNORECASE
)


class Answered(NamedTuple):
    """What a reply answers: the index of an option, or whether something holds, or both (a rectification)."""

    option: int | None = None
    holds: bool | None = None


def read_choice(reply: str, options: Sequence[str], letters: str) -> Answered | Unusable:
    """The one option that a reply states, as an index into `options`; `letters` are those shown beside them.

    A stated answer ("the answer is C", a heading, a box, JSON) counts before a bare letter or the words of an option,
    and these before a loose one ("C is correct"). Statements that disagree, several letters, or a letter without an
    option are unusable: nothing is guessed.
    """
    text = answer_text(reply)
    if not text:
        return Unusable("empty", "the reply is empty")
    options = [plain_signs(option) for option in options]
    stated = stated_answers(text)
    said = _options(stated.firm, options, letters)
    if said:
        return _one(said, letters)
    lines = [line.strip() for line in stated.rest.splitlines() if line.strip()] or [""]
    labels = _labelled(stated.rest, letters)
    if len(labels) > 1 and _labelled(lines[-1], letters):
        return Unusable("unreadable", "the reply speaks of several options and states none as its answer")
    ends = dict.fromkeys((stated.rest.strip(), lines[0], lines[-1]) if len(labels) < 2 else lines[-1:])
    bare = [choice for part in ends if (choice := _bare(part, options, letters)) is not None]
    return _one(bare or _loosely(stated.loose, options, letters), letters)


def read_verdict(reply: str) -> Answered | Unusable:
    """Whether a reply says true or false, yes or no, correct or incorrect; a hedged or double verdict is unusable."""
    text = answer_text(reply)
    if not text:
        return Unusable("empty", "the reply is empty")
    verdict = stated_verdict(text)
    if verdict is None:
        return Unusable("unreadable", "the reply does not say one of the two")
    return Answered(holds=verdict)


def read_rectification(reply: str, options: Sequence[str], letters: str) -> Answered | Unusable:
    """The verdict on an offered answer and, if it is wrong, the option that the reply puts in its place.

    The option is None if the reply names none.
    """
    verdict = read_verdict(reply)
    if isinstance(verdict, Unusable) or verdict.holds:
        return verdict
    text = answer_text(reply)
    options = [plain_signs(option) for option in options]
    corrected = [match["said"] or match["should"] or match["chosen"] or "" for match in _RIGHT_ONE.finditer(text)]
    said = _options(corrected, options, letters)
    if not said:
        firm = stated_answers(text).firm
        said = _options([_VERDICT_FIRST.sub("", one) for one in (*firm, text.splitlines()[0])], options, letters)
    if not said:
        return Answered(holds=False)
    option = _one(said, letters)
    return option if isinstance(option, Unusable) else Answered(option=option.option, holds=False)


def _options(statements: Sequence[str], options: Sequence[str], letters: str) -> list[int]:
    choices = (_option(statement, options, letters) for statement in statements)
    return [choice for choice in choices if choice is not None]


def _loosely(statements: Sequence[str], options: Sequence[str], letters: str) -> list[int]:
    """The options of loose statements: of a whole one, else of what follows a concession or another sentence in it."""
    wholes = [(said, _option(said, options, letters)) for said in statements]
    tails = [_SAID_BEFORE.split(_CONCEDED.sub("", said))[-1] if whole is None else "" for said, whole in wholes]
    return [whole for _, whole in wholes if whole is not None] + _options(tails, options, letters)


def _bare(line: str, options: Sequence[str], letters: str) -> int | None:
    """The option that a line without a statement consists of, behind words such as `I think it is`."""
    if _NO_SIGN.match(line):
        return None
    choice, shorter = _option(line, options, letters, alone=True), line[:_LONGEST_LINE]
    loose = _loosely(stated_answers(shorter).loose, options, letters)
    if choice is not None and ((loose and choice not in loose) or _ends_otherwise(line, choice, options, letters)):
        return -1
    while choice is None and (opener := _OPENER.match(shorter)) and opener.end():
        shorter = shorter[opener.end() :]
        choice = _option(shorter, options, letters, alone=True)
    return choice


def _ends_otherwise(line: str, choice: int, options: Sequence[str], letters: str) -> bool:
    """Whether a line that opens with an option ends with the letter of another: 'A: in youth. But here: B'."""
    last = _LAST_LETTER.search(line)
    own = max(choice, 0)
    whole = line.casefold().rstrip(" .*_").endswith(_plain(options[own]))
    return last is not None and not whole and last["letter"] in letters and last["letter"] != letters[own]


def _labelled(text: str, letters: str) -> set[str]:
    """The letters that head a clause ("A: fits the fever. B. too early") or end an inference ("therefore D.")."""
    heads = (match["head"] or match["end"].upper() for match in _LABELLED.finditer(text))
    return {letter for letter in heads if letter in letters}


def _option(said: str, options: Sequence[str], letters: str, *, alone: bool = False) -> int | None:
    """The option that a statement names: by its words, or by its letter; -1 for several or for a letter beyond."""
    index = _first_option(said, options, letters, alone=alone)
    return -1 if index is not None and index >= 0 and _goes_on(said, index, options, letters) else index


def _goes_on(said: str, index: int, options: Sequence[str], letters: str) -> bool:
    """Whether a statement names another option right behind the first: 'A; B', 'A (or B)', 'Colitis, Asthma'."""
    alone = {match[0] for match in _ALONE.finditer(said)}
    others = [place for place in range(len(options)) if place != index]
    if not any(letters[place] in alone or _may_hold(said, options[place].strip()) for place in others):
        return False  # the pattern below is made for these options alone, which takes far longer
    text = re.escape(options[index].strip())
    own = rf"^[\W_]*+(?:(?i:option|choice|answer)\s+)?+(?:{letters[index]}\b)?+[\W_]*+(?i:{text})?+"
    named = "|".join(
        rf"{letters[place]}(?=\s*(?:$|[,;/)\]\"']|(?:and|or)\b|[.:]\s*(?:$|(?i:{re.escape(options[place].strip())}))))"
        rf"|(?i:{re.escape(options[place].strip())})(?!\w)"
        for place in others
    )
    return re.match(rf"{own}{_JOIN}(?:(?i:option)\s+)?(?:{named})", said) is not None


_ALONE = later(r"[A-Z](?=\s*(?:$|[,;/).:]|(?:and|or)\b))")
"""Every letter that `_goes_on` may read as another option."""


def _may_hold(said: str, text: str) -> bool:
    """Whether a statement may hold these words in any case; only ASCII is that quick to compare."""
    return not said.isascii() or not text.isascii() or text.lower() in said.lower()


def _first_option(said: str, options: Sequence[str], letters: str, *, alone: bool) -> int | None:
    said = _NOT_BUT.sub("", said.strip(" \t*_`\"'$"))
    plain = _plain(said)
    if len(plain) == 1 and plain.upper() in letters:
        return None if said.rstrip().endswith("?") else letters.index(plain.upper())
    exact = [index for index, option in enumerate(options) if _plain(option) == plain]
    if len(exact) == 1:
        return exact[0]
    if not said or _DENIED.match(said):
        return None
    lead = _LEAD.match(said)
    if lead is None or (alone and not lead["called"] and not lead["letter"].isupper() and not _BRACKET.match(said)):
        return _by_words(plain, options)
    return _by_letter(lead, plain, options, letters)


def _by_letter(lead: re.Match[str], plain: str, options: Sequence[str], letters: str) -> int | None:
    """The option whose letter opens a statement; -1 for several letters or one beyond."""
    rest = lead["rest"]
    index = letters.index(lead["letter"].upper()) if lead["letter"].upper() in letters else -1
    own = index >= 0 and _plain(rest).startswith(_plain(options[index]))
    worded = None if own else _by_words(plain, options)
    if worded is not None:
        return worded
    if _MORE.match(rest):
        return -1
    behind = rest.strip(_TRIM)[len(_plain(options[index])) :] if own else rest
    if _REFUTED.match(behind if own else rest) or (not own and _SPECIES.match(rest)):
        return None
    return index if own or _SEPARATED.match(rest) else None


def _by_words(plain: str, options: Sequence[str]) -> int | None:
    """The only option whose words begin the statement; the longest, where one begins another."""
    matches = [
        index
        for index, option in enumerate(options)
        if plain.startswith(_plain(option)) and _SEPARATED.match(plain[len(_plain(option)) :])
    ]
    best = max(matches, key=lambda index: len(_plain(options[index]))) if matches else None
    if best is not None and sum(_plain(option) == _plain(options[best]) for option in options) > 1:
        return -1
    return None if best is None or _REFUTED.match(plain[len(_plain(options[best])) :]) else best


def _one(said: Sequence[int], letters: str) -> Answered | Unusable:
    named = dict.fromkeys(said)
    if -1 in named:
        return Unusable("unreadable", f"the reply names several options, or one beyond {letters[-1]}")
    if len(named) != 1:
        why = "names no option" if not named else "states different options"
        return Unusable("unreadable", f"the reply {why}")
    return Answered(option=next(iter(named)))


def _plain(text: str) -> str:
    text = text.strip(_TRIM)
    text = text[1:-1].strip(_TRIM) if text.startswith("<") and text.endswith(">") else text
    return " ".join(text.casefold().split())


def answer_schemas(item: QuestionItem) -> dict[str, Json]:
    """The verb `answer` with the arguments of the item's form."""
    letters = {"type": "string", "enum": list(LETTERS[: len(item.options)])}
    if not item.closed:
        text = {"type": "string", "description": "The answer."}
        return {"answer": schema_of("Answer the question.", text=text)}
    if item.form == "choice":
        option = {**letters, "description": "The letter of the right option."}
        return {"answer": schema_of("Choose the right option.", option=option)}
    holds = {"type": "boolean", "description": _WHAT_HOLDS[item.form]}
    if item.form == "rectification":
        right = {
            "type": "string",
            "enum": ["", *letters["enum"]],
            "description": "The right one, if the answer is not.",
        }
        return {"answer": schema_of("Judge the offered answer.", holds=holds, option=right)}
    return {"answer": schema_of("Say true or false.", holds=holds)}


_WHAT_HOLDS = {
    "statement": "Whether the statement is true.",
    "existence": "Whether the right answer is among the options.",
    "rectification": "Whether the offered answer is right.",
}


def written_answer(item: QuestionItem, action: Action) -> str:
    """A typed answer as it would be written."""
    letter, holds = action.args.get("option"), action.args.get("holds")
    match item.form:
        case "choice":
            return f"Answer: {letter}"
        case "statement":
            return f"Answer: {'true' if holds else 'false'}"
        case "existence":
            return f"Answer: {'yes' if holds else 'no'}"
        case "rectification":
            return "Answer: correct" if holds else f"Answer: incorrect, the correct answer is {letter}"
    return action.text.strip()


def typed_answer(item: QuestionItem, action: Action) -> Answered | Unusable:
    """What the verb answers, by the options as shown; any JSON is accepted, and what makes no answer is unusable."""
    letter, holds = action.args.get("option"), action.args.get("holds")
    if not item.closed:
        return Answered() if action.text.strip() else Unusable("empty", "an answer without text", "bad_arguments")
    if item.form != "choice" and not isinstance(holds, bool):
        return Unusable("unreadable", "an answer without `holds`, true or false", "bad_arguments")
    if item.form in ("statement", "existence") or (item.form == "rectification" and holds):
        return Answered(holds=holds)
    named = letter.strip().upper() if isinstance(letter, str) else ""
    index = LETTERS[: len(item.options)].find(named) if len(named) == 1 else -1
    if index < 0:
        wrong = item.form == "rectification" and not letter
        return Answered(holds=False) if wrong else Unusable("unreadable", "no option by its letter", "bad_arguments")
    return Answered(index, False if item.form == "rectification" else None)
