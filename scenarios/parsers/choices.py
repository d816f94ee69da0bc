"""Reads the answer to a closed question: in a reply's text, from the verb `answer`, or from log-probabilities.

It never guesses: a reply that does not state one answer is unusable.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from wardround.engine.records import Action, Json
from wardround.engine.text import regex
from wardround.scenarios.parsers.moves import Unusable, schema_of
from wardround.scenarios.parsers.stated_answers import answer_text, last_word, plain_signs, stated_answers, unsaid
from wardround.scenarios.parsers.stated_verdict import stated_verdict
from wardround.scenarios.question_item import LETTERS, QuestionItem

_LEAD = regex(
    r"^(?P<called>(?:option|choice|answer|letter|选项)\s*)?[ \t]*[(\[*_`\"'{<]*"
    r"(?P<letter>[A-Za-z])(?:选?项)?(?![A-Za-z0-9_'])[)\]*_`\"'}>]*(?P<rest>.*)$",
    re.IGNORECASE | re.DOTALL,
)
_LABELLED = regex(
    r"(?:^|(?<=[.;!?\u3002;])\s)[ \t#>*_(\[\-]*(?:(?i:option|choice)[ \t]+)?"
    r"(?P<head>[A-Z])[*_]*[)\].:\u3001](?!\w)"
    r"|\b(?i:so|thus|hence|therefore),?[ \t]+(?:(?i:it is|it's|the answer is|option|choose)[ \t]+)*[*_(]*"
    r"(?P<end>[A-Z])[)*_]*[ \t]*(?=[.;!,]|$)",
    re.MULTILINE,
)
_BRACKET = regex(r"^\(?[a-z]\)")
_MORE = regex(
    r"^[ \t]*(?:,|and|or|&|/|\+|和|或|还是|、|及)[ \t]*(?:option[ \t]*)?[(*\"']*(?!I[ \t]+[a-z])[A-Z](?![A-Za-z0-9_'])",
    re.IGNORECASE,
)
_DENIED = regex(
    r"^(?:definitely |clearly |probably )?(?:(?:not|neither|none of|incorrect|wrong|false|rejected|excluded"
    r"|ruled out)\b"
    r"|no\b(?!\.)|不|非|错)",
    re.IGNORECASE,
)
_NOT_BUT = regex(r"^not\s+[^,;.\n]{1,60}?,?\s+but\s+(?:rather\s+)?", re.IGNORECASE)
_SEPARATED = regex(
    r"^[ \t]*(?:[:,;!\u3002\u3001)\]]|\.(?!\w)|[\-\u2013\u2014](?!\w)|\(|because|since|as\b|over\b"
    r"|rather than|instead of"
    r"|not[ \t]+[A-Z]\b|因为|由于|正确|不选|而不|而非|$)",
    re.IGNORECASE,
)
_SPECIES = regex(r"^\.[ \t]?[a-z]")
"""The word after the letter of a genus, as in 'E. coli'."""
_REFUTED = regex(
    r"^[\s.:,;)\]*_\-\u2013\u2014]+(?:\([^)\n]{0,80}\)[\s:]*)?(?:is\s+|was\s+|是)?"
    r"(?:(?:incorrect|wrong|false|no|not correct|not right|rejected|excluded|ruled out)\b|错误|不正确|不对|排除)",
    re.IGNORECASE,
)
_JOIN = (
    r"[\s,;/.()\[\]\"'&+\-\u2013\u2014\u3001*_?]*"
    r"(?:(?i:and|or|also|alternatively|possibly|maybe|perhaps|otherwise|else|but|und|oder|ou|et|rather|actually"
    r"|really|choose|pick|select|\d+\s?%|it is|"
    r"it's|I|would|should|be|could|can|as well as|followed by|then|plus|unless|if not|failing (?:that|which)"
    r"|\u9664\u975e\u662f?|\u4e5f\u53ef\u9009|\u6216\u8005?|\u548c|\u53ca|\u4e0e|\u8fd8\u662f"
    r"|\u4e5f\u53ef)[\s,:;()]*)*"
)
"""What stands between two options of a list."""
_TRIM = " \t\r\n*_`\"'.,;:!\u3002()[]{}#$\\"
_OPENER = regex(
    r"^(?:[^\w(\[\n]+|(?:certainly|sure|okay|ok|of course|so|thus|hence|therefore|probably|most likely"
    r"|definitely|clearly"
    r"|i (?:think|believe|would say)(?: that)?|i'd say(?: that)?|it is|it's|it must be|q(?:uestion)?[ \t]*\d+|\d+"
    r"|answer (?:choice|option|letter)|the letter is|因此|所以|故|我认为是|我觉得是|应该是)(?=[\W]"
    r"|[A-Z])[ \t]*[:.,)!\-]*[ \t]*)",
    re.IGNORECASE,
)
_CONCEDED = regex(r"^(?:while|although|though|since|because|as|given)\b[^,\n]*,\s*", re.IGNORECASE)
_SAID_BEFORE = regex(r"[.;!?:]\s+|,\s+(?:but|so|and)\s+", re.IGNORECASE)
_LAST_LETTER = regex(r"[:,;.][ \t]+(?:option[ \t]+)?[*_(]*(?P<letter>[A-Z])[*_)]*[.!]?$")
_LONGEST_LINE = 400
_NO_SIGN = regex(r"^\W*[\u2260\u274c\u2717\u2718\u2716\u00d7\u00ac\U0001f6ab]|^!=")
_RIGHT_ONE = regex(
    r"(?:correct|right|actual|proper|best)\s+(?:answer|option|choice|one)\b[^\n]{0,20}?"
    r"(?:is|should be|would be|:)\s*(?P<said>[^\n]*)|\bit\s+should\s+(?:be|have been)\s+(?P<should>[^\n]*)"
    r"|(?:正确|应)(?:的)?(?:答案|选项)?(?:应该|应)?(?:是|为|选)[:]?\s*(?P<chosen>[^\n]*)",
    re.IGNORECASE,
)
_VERDICT_FIRST = regex(
    r"^[\W_]*(?:answer\W+)?(?:incorrect|wrong|false|no|错误|不正确|不对|错)[\s,;.:*\u3002\->\u2192]+", re.IGNORECASE
)


_BRANCHES = regex(
    r"\b(?P<one>[A-Z]),?\s+(?:if|when|in case)\b[^.;,\n]{0,120}[.;,]\s*(?:and\s+|but\s+)?"
    r"(?:if|when|otherwise|else|in\s+case)\b[^.\n]{0,120}?\b(?P<two>[A-Z])(?=\s*(?:[.;!,)]|$))"
)
"""An answer that depends on a condition: 'C if the patient is young; if old, A'."""


class Answered(NamedTuple):
    """What a reply answers: the index of an option, whether something holds, or both (in a rectification)."""

    option: int | None = None
    holds: bool | None = None


_UNSAID = Unusable("unreadable", "the reply takes its answer back")
_UNCLEAR = -1
"""In place of an option's index: the statement names several options, or a letter beyond them."""


