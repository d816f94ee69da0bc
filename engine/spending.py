"""What calls cost, and what they may cost: the account that is kept beside the log."""

from collections.abc import Mapping

import msgspec

from wardround.engine.records import Completion


class Spending(msgspec.Struct, frozen=True, omit_defaults=True):
    """An account of calls; two add up.

    `failed` calls are among `calls`; `recalled` answers came from the call cache and are not among them. Tokens and
    `cost` (US dollars) are of answered calls; those without a known price are counted in `unpriced`, not as free.
    """

    calls: int = 0
    failed: int = 0
    recalled: int = 0
    prompt: int = 0
    completion: int = 0
    cost: float = 0.0
    unpriced: int = 0

    @property
    def tokens(self) -> int:
        """Prompt and completion together."""
        return self.prompt + self.completion

    def __add__(self, other: "Spending") -> "Spending":
        return Spending(
            self.calls + other.calls,
            self.failed + other.failed,
            self.recalled + other.recalled,
            self.prompt + other.prompt,
            self.completion + other.completion,
            self.cost + other.cost,
            self.unpriced + other.unpriced,
        )


def spending_of(reply: Completion | None) -> Spending:
    """The account of one call; None for one that failed."""
    if reply is None:
        return Spending(calls=1, failed=1)
    if reply.recalled:
        return Spending(recalled=1)
    usage = reply.usage
    known = usage.cost is not None
    return Spending(1, 0, 0, usage.prompt, usage.completion, usage.cost or 0.0, int(not known))


class SpendRow(msgspec.Struct, frozen=True):
    """What a seat of a run spent on a day (UTC, `2026-11-21`)."""

    run: str
    seat: str
    day: str
    spent: Spending


class Caps(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Caps of a whole run, over all its resumes; None is no cap.

    `cost` in US dollars, `tokens` prompt and completion together, `wall` in seconds in which the run was at work.
    """

    cost: float | None = None
    tokens: int | None = None
    calls: int | None = None
    wall: float | None = None


class Budget(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a run may spend: all of it, each seat, and each model (by its SPEC, all seats that use it together)."""

    run: Caps = Caps()
    seats: Mapping[str, Caps] = {}
    models: Mapping[str, Caps] = {}
