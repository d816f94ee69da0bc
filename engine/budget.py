"""Keeps a run within its budget: a call is let through only if what it will probably cost still fits."""

from collections import deque
from collections.abc import Iterator, Mapping

from wardround.engine.records import Json
from wardround.engine.spending import Budget, Caps, Spending

FIRST = 4
"""Calls of a seat that may be under way while nothing is known of what one costs."""
RECENT = 64
"""Calls of a seat whose mean says what the next one will cost."""
MARGIN = 1.25
"""The share by which a call is expected to cost more than that mean: conversations grow."""

_ROUNDING = 1e-9


class _Scope:
    """One set of caps, the seats it covers, and what they have spent and set aside."""

    __slots__ = ("aside", "aside_cost", "aside_tokens", "caps", "name", "seats", "spent")

    def __init__(self, name: str, caps: Caps, seats: frozenset[str]) -> None:
        self.name, self.caps, self.seats = name, caps, seats
        self.spent = Spending()
        self.aside = 0
        self.aside_tokens = self.aside_cost = 0.0

    def over(self, tokens: float, cost: float) -> str:
        """What would be passed by one more call of this size; '' if it fits."""
        caps, spent = self.caps, self.spent
        if caps.cost is not None and spent.unpriced:
            return f"{self.name}: {spent.unpriced} calls have no known price, so the cap on cost cannot be kept"
        if caps.calls is not None and spent.calls + self.aside + 1 > caps.calls:
            return f"{self.name}: {spent.calls:,} of {caps.calls:,} calls were made"
        if caps.tokens is not None and spent.tokens + self.aside_tokens + tokens > caps.tokens:
            return f"{self.name}: {spent.tokens:,} of {caps.tokens:,} tokens were used"
        if caps.cost is not None and spent.cost + self.aside_cost + cost > caps.cost + _ROUNDING:
            return f"{self.name}: {spent.cost:.4f} of {caps.cost:.4f} USD were spent"
        return ""


class _Usual:
    """What calls of a seat cost of late."""

    __slots__ = ("calls", "flying")

    def __init__(self) -> None:
        self.calls: deque[tuple[int, float]] = deque(maxlen=RECENT)
        self.flying: list[tuple[float, float]] = []

    def size(self) -> tuple[float, float]:
        """(tokens, US dollars) the next call is expected to need."""
        if not self.calls:
            return 0.0, 0.0
        tokens, cost = (sum(column) / len(self.calls) for column in zip(*self.calls, strict=True))
        return tokens * MARGIN, cost * MARGIN


class Purse:
    """The account of one process against the run's budget.

    Before a call its expected size (the mean of the seat's recent calls and a quarter more) is set aside, so that calls
    in flight do not pass a cap together; a cap can be passed only by what single replies cost more than expected, and,
    where several processes spend from one budget, by what they spend between two looks at the common account (a beat).
    """

    def __init__(self, budget: Budget, models: Mapping[str, str]) -> None:
        self._models = dict(models)
        self._usual: dict[str, _Usual] = {}
        self._own: dict[str, Spending] = {}
        self._others: dict[str, Spending] = {}
        self._wall: float | None = None
        self._scopes: list[_Scope] = []
        self.change(budget)

    def change(self, budget: Budget) -> None:
        """Take over another budget; what was spent stays spent."""
        self.budget = budget
        every = frozenset(self._models)
        asked = [("the run", budget.run, every)]
        asked += [(f"seat {seat}", caps, frozenset((seat,))) for seat, caps in budget.seats.items()]
        for model, caps in budget.models.items():
            seats = frozenset(seat for seat, spec in self._models.items() if spec == model)
            asked.append((f"model {model}", caps, seats))
        self._scopes = [_Scope(name, caps, seats) for name, caps, seats in asked if caps != Caps()]
        for scope in self._scopes:
            for seat in scope.seats:
                flying = self._usual[seat].flying if seat in self._usual else ()
                scope.aside += len(flying)
                scope.aside_tokens += sum(tokens for tokens, _ in flying)
                scope.aside_cost += sum(cost for _, cost in flying)
        self._add_up()

    @property
    def own(self) -> Spending:
        """What this process spent."""
        return sum(self._own.values(), Spending())

    @property
    def by_seat(self) -> Mapping[str, Spending]:
        """What this process spent, by seat."""
        return self._own

    @property
    def spent(self) -> Spending:
        """What the run spent, as far as this process knows."""
        return sum(self._others.values(), self.own)

    def spent_by(self, seat: str) -> Spending:
        """What this seat spent of it."""
        return self._own.get(seat, Spending()) + self._others.get(seat, Spending())

    def refused(self, seat: str) -> tuple[str, bool]:
        """Why a call of `seat` does not fit now ('' if it does), and whether it never will.

        It may fit later while calls under the same cap are under way: they may need less than was set aside.
        """
        if not self._scopes:
            return "", False
        usual = self._usual.get(seat)
        tokens, cost = usual.size() if usual else (0.0, 0.0)
        for scope in self._of(seat):
            if why := scope.over(tokens, cost):
                return why, not scope.aside
        if usual and not usual.calls and len(usual.flying) >= FIRST and any(self._of(seat)):
            return f"seat {seat}: the first calls have not shown yet what one costs", False
        return "", False

    def set_aside(self, seat: str) -> None:
        """Let a call through."""
        if not self._scopes:
            return
        usual = self._usual.setdefault(seat, _Usual())
        size = usual.size()
        usual.flying.append(size)
        for scope in self._of(seat):
            scope.aside += 1
            scope.aside_tokens += size[0]
            scope.aside_cost += size[1]

    def settle(self, seat: str, spent: Spending | None) -> None:
        """A call ended: what was set aside for it is free, what it cost is spent; None if it was dropped."""
        if spent is not None:
            self._own[seat] = self._own.get(seat, Spending()) + spent
        if not self._scopes:
            return
        usual = self._usual.setdefault(seat, _Usual())
        # Calls that were under way when the budget was set have nothing set aside.
        flown = usual.flying.pop(0) if usual.flying else None
        for scope in self._of(seat):
            if flown:
                scope.aside -= 1
                scope.aside_tokens -= flown[0]
                scope.aside_cost -= flown[1]
            if spent is not None:
                scope.spent += spent
        if spent is not None and not spent.failed:
            usual.calls.append((spent.tokens, spent.cost))

    def refresh(self, others: Mapping[str, Spending], wall: float) -> str:
        """Take note of what was spent besides, before and by other processes, and of the run's time; why to stop."""
        self._others, self._wall = dict(others), wall
        self._add_up()
        cap = self.budget.run.wall
        if cap is not None and wall >= cap:
            return f"the run: {wall:.0f} of {cap:.0f} s of work are over"
        return ""

    def told(self) -> list[dict[str, Json]]:
        """Each cap with what was spent of it, for the status."""
        rows: list[dict[str, Json]] = []
        for scope in self._scopes:
            for name in ("cost", "tokens", "calls"):
                cap = getattr(scope.caps, name)
                if cap is not None:
                    rows.append({"of": scope.name, "what": name, "spent": getattr(scope.spent, name), "cap": cap})
        if self.budget.run.wall is not None:
            rows.append({"of": "the run", "what": "wall", "spent": self._wall or 0.0, "cap": self.budget.run.wall})
        return rows

    def _of(self, seat: str) -> Iterator[_Scope]:
        return (scope for scope in self._scopes if seat in scope.seats)

    def _add_up(self) -> None:
        for scope in self._scopes:
            scope.spent = Spending()
            for seat in sorted(scope.seats):
                scope.spent += self._own.get(seat, Spending()) + self._others.get(seat, Spending())