def read_choice(reply: str, options: Sequence[str], letters: str) -> Answered | Unusable:
    """The one option that a reply states, as an index into `options`; `letters` are the letters shown beside them.

    A stated answer ("the answer is C", a heading, a box, JSON) counts before a bare letter or the words of an option,
    and these count before a loose statement ("C is correct"). What the reply takes back ("wait, no: B") does not count.
    Statements that disagree, several letters, or a letter without an option make the reply unusable.

    ::

        read_choice("The answer is B.", ("gout", "asthma"), "AB")  # Answered(option=1)
    """
    text = answer_text(reply)
    if not text:
        return Unusable("empty", "the reply is empty")
    if unsaid(text):
        return _UNSAID
    if (branches := _BRANCHES.search(text)) and branches["one"] != branches["two"]:
        return Unusable("unreadable", "the reply gives one answer for one case and another for the other")
    options = [plain_signs(option) for option in options]
    changed = _chosen(last, options, letters) if (last := last_word(text)) else None
    return changed if isinstance(changed, Answered) else _chosen(text, options, letters)


def _chosen(text: str, options: Sequence[str], letters: str) -> Answered | Unusable:
    """The one option that a text states."""
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
    """Whether a reply says true or false, yes or no, correct or incorrect. A hedged or double verdict is unusable."""
    text = answer_text(reply)
    if not text:
        return Unusable("empty", "the reply is empty")
    if unsaid(text):
        return _UNSAID
    changed = stated_verdict(last) if (last := last_word(text)) else None
    verdict = stated_verdict(text) if changed is None else changed
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
    last = last_word(text)
    said = _options(_corrected(last), options, letters) if last else []
    if not said and last and isinstance(changed := _chosen(last, options, letters), Answered):
        return Answered(changed.option, False)
    said = said or _options(_corrected(text), options, letters)
    if not said:
        firm = stated_answers(text).firm
        said = _options([_VERDICT_FIRST.sub("", one) for one in (*firm, text.splitlines()[0])], options, letters)
    if not said:
        return Answered(holds=False)
    option = _one(said, letters)
    return option if isinstance(option, Unusable) else Answered(option=option.option, holds=False)


