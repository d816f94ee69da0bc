"""The accounts of one episode as its evaluators left them, read back; and the texts that a page of them needs."""

from collections.abc import Mapping
from typing import TypeVar

import msgspec

from wardround.engine.records import Json
from wardround.evaluators.outcome.account import OutcomeAccount
from wardround.evaluators.reasoning.account import Account, Looked, Quoted

T = TypeVar("T")


class Told(msgspec.Struct, frozen=True):
    """What the accounts tell: of the reasoning (by evaluator, one for each rule set), the outcome, the examinations.

    `problems` names the accounts that could not be read, or are of no kind that is known here.
    """

    reasoning: Mapping[str, Account]
    outcome: OutcomeAccount | None = None
    assessment: Json = None
    problems: tuple[str, ...] = ()


def told(accounts: Mapping[str, Json]) -> Told:
    """Read the accounts by evaluator: {"reasoning": an Account, "standard": {"outcome": ...}, ...}."""
    reasoning: dict[str, Account] = {}
    outcome: OutcomeAccount | None = None
    assessment: Json = None
    problems: list[str] = []
    for name, held in accounts.items():
        if not isinstance(held, Mapping):
            if held is not None:
                problems.append(name)
            continue
        known = False
        if "parts" in held or "rules" in held:
            account, known = _read(held, Account), True
            if account is None:
                problems.append(name)
            else:
                reasoning[name] = account
        if held.get("outcome") is not None:
            found, known = _read(held["outcome"], OutcomeAccount), True
            outcome = found or outcome
            if found is None:
                problems.append(f"{name}: outcome")
        if held.get("assessment") is not None:
            assessment, known = held["assessment"], True
        if not known:
            problems.append(name)
    return Told(reasoning, outcome, assessment, tuple(problems))


def digests(accounts: Mapping[str, Json]) -> list[str]:
    """The texts that the page of these accounts shows, each once, in order: to be fetched from the store."""
    found = told(accounts)
    looked: list[Looked] = []
    quoted: list[Quoted] = []
    for account in found.reasoning.values():
        for part in account.parts:
            for step in part.steps:
                looked += step.looked
                quoted += step.quoted
    if found.outcome:
        looked += found.outcome.looked
        quoted += found.outcome.quoted
    return list(dict.fromkeys([*(one.digest for one in quoted), *(text for one in looked for text in one.texts)]))


def _read(held: Json, kind: type[T]) -> T | None:
    try:
        return msgspec.convert(held, kind)
    except msgspec.ValidationError:
        return None
