"""Reads which items of its lists a sentence affirms, which it denies and which it leaves open.

A cue denies forwards ('no fever', 'denied fever') or backwards ('a rash was absent', 'HIV: negative'), as in NegEx
(Chapman 2001). Its reach ends at a verb, at a conjunction of clauses or at a comma that may end a list. An item that is
not certain is left open.
"""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from wardround.scenarios.reports.statements import CLAUSE_END, LITTLE, concepts_text, plain_denials, word_concept


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_LIMITS = _set(
    """initial initially subsequently further additional other others significant significantly relevant recent recently
    ago prior previous previously past current currently more most per left right bilateral both normal"""
)
"""Words that narrow what is denied: a patient without 'new lesions' may have lesions."""
_SEEN = _set(
    """reported noted observed seen found detected identified present evident performed elicited visible palpable
    demonstrated appreciated apparent documented recorded felt heard there described isolated revealed known sought
    palpated reveal recognized recognised audible noticed discernible used available shown"""
)
"""Words after 'was' or 'was not' that say whether something was there."""
_REST = _set(
    """any detect taken given received receive raised kind however about said stated told appear appeared so far yet
    just either neither ever place happen happened occurred occur"""
)
_SILENT = (LITTLE - _LIMITS) | _SEEN | _REST
"""Words that say nothing about what is affirmed or denied."""
_SUBJECTS = _set("no neither nor nobody")
_FORWARD = _SUBJECTS | _set("without denied denies deny denying not never cannot ruled~out negative~for")
_BACKWARD = _set("wanting lacking absent negative nil ruled~out denied")
_CARRIED = {"not": "predicate", "never": "predicate", **dict.fromkeys(("denied", "denies", "denying", "deny"), "verb")}
"""How a cue goes on over a list, for those cues that do not go on like 'no' before a noun."""
_LINKS = _set("is are was were be been being remained became stayed turned came tested")
_HELPERS = _set("had have has did been be do does")
_ACTIVE = (_LINKS - _HELPERS) | _set(
    """showed shows revealed demonstrated presented developed reported found took drank smoked lived worked gave felt
    noticed led brought helped caused explained relieved improved went could can would will grew started began received
    underwent"""
)
"""Verbs at which the reach of a cue ends."""
_HEDGES = _set(
    """none unknown avoided avoids gave empty nothing excluding against argued arguing below stopped ceased quit ex
    former interrupted discontinued lost loss missed abandoned lack cannot could hardly scarcely barely rarely
    seldom until unless except doubtful unlikely possible possibly suspected suspicion query~it if unclear uncertain
    risk without~ free otherwise else apart besides poorly badly inadequately insufficiently order hope hoping wish
    trying normalized disappeared resolved subsided gone vanished instead than rather expected exclude considered"""
)
"""Words that leave an item open, because they reverse or weaken what it says."""
_ALONG = _set("in on at of to from")
"""Prepositions with which a denied item goes on."""
_ENDS = _set(
    """because since although though which who whom whose that when where while until therefore hence so thus despite
    due after before whereas as if than with for upon during by suggesting showing excluding except owing"""
)
"""Words at which the reach of a denial ends."""
_RELATIVE = _set("which who that where when while")
_REASONS = _set("by on with in at based because")
_MANNER = _set("by with for during on from after until before")
_DEGREES = _set("only just necessarily fully yet due related")
_THE = _set("the a an his her some its their")
_NEW_SUBJECTS = _set("with he she it they there some several multiple many numerous")
_COUNTS = _set("one two three four five six seven eight nine ten")
_RESULTS = _set(
    """positive negative negative~for reactive nonreactive no~reactive detected identified isolated grew grown yielded
    demonstrated confirmed elevated elevate raised increased high present"""
)
"""Words that give the result of a test."""
_SIGNS_TEXT = "history sign symptom evidence feature finding suspicion presence complaint episode use abuse"
_SIGNS = frozenset(word_concept(one) for one in _SIGNS_TEXT.split())
"""Words after which 'of' names what is denied: 'no history of'."""
_LOOKED_FOR = frozenset(("testing", "tested", "screening", "employed", "rejected"))
"""Words that only say that a test was performed, and not what it showed."""