def _corrected(text: str) -> list[str]:
    """The texts that a reply puts in the place of the offered answer; a line may hold several."""
    chosen: list[str] = []
    for match in _RIGHT_ONE.finditer(text):
        said = match["said"] or match["should"] or match["chosen"] or ""
        chosen += [said, *(again["said"] or again["should"] or "" for again in _RIGHT_ONE.finditer(said))]
    return chosen


def _options(statements: Sequence[str], options: Sequence[str], letters: str) -> list[int]:
    choices = (_option(statement, options, letters) for statement in statements)
    return [choice for choice in choices if choice is not None]


def _loosely(statements: Sequence[str], options: Sequence[str], letters: str) -> list[int]:
    """The options that loose statements name: each as a whole, else its part after a concession or another sentence."""
    wholes = [(said, _option(said, options, letters)) for said in statements]
    tails = [_SAID_BEFORE.split(_CONCEDED.sub("", said))[-1] if whole is None else "" for said, whole in wholes]
    return [whole for _, whole in wholes if whole is not None] + _options(tails, options, letters)


def _bare(line: str, options: Sequence[str], letters: str) -> int | None:
    """The option of a line that consists of it, perhaps after words such as 'I think it is'; None or `_UNCLEAR`."""
    if _NO_SIGN.match(line):
        return None
    choice, shorter = _option(line, options, letters, alone=True), line[:_LONGEST_LINE]
    loose = _loosely(stated_answers(shorter).loose, options, letters)
    if choice is not None and ((loose and choice not in loose) or _ends_otherwise(line, choice, options, letters)):
        return _UNCLEAR
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
    """The option that a statement names by its words or letter; None if it names none, `_UNCLEAR` if it names several.

    With `alone`, the statement is a whole line, and a small letter in it names an option only in brackets ('(b)').
    """
    index = _first_option(said, options, letters, alone=alone)
    several = index is not None and index != _UNCLEAR and _goes_on(said, index, options, letters)
    return _UNCLEAR if several else index


def _goes_on(said: str, index: int, options: Sequence[str], letters: str) -> bool:
    """Whether a statement names another option right after the first: 'A; B', 'A (or B)', 'Colitis, Asthma'."""
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


_ALONE = regex(r"[A-Z](?=\s*(?:$|[,;/).:]|(?:and|or)\b))")
"""Every letter that `_goes_on` may read as another option."""


def _may_hold(said: str, text: str) -> bool:
    """Whether a statement may hold these words, in upper or lower case; outside ASCII it always may."""
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
    """The option whose letter opens a statement; `_UNCLEAR` for several letters, or for a letter without an option."""
    rest = lead["rest"]
    index = letters.index(lead["letter"].upper()) if lead["letter"].upper() in letters else _UNCLEAR
    own = index != _UNCLEAR and _plain(rest).startswith(_plain(options[index]))
    worded = None if own else _by_words(plain, options)
    if worded is not None:
        return worded
    if _MORE.match(rest):
        return _UNCLEAR
    behind = rest.strip(_TRIM)[len(_plain(options[index])) :] if own else rest
    if _REFUTED.match(behind if own else rest) or (not own and _SPECIES.match(rest)):
        return None
    return index if own or _SEPARATED.match(rest) else None


def _by_words(plain: str, options: Sequence[str]) -> int | None:
    """The option whose words begin the statement: the longest, if the words of one option begin with another's."""
    matches = [
        index
        for index, option in enumerate(options)
        if plain.startswith(_plain(option)) and _SEPARATED.match(plain[len(_plain(option)) :])
    ]
    best = max(matches, key=lambda index: len(_plain(options[index]))) if matches else None
    if best is not None and sum(_plain(option) == _plain(options[best]) for option in options) > 1:
        return _UNCLEAR
    return None if best is None or _REFUTED.match(plain[len(_plain(options[best])) :]) else best


