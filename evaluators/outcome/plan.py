"""What a judge says of a treatment plan: right or not, by which of four rules, and the words it rests on."""

from collections.abc import Mapping
from functools import partial
from typing import Literal, cast

import msgspec

from wardround.engine.records import Json
from wardround.evaluators.judging.claimed import claimed
from wardround.evaluators.judging.judge import Reading
from wardround.evaluators.judging.payload import field, payload, single
from wardround.evaluators.judging.unread import Unread, unread
from wardround.evaluators.judging.words import word
from wardround.evaluators.outcome.account import Basis

Said = Literal["correct", "wrong", "unverifiable"]
NO_PLAN: Basis = "no plan"
"""The basis of "wrong" for an answer that proposes no treatment at all."""

_SAID: Mapping[str, Said] = {
    "correct": "correct",
    "wrong": "wrong",
    "incorrect": "wrong",
    "unverifiable": "unverifiable",
}
_BASES: Mapping[str, tuple[Basis, ...]] = {
    "correct": ("same", "included", "evidence"),
    "wrong": ("evidence", "none", NO_PLAN, ""),
    "unverifiable": ("same", "included", "evidence", "none", ""),
}
_VERDICT = ("verdict", "judgment", "judgement", "accuracy")


class PlanVerdict(msgspec.Struct, frozen=True):
    """One judge's verdict by prompt 20's rules.

    `basis`: the plan means the `same` as the treatment given (rule 1), has it `included` (2), is another one that the
    passages speak for or against (`evidence`, 3), or rests on nothing (`none`, 4); the answer is no plan at all
    (`no plan`); "" if the reply does not say.
    `quotes` are (number of the passage, or 0; its words as the judge has them).
    """

    said: Said
    basis: Basis = ""
    quotes: tuple[tuple[int, str], ...] = ()


def reading(shown: int) -> Reading[PlanVerdict]:
    """Reads a reply {"verdict", "basis", "evidence": [{"passage", "quote"}]} of a judge that saw so many passages.

    A verdict of one word is read too, as prompt 20 itself asks for no more. In JSON "correct" must come with its basis
    (`no_field`), unless no passage was shown: then it can only be by the first two rules. A verdict that its basis
    contradicts is `not_in_vocabulary`.
    """
    return partial(_read, shown)


def _read(shown: int, text: str) -> PlanVerdict | Unread:
    held = payload(text)
    if isinstance(held, Unread):
        return held
    if held is None:
        said = word(text, _SAID, "wrong")
        return said if isinstance(said, Unread) else PlanVerdict(said)
    value = single(held.value)
    said, basis = claimed(held, text, _VERDICT, _SAID, "wrong"), field(value, ("basis", "rule"))
    if isinstance(said, Unread):
        return said
    named = "" if basis is None else basis.strip().casefold() if isinstance(basis, str) else "?"
    return _consistent(PlanVerdict(said, cast(Basis, named), _quotes(value)), shown, text)


def _consistent(verdict: PlanVerdict, shown: int, text: str) -> PlanVerdict | Unread:
    if verdict.said == "correct" and not verdict.basis:
        return unread("no_field", text) if shown else verdict
    return verdict if verdict.basis in _BASES[verdict.said] else unread("not_in_vocabulary", text)


def _quotes(value: Json) -> tuple[tuple[int, str], ...]:
    """What stands in the field as quotations; anything else in it is no evidence."""
    entries = field(value, ("evidence", "quotes"))
    found: list[tuple[int, str]] = []
    for entry in entries if isinstance(entries, list) else ():
        words, number = field(entry, ("quote", "text")), field(entry, ("passage",))
        if isinstance(words, str) and words.strip():
            found.append((_number(number), words))
    return tuple(found)


def _number(value: Json) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