@dataclass(slots=True)
class StatedItem:
    """An item of a list, with the concepts of its `words`.

    `affirmed` is False if it is denied and None if it is open. `clause` is the number of its clause in the sentence,
    negative in brackets. `context` are the concepts that say where or by what it is denied. `result` says whether a
    word of a result ('positive', 'negative', 'detected') judges it.
    """

    words: frozenset[str]
    affirmed: bool | None
    clause: int
    context: frozenset[str] = frozenset()
    result: bool = False


def item_concepts(lows: Sequence[str]) -> frozenset[str]:
    """The concepts of words in lower case, without the words that say nothing or are cues."""
    plain = (low.removeprefix("no~") for low in lows)
    return frozenset(word_concept(low) for low in plain if low[:1].isalpha() and len(low) > 1 and _tells(low))


def _tells(low: str) -> bool:
    return low not in _SILENT and low not in _FORWARD and low not in _BACKWARD and low != "positive"


_NOR = re.compile(r"(?i)\bnor\b")
_IN_VAIN = re.compile(
    r"(?i)\b(?:were |was )?(?:sought|looked for|searched for)(?:,? but (?:were |was )?not (?:found|seen)| in vain)"
)
_BRACKET = re.compile(r"[(\[][^()\[\]]*[)\]]")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_~]*(?:-\d+\w*)?(?:'[a-z]+)?|\d+(?:[.,\u00b7]\d+)*|[,:]")
_NONE = re.compile(r"(?i)\bnone\b(?! of)[^:]*$")


@lru_cache(maxsize=16384)
def stated_items(sentence: str) -> tuple[StatedItem, ...]:
    """The items of a sentence.

    ::

        >>> [(sorted(one.words), one.affirmed) for one in stated_items("Fever without cough or rash")]
        [(['fever'], True), (['cough'], False), (['rash'], False)]
    """
    text = plain_denials(concepts_text(_IN_VAIN.sub(" absent", _NOR.sub("or no", sentence))))
    read: list[StatedItem] = []
    for number, inner in enumerate(_BRACKET.findall(text), 1):
        lows = _lows(inner)
        for one in _Clause(lows, -number).items():
            one.affirmed = one.affirmed if one.affirmed is False or "positive" in lows else None
            read.append(one)
    for number, piece in enumerate(CLAUSE_END.split(_BRACKET.sub(" ", text))):
        read += _Clause(_lows(piece), number).items()
    if _NONE.search(sentence) and ":" not in sentence:  # 'on the right there was none'
        for one in read:
            one.affirmed = one.affirmed and None
    return tuple(read)


def _lows(text: str) -> list[str]:
    return [hit[0].lower().removesuffix("'s") for hit in _WORD.finditer(text)]


def _parts(lows: Sequence[str]) -> list[tuple[str, list[str]]]:
    """(separator before, words) of the items of a clause."""
    parts: list[tuple[str, list[str]]] = []
    joint: str = ""
    words: list[str] = []
    for low in (*lows, ","):
        if low not in (",", "and", "or", ":"):
            words.append(low)
            continue
        if words:
            parts.append((joint, words))
            joint, words = "", []
        joint = f"{joint} {low}".strip()
    return parts


def _measured(words: Sequence[str]) -> bool:
    return any(low[0].isdigit() or low in _COUNTS for low in words[1:])


def _first(words: Sequence[str], wanted: frozenset[str]) -> int | None:
    return next((at for at, low in enumerate(words) if low in wanted), None)


def _seen(words: Sequence[str], verb: int) -> bool:
    """Whether a verb says that the thing before it was or was not there: 'was noted'."""
    behind = words[verb + 1 : verb + 4] if words[verb] in _LINKS else ()
    return bool(set(behind) & (_SEEN | _BACKWARD)) or bool(set(words[verb + 1 : verb + 2]) & _SEEN)


def _reached(words: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """(the words that a cue before them reaches, the rest)."""
    end = next((at for at, low in enumerate(words) if low in _ENDS or (at and low in _ACTIVE)), len(words))
    return words[:end], words[end:]


class _Clause:
    """Reads the items of a clause, from left to right.

    `_carry` says how the last cue goes on over the list ('' if it has ended), `_of` whether a preposition followed what
    it denied last.
    """

    def __init__(self, lows: Sequence[str], number: int) -> None:
        self._parts = _parts(lows)
        self._number = number
        self._items: list[StatedItem] = []
        self._carry: Literal["", "open", "noun", "verb", "predicate"] | str = ""
        self._of = False

    def items(self) -> list[StatedItem]:
        """The items of the clause that have any concept."""
        first = self._parts[0][1] if self._parts else []
        if first[:1] == ["not"] and (_THE | _ALONG) & set(first[1:2]):  # 'but not the girth'
            return [StatedItem(item_concepts(words), None, self._number) for _, words in self._parts]
        for place, (joint, words) in enumerate(self._parts):
            if not self._labelled(place, joint, words):
                self._read(place, joint, self._turned(words))
        return [one for one in self._items if one.words]

    def _add(
        self, words: Sequence[str], affirmed: bool | None, whole: Sequence[str], context: Sequence[str] = ()
    ) -> None:
        value = any(one in _LINKS and other[0].isdigit() for one, other in itertools.pairwise(whole))
        sure = not _HEDGES.intersection(whole) and not (affirmed and (value or _LOOKED_FOR.intersection(whole)))
        self._items.append(
            StatedItem(
                item_concepts(words),
                affirmed if sure else None,
                self._number,
                item_concepts(context),
                bool(_RESULTS.intersection(whole)),
            )
        )

    def _plain(self, words: Sequence[str], affirmed: bool | None, whole: Sequence[str]) -> None:
        """Add words without a cue; a word that denies by itself ('no~fever') becomes an item of its own."""
        denied = affirmed and None if affirmed is None else not affirmed
        lone = [low for low in words if low.startswith("no~")]
        if not lone or "no~normal" in lone:
            self._add(words, denied if lone else affirmed, whole)
            return
        rest = [low for low in words if low not in lone]
        for low in lone:
            self._add([low], denied, whole, rest)
        self._add(rest, None, whole)

    def _labelled(self, place: int, joint: str, words: list[str]) -> bool:
        """Judge by the form of an item ('as was cough', 'cough: none', 'absent: cough'); True if that is all of it."""
        if words[0] == "as" and words[1:2] and words[1] in _LINKS and self._items:
            self._items.append(StatedItem(item_concepts(words), self._items[-1].affirmed, self._number))
            self._carry = "verb" if self._items[-1].affirmed is False else ""
            return True
        if ":" in joint and words[0] == "positive" and self._items:
            self._items[-1].result = True
        if ":" in joint and (words[0] == "none" or words[0] in _BACKWARD or words[0] in _FORWARD):
            bare = words[0] == "none" or not item_concepts(words)
            labels = sum(":" in one for one, _ in self._parts)
            for one in self._items[-1:] if labels > 1 else self._items:
                one.affirmed = False if bare else None
            return bare
        if len(words) == 1 and words[0] in _FORWARD | _BACKWARD and self._joint(place + 1) == ":":
            self._carry = "verb"
            self._parts[place + 1] = (",", self._parts[place + 1][1])
            return True
        return False

    def _joint(self, place: int) -> str:
        return self._parts[place][0] if place < len(self._parts) else ""

    def _turned(self, words: list[str]) -> list[str]:
        """The words, with 'absent' in place of 'was not seen' and of a cue at their end."""
        at = _first(words, frozenset(("not", "never")))
        if at and item_concepts(words[:at]) and "to" not in words[at + 2 : at + 4]:
            after = words[at + 1 : at + 3]
            seen = (
                after[:1]
                and after[0] in _SEEN
                and (words[at - 1] in _LINKS or _ALONG.intersection(after[1:]) or not item_concepts(words[at + 2 :]))
            )
            if not after or seen or (after[0] in ("be", "been") and after[1:] and after[1] in _SEEN):
                return [*words[:at], "absent", *(low for low in words[at + 1 :] if low not in _SEEN)]
        if words[-1] in _FORWARD and words[-1] not in _BACKWARD and item_concepts(words[:-1]):
            return [*words, "absent"] if words[-1] in _LINKS else [*words[:-1], "absent"]
        return words

    def _cue(self, words: Sequence[str]) -> int | None:
        for at, low in enumerate(words):
            behind = low in _BACKWARD and (
                words[at + 1 : at + 2] == [] or words[at + 1] in _REASONS or _LINKS.intersection(words[:at])
            )
            if low in _FORWARD and not behind:
                return at
        return None

    def _read(self, place: int, joint: str, words: list[str]) -> None:
        cue = self._cue(words)
        if cue is None and self._carry and self._goes_on(joint, words):
            self._carried(place, joint, words)
            return
        if not self._carry and self._after_one_word(place, joint):
            self._add(words, None, words)
            return
        if self._carry and "or" in joint and "no~normal" in words:  # 'no sensory or motor deficits' are both normal
            self._open_list()
            self._add(words, None, words)
            self._carry = ""
            return
        if cue is None and words[0] in ("such", "including") and any(one.affirmed is False for one in self._items):
            self._add(words, None, words)
            self._carry = "open"
            return
        self._carry = ""
        behind = _first(words, _BACKWARD)
        if cue is not None:
            self._cued(place, joint, words, cue)
        elif behind is not None:
            self._judged(place, joint, words, behind)
        else:
            self._plain(words, True, words)
            if words[-1] == "positive" and joint in ("and", "or", ",") and len(self._items) > 1:
                self._items[-2].result = True  # 'ANCA and ANA positive'

    def _after_one_word(self, place: int, joint: str) -> bool:
        """Whether an item goes on a list with 'or' after a word that denies by itself: 'does not smoke or drink'."""
        last = next((one for one, _ in self._parts[place:] if one != ","), "")
        before = (low for _, words in self._parts[:place] for low in words)
        return joint in (",", "or") and last.endswith("or") and any(low.startswith("no~") for low in before)

    # --- forwards ---

    def _goes_on(self, joint: str, words: Sequence[str]) -> bool:
        """Whether an item may belong to the list that a cue has begun."""
        if words[0] in _RELATIVE | _ACTIVE | _HELPERS | _NEW_SUBJECTS or ":" in joint:
            return False
        verb = _first(words, _ACTIVE)
        if _measured(words) and "or" not in joint:
            return False
        judging = {low for low in words if low in _BACKWARD or low in ("positive", "normal") or low.startswith("no~")}
        if verb is None:
            return not judging
        if _BACKWARD.intersection(words[verb:]):  # 'no lesions, and the sign was negative'
            return False
        return ("or" in joint or _seen(words, verb)) and not {"positive", "normal"} & set(words[:verb])

    def _carried(self, place: int, joint: str, words: Sequence[str]) -> None:
        verb = _first(words, _ACTIVE)
        inside, rest = _reached(words)
        beside = self._of and joint in ("or", "and")  # 'swelling of hands or feet'
        listed = self._listed(place, joint, words) and not beside
        if verb is not None and not _seen(words, verb):
            self._open_list()
            listed = False
        self._add(inside, False if listed else None, words)
        if rest:
            self._add(rest, None, words)
            self._carry = "open" if rest[0] in _ENDS else ""
        elif not listed and not beside:
            self._carry = "open"
        self._of = bool(_ALONG.intersection(inside))
        self._carry = "" if verb is not None else self._carry

    def _listed(self, place: int, joint: str, words: Sequence[str]) -> bool:
        """Whether a cue certainly goes on to an item."""
        if self._carry == "open":
            return False
        if "or" in joint:
            return True
        if self._carry == "verb" and not ("and" in joint and ("," in joint or words[0] in _THE)):
            return True
        if self._carry != "predicate" and joint == "and" and words[0] not in _THE:
            return True
        for later, listed in self._parts[place + 1 :] if joint == "," else ():
            if "or" in later:
                return True
            if "and" in later or _FORWARD.intersection(listed):
                return False
        return False

    def _open_list(self) -> None:
        """Leave open what a cue has denied so far: 'neither A nor B helped' denies no A."""
        for one in reversed(self._items):
            if one.affirmed is not False:
                return
            one.affirmed = None

    def _cued(self, place: int, joint: str, words: list[str], at: int) -> None:
        cue, before, after = words[at], words[:at], words[at + 1 :]
        if before and cue in ("not", "never") and joint.endswith(("and", "or")):
            self._open_subjects(place)  # 'biting and incontinence did not occur'
        if before:
            self._plain(before, True if cue == "without" else None, words)
        while after and (after[0] in ("been", "be", "to", "have") or (after[0] in _SEEN - {"there"} and after[1:])):
            after = after[1:]
        inside, rest = _reached(after)
        verb = _first(after, _ACTIVE)
        does = verb is not None and cue in _SUBJECTS and not _seen(after, verb)
        if does and "or" in joint:
            self._open_list()
        sure = not does and cue != "cannot" and "no~normal" not in inside and not _DEGREES.intersection(after[:1])
        self._of = bool(_ALONG.intersection(inside))
        self._add(inside, False if sure else None, words, [*before, *(rest if _MANNER.intersection(rest[:1]) else ())])
        if rest:
            self._add(rest, None if verb is None or cue in _SUBJECTS else True, words)
            self._carry = "open" if rest[0] in _ENDS else ""
        else:
            self._carry = _CARRIED.get(cue, "noun")
        lost = "of" in inside and item_concepts(inside[: inside.index("of")]) - _SIGNS  # 'no loss of control'
        if lost or (not sure and self._carry):
            self._carry = "open"

    def _open_subjects(self, place: int) -> None:
        """Leave open the items of the list that ends with the subject of a denied verb."""
        for one, (joint, words) in zip(reversed(self._items), reversed(self._parts[:place]), strict=False):
            if not one.affirmed or _ACTIVE.intersection(words):
                return
            one.affirmed = None
            if joint != ",":
                return

    # --- backwards ---

    def _judged(self, place: int, joint: str, words: list[str], at: int) -> None:
        """Add what 'absent' or 'negative' judges: the words before it, and the items of their list."""
        start = max((where + 1 for where, low in enumerate(words[:at]) if low in _RELATIVE), default=0)
        subject, tail = [low for low in words[start:at] if low not in _LINKS], words[at + 1 :]
        if not item_concepts(subject) and item_concepts(tail) and not self._items:  # 'negative HIV test'
            self._add(tail, False, words)
            self._carry = "noun"
            return
        before = len(self._items)
        for said, affirmed in ((words[: max(start - 1, 0)], None), (subject, False), (tail, None)):
            if item_concepts(said):
                self._add(said, affirmed, words)
        if _ALONG.intersection(tail[:1]):  # 'was negative in blood, urine and sputum'
            self._carry = "open"
        if not ("," in joint and "and" in joint and words[0] in _THE):
            self._judge_list(place, before, words, own=bool(item_concepts(subject)))

    def _judge_list(self, place: int, last: int, words: Sequence[str], *, own: bool) -> None:
        several = own and bool({"were", "all", "both", "are"}.intersection(words))
        while place and last and self._joint(place) and ":" not in self._joint(place):
            place, last = place - 1, last - 1
            other = self._parts[place][1]
            says = {low for low in other if low in _ACTIVE | _HELPERS | _FORWARD | _BACKWARD | {"positive", "normal"}}
            if own and (says or _measured(other)):
                several = False
                continue
            if self._items[last].affirmed:
                self._items[last].affirmed = False if several and not _HEDGES.intersection(other) else None
                self._items[last].result = own
