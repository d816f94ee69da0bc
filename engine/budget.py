"""Keeps a run within its budget: counts what calls cost, and holds back calls that no longer fit."""

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from wardround.engine.records import Completion, Json
from wardround.engine.text import count_noun


class Spending(msgspec.Struct, frozen=True, omit_defaults=True):
    """An account of calls; accounts can be added.

    `calls` includes the `failed` calls but not the `recalled` answers, which came from the call cache. Tokens and
    `cost` (US dollars) are of answered calls; calls without a known price count as `unpriced`, not as free.
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
    """The account of one call by its reply; None stands for a failed call."""
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

    `cost` is in US dollars. `tokens` counts prompt and completion together. `wall` is the time in seconds in which the
    run was at work.
    """

    cost: float | None = None
    tokens: int | None = None
    calls: int | None = None
    wall: float | None = None


class Budget(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a run may spend: in all, by seat, and by model (by its SPEC, for all seats that use it together)."""

    run: Caps = Caps()
    seats: Mapping[str, Caps] = {}
    models: Mapping[str, Caps] = {}


class BudgetPart(msgspec.Struct, frozen=True):
    """The part of one process in a budget that several `processes` share.

    `before` is what each seat had spent when they began; each process may spend an equal part of what was left then.
    So the processes keep a cap together, however seldom they learn of each other's spending.
    """

    processes: int = 1
    before: Mapping[str, Spending] = {}


FIRST_CALLS = 4
"""Calls of a seat that may be under way before the cost of a call is known."""
RECENT = 64
"""The number of a seat's recent calls whose mean predicts the cost of the next one."""
MARGIN = 1.25
"""The factor on that mean: a call is expected to cost more than earlier ones because conversations grow."""

_ROUNDING = 1e-9


Size = tuple[float, float]
"""Tokens and US dollars that a call is expected to need."""


class _SeatCosts:
    """What recent calls of a seat cost, and what is set aside for its calls under way."""

    __slots__ = ("_cost", "_recent", "_tokens", "aside_cost", "aside_tokens", "under_way")

    def __init__(self) -> None:
        self._recent: deque[tuple[int, float]] = deque()
        self._tokens, self._cost = 0, 0.0
        self.under_way = 0
        self.aside_tokens = self.aside_cost = 0.0

    @property
    def known(self) -> bool:
        """Whether the cost of at least one call is known."""
        return bool(self._recent)

    def size(self) -> Size:
        """What the next call is expected to need."""
        count = len(self._recent)
        return (self._tokens / count * MARGIN, self._cost / count * MARGIN) if count else (0.0, 0.0)

    def learn(self, spent: Spending) -> None:
        """Take note of what one call cost."""
        used = spent.tokens
        self._recent.append((used, spent.cost))
        self._tokens, self._cost = self._tokens + used, self._cost + spent.cost
        if len(self._recent) > RECENT:
            tokens, cost = self._recent.popleft()
            self._tokens, self._cost = self._tokens - tokens, self._cost - cost

    def begin(self, size: Size) -> None:
        """Set `size` aside for a call that begins."""
        self.under_way += 1
        self.aside_tokens, self.aside_cost = self.aside_tokens + size[0], self.aside_cost + size[1]

    def end(self, size: Size) -> None:
        """Release `size`, because its call has ended."""
        self.under_way -= 1
        self.aside_tokens, self.aside_cost = self.aside_tokens - size[0], self.aside_cost - size[1]
        if not self.under_way:  # remove rounding errors
            self.aside_tokens = self.aside_cost = 0.0


class _Scope:
    """One set of caps, the seats it covers, and what they have spent."""

    __slots__ = ("_before", "_processes", "caps", "name", "own", "seats", "spent")

    def __init__(self, name: str, caps: Caps, seats: Sequence[str], part: BudgetPart) -> None:
        self.name, self.caps, self.seats = name, caps, seats
        self.spent = self.own = Spending()  # by all, and by this process
        self._processes = part.processes
        self._before = sum((part.before.get(seat, Spending()) for seat in seats), Spending())

    def over(self, size: Size, covered: Sequence[_SeatCosts]) -> str:
        """The cap that one more call of this size would exceed, as a sentence; '' if the call fits.

        `covered` are the costs of its seats.
        """
        caps, spent, own, before = self.caps, self.spent, self.own, self._before
        if caps.cost is not None and spent.unpriced:
            return (
                f"{self.name}: {count_noun(spent.unpriced, 'call')} without a known price: the cap on cost cannot hold"
            )
        calls = sum(costs.under_way for costs in covered) + 1
        if caps.calls is not None and self._sum(spent.calls, before.calls, own.calls, calls) > caps.calls:
            return f"{self.name}: made {spent.calls:,} of {count_noun(caps.calls, 'call')}{self._by()}"
        tokens = self._sum(spent.tokens, before.tokens, own.tokens, sum(one.aside_tokens for one in covered) + size[0])
        if caps.tokens is not None and tokens > caps.tokens * (1 + _ROUNDING):
            return f"{self.name}: used {spent.tokens:,} of {count_noun(caps.tokens, 'token')}{self._by()}"
        cost = sum(costs.aside_cost for costs in covered) + size[1]
        if caps.cost is not None and self._sum(spent.cost, before.cost, own.cost, cost) > caps.cost + _ROUNDING:
            return f"{self.name}: spent {spent.cost:.4f} of {caps.cost:.4f} USD{self._by()}"
        return ""

    def _sum(self, spent: float, before: float, own: float, more: float) -> float:
        """What is spent with `more`: the larger of what is reported and what it is if all spend as much as this one."""
        return max(spent + more, before + self._processes * (own + more))

    def _by(self) -> str:
        return f" (the part of one of {self._processes} processes)" if self._processes > 1 else ""


class BudgetAccount:
    """The account of one process against the run's budget.

    Before each call its expected size (the mean of the seat's recent calls plus a quarter) is set aside, so that calls
    in flight do not exceed a cap together. Spending can exceed a cap in two ways only: a reply costs more than
    expected, or several processes share a budget without parts and spend before the next beat tells them what the
    others spent. `by_seat` is what this process spent, by seat.
    """

    def __init__(self, budget: Budget, models: Mapping[str, str], part: BudgetPart | None = None) -> None:
        self._models, self._part = dict(models), part or BudgetPart()
        self._costs: defaultdict[str, _SeatCosts] = defaultdict(_SeatCosts)
        self.by_seat: dict[str, Spending] = {}
        self._others: dict[str, Spending] = {}
        self._wall: float | None = None
        self._scopes: list[_Scope] = []
        self.change(budget)

    def change(self, budget: Budget) -> None:
        """Replace the budget; what was spent still counts."""
        self.budget = budget
        every = sorted(self._models)
        asked = [("the run", budget.run, every)]
        asked += [(f"seat {seat}", caps, [seat]) for seat, caps in budget.seats.items()]
        for model, caps in budget.models.items():
            seats = [seat for seat in every if self._models[seat] == model]
            asked.append((f"model {model}", caps, seats))
        self._scopes = [_Scope(name, caps, seats, self._part) for name, caps, seats in asked if caps != Caps()]
        self._add_up()

    @property
    def own(self) -> Spending:
        """What this process spent."""
        return sum(self.by_seat.values(), Spending())

    @property
    def spent(self) -> Spending:
        """What the run spent, as far as this process knows."""
        return sum(self._others.values(), self.own)

    def spent_by(self, seat: str) -> Spending:
        """What this seat spent in the run, as far as this process knows."""
        return self.by_seat.get(seat, Spending()) + self._others.get(seat, Spending())

    def refusal(self, seat: str) -> tuple[str, bool]:
        """Why a call of `seat` does not fit now ('' if it does), and whether it never will.

        While calls under the same cap are under way it may fit later, because they may need less than was set aside.
        """
        if not self._scopes:
            return "", False
        costs = self._costs[seat]
        size = costs.size()
        for scope in self._scopes_of(seat):
            covered = [self._costs[other] for other in scope.seats if other in self._costs]
            if why := scope.over(size, covered):
                return why, not any(other.under_way for other in covered)
        if not costs.known and costs.under_way >= FIRST_CALLS and any(self._scopes_of(seat)):
            return f"seat {seat}: the cost of a call is not known until the first calls have ended", False
        return "", False

    def set_aside(self, seat: str) -> Size:
        """Set aside and return the expected size of a call that begins; give it back with `settle` when the call ends.

        This happens without a budget too, because one may be set while the call is under way.
        """
        costs = self._costs[seat]
        size = costs.size()
        costs.begin(size)
        return size

    def settle(self, seat: str, spent: Spending | None, size: Size | None) -> None:
        """Release `size`, which was set aside for a call that ended, and book what the call `spent`.

        `size` is None if nothing is to be released, `spent` is None if nothing is to be booked.
        """
        costs = self._costs[seat]
        if size is not None:
            costs.end(size)
        if spent is None:
            return
        earlier = self.by_seat.get(seat)
        self.by_seat[seat] = spent if earlier is None else earlier + spent
        if self._scopes:
            for scope in self._scopes_of(seat):
                scope.spent += spent
                scope.own += spent
        if not spent.failed:
            costs.learn(spent)

    def refresh(self, others: Mapping[str, Spending], wall: float) -> str:
        """Update the spending of earlier sessions and other processes, and the run's time in seconds.

        Returns why the run must stop, '' if it may go on.
        """
        self._others, self._wall = dict(others), wall
        self._add_up()
        cap = self.budget.run.wall
        if cap is not None and wall >= cap:
            return f"the run: worked for {wall:.0f} of {cap:.0f} s"
        return ""

    def summary(self) -> list[dict[str, Json]]:
        """Each cap with the amount spent under it, for the status."""
        rows: list[dict[str, Json]] = []
        for scope in self._scopes:
            caps, spent = scope.caps, scope.spent
            for name, cap, amount in (
                ("cost", caps.cost, spent.cost),
                ("tokens", caps.tokens, spent.tokens),
                ("calls", caps.calls, spent.calls),
            ):
                if cap is not None:
                    rows.append({"of": scope.name, "what": name, "spent": amount, "cap": cap})
        if self.budget.run.wall is not None:
            rows.append({"of": "the run", "what": "wall", "spent": self._wall or 0.0, "cap": self.budget.run.wall})
        return rows

    def _scopes_of(self, seat: str) -> Iterator[_Scope]:
        return (scope for scope in self._scopes if seat in scope.seats)

    def _add_up(self) -> None:
        for scope in self._scopes:
            scope.own = sum((self.by_seat.get(seat, Spending()) for seat in scope.seats), Spending())
            scope.spent = sum((self._others.get(seat, Spending()) for seat in scope.seats), scope.own)