def _one(said: Sequence[int], letters: str) -> Answered | Unusable:
    named = dict.fromkeys(said)
    if _UNCLEAR in named:
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
    """The schema of the verb `answer`, with the arguments that the item's form needs."""
    letters = {"type": "string", "enum": list(LETTERS[: len(item.options)])}
    if not item.closed:
        return {"answer": schema_of("Answer the question.", text={"type": "string", "description": "The answer."})}
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
    """A typed answer as the doctor would write it in a reply."""
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
    """The answer of the verb `answer`, by the options as shown; Unusable if its arguments (any JSON) answer nothing."""
    letter, holds = action.args.get("option"), action.args.get("holds")
    if not item.closed:
        return Answered() if action.text.strip() else Unusable("empty", "an answer without text", "bad_arguments")
    if item.form != "choice" and not isinstance(holds, bool):
        return Unusable("unreadable", "an answer without `holds`, true or false", "bad_arguments")
    if item.form in ("statement", "existence") or (item.form == "rectification" and holds):
        return Answered(holds=holds)
    named = letter.strip().upper() if isinstance(letter, str) else ""
    letters = LETTERS[: len(item.options)]
    index = letters.find(named) if len(named) == 1 else -1
    if len(named) > 1 and isinstance(read := read_choice(f"Answer: {letter}", item.options, letters), Answered):
        index = -1 if read.option is None else read.option
    if index < 0:
        wrong = item.form == "rectification" and not letter
        return Answered(holds=False) if wrong else Unusable("unreadable", "no option by its letter", "bad_arguments")
    return Answered(index, False if item.form == "rectification" else None)


LOGPROBS = "logprobs"
"""The argument of an action that holds the alternatives for the first token, as pairs (token, log-probability); None if
the endpoint gave none."""
NO_LOGPROBS = "no_logprobs"
NO_OPTION = "no_option_in_logprobs"
TIED = "tied_options"
_AROUND = " \t\r\n*_`\"'([{\u2581\u0120\u010a"
"""What may stand before a letter in a token; the last three mark a space or a new line in some vocabularies."""


def is_scored(action: Action) -> bool:
    """Whether the agent asked for log-probabilities, whether or not it got any."""
    return LOGPROBS in action.args


def option_logprobs(action: Action, candidates: Mapping[str, str]) -> dict[str, float] | str:
    """The log-probability of each candidate among the alternatives, or the reason why there is none.

    `candidates` maps names to the words with which an answer begins. Single letters must equal the token. With longer
    words, a token stands for a candidate if it begins the candidate's word, in upper or lower case, and no other word.
    The probabilities of several such tokens are added. A candidate that is not among the endpoint's alternatives is
    left out.
    """
    rows = action.args.get(LOGPROBS)
    if not isinstance(rows, list | tuple) or not rows:
        return NO_LOGPROBS
    mass: dict[str, float] = {}
    for row in rows:
        token, value = _pair(row)
        name = _candidate(token.strip(_AROUND).rstrip(".:,)]}"), candidates)
        if name and value <= 0:
            mass[name] = mass.get(name, 0.0) + math.exp(value)
    return {name: round(math.log(mass[name]), 9) for name in candidates if mass.get(name)} or NO_OPTION


def likeliest(scores: Mapping[str, float]) -> str | None:
    """The candidate with the largest log-probability; None if two share it."""
    first = max(scores, key=lambda name: scores[name])
    return first if sum(value == scores[first] for value in scores.values()) == 1 else None


def probability(scores: Mapping[str, float], name: str) -> float:
    """The probability of a candidate relative to all candidates in `scores`; 0 if it is not among them."""
    return math.exp(scores[name]) / sum(math.exp(value) for value in scores.values()) if name in scores else 0.0


def _pair(row: Json) -> tuple[str, float]:
    if not isinstance(row, Sequence) or len(row) != 2 or isinstance(row, str):
        return "", 1.0
    token, value = row
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and value == value  # noqa: PLR0124 NaN
    return (token, float(value)) if isinstance(token, str) and is_number else ("", 1.0)


def _candidate(token: str, candidates: Mapping[str, str]) -> str:
    if not token:
        return ""
    if all(len(word) == 1 for word in candidates.values()):
        return next((name for name, word in candidates.items() if token == word), "")
    begun = [name for name, word in candidates.items() if word.casefold().startswith(token.casefold())]
    return begun[0] if len(begun) == 1 else ""
