"""How examinations were assessed, for a reader: both sides' items, and what the panel said of each."""

import msgspec

from wardround.evaluators.judging.panel import Vote
from wardround.evaluators.reasoning.judged import Rules

Places = tuple[int, ...]
"""Places of items in a list, from 0."""


class Item(msgspec.Struct, frozen=True):
    """One examination: its `type` (laboratory, imaging, history ...), its `name`, what it is `wanted` for."""

    type: str
    name: str
    wanted: str = ""


class Paired(msgspec.Struct, frozen=True):
    """The recorded items (places from 0) that one request is, by the panel's majority; `open`: it reached none on them.

    `votes` are lists of numbers as the judges gave them (1 is the first), `reason` says why any are open.
    """

    same: Places
    votes: tuple[Vote, ...]
    open: Places = ()
    reason: str = ""


class Sought(msgspec.Struct, frozen=True, omit_defaults=True):
    """One item and whether the other side's text has it, by the votes; None with a `reason` if the judges failed.

    `item` is None for an entry of the judge's list without a type: the published code counts it as not found.
    """

    item: Item | None
    found: bool | None
    votes: tuple[Vote, ...] = ()
    reason: str = ""


class AssessmentAccount(msgspec.Struct, frozen=True, omit_defaults=True):
    """One episode's examinations as judged.

    By default `asked` and `recorded` are the items of both sides and `pairs` tells for each item asked for which
    recorded ones it is. Under the published rules `asked_sought` and `recorded_sought` tell for each item whether it is
    in the other side's text. `reason` says why there are no items; `left_out` counts characters that no judge was
    shown; `judges`, `floor` and `flags` as in OutcomeAccount.
    """

    rules: Rules
    judges: dict[str, str]
    floor: bool
    asked: tuple[Item, ...] = ()
    recorded: tuple[Item, ...] = ()
    pairs: tuple[Paired, ...] = ()
    asked_sought: tuple[Sought, ...] = ()
    recorded_sought: tuple[Sought, ...] = ()
    reason: str = ""
    left_out: int = 0
    flags: tuple[str, ...] = ()
