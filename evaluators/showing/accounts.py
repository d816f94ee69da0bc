"""The accounts of one episode as its evaluators left them, read back; and the texts that a page of them needs."""

from collections.abc import Mapping
from typing import TypeVar

import msgspec

from wardround.engine.records import Json
from wardround.evaluators.outcome.account import OutcomeAccount
from wardround.evaluators.outcome.assessed import AssessmentAccount
from wardround.evaluators.reasoning.account import Account, Looked, Quoted

T = TypeVar("T")


class Told(msgspec.Struct, frozen=True):
    """What the accounts tell of the outcome, and, for each evaluator (each rule set), of reasoning and examinations.

    `problems` names the accounts that could not be read, or are of no kind that is known here.
    """

    reasoning: Mapping[str, Account]
    outcome: OutcomeAccount | None = None
    assessments: Mapping[str, AssessmentAccount] = {}
    problems: tuple[str, ...] = ()


def told(accounts: Mapping[str, Json]) -> Told:
    """Read the accounts by evaluator.

    Each is an Account of the reasoning, or {"outcome": OutcomeAccount}, or {"assessment": AssessmentAccount}.
    """
    reasoning: dict[str, Account] = {}
    outcomes: dict[str, OutcomeAccount] = {}
    assessments: dict[str, AssessmentAccount] = {}
    problems: list[str] = []
    for name, held in accounts.items():
        if held is None:
            continue
        inside = held if isinstance(held, Mapping) else {}
        known = [
            _keep(reasoning, name, inside if "parts" in inside or "search" in inside else None, Account),
            _keep(outcomes, name, inside.get("outcome"), OutcomeAccount),
            _keep(assessments, name, inside.get("assessment"), AssessmentAccount),
        ]
        if False in known or set(known) == {None}:
            problems.append(name)
    return Told(reasoning, next(iter(outcomes.values()), None), assessments, tuple(problems))


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


def _keep(kept: dict[str, T], name: str, held: Json, kind: type[T]) -> bool | None:
    """Read `held` into `kept`: False if it cannot be read, None if there is nothing to read."""
    if held is None:
        return None
    try:
        kept[name] = msgspec.convert(held, kind)
    except msgspec.ValidationError:
        return False
    return True
