"""A pilot: play a few episodes drawn at random first, and forecast from them what the rest will need."""

import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from math import inf, sqrt

import msgspec

from wardround.engine.budget import Budget, Caps, Spending, spending_of
from wardround.engine.events import Called
from wardround.runs.stored_run import Run
from wardround.runs.work_queue import seconds_worked, spending_by_seat

LEVEL = 0.95
"""The level of the prediction intervals."""


class Forecast(msgspec.Struct, frozen=True):
    """A forecast of a sum over the remaining episodes: its mean and the ends of a 95 % prediction interval."""

    mean: float
    low: float
    high: float


def forecast(pilot: Sequence[float], left: int) -> Forecast:
    """The sum that `left` more episodes will need, if those of the pilot are a random sample of the same run.

    Uses Student's t on the pilot's mean and adds the variance of the remaining episodes: the variance of the prediction
    is s² (left² / n + left). A single episode says nothing about the variance, so the interval is then [0, inf). The
    lower end is never below 0. Raises ValueError for an empty pilot.
    """
    n = len(pilot)
    if n == 0:
        raise ValueError("a forecast needs at least one episode")
    mean = sum(pilot) / n
    if left <= 0:
        return Forecast(0.0, 0.0, 0.0)
    if n == 1:
        return Forecast(mean * left, 0.0, inf)
    from scipy.special import stdtrit  # type: ignore[import-untyped]  # noqa: PLC0415  # only a pilot needs SciPy

    spread = sqrt(sum((value - mean) ** 2 for value in pilot) / (n - 1))
    reach = float(stdtrit(n - 1, (1 + LEVEL) / 2)) * spread * sqrt(left**2 / n + left)
    return Forecast(mean * left, max(0.0, mean * left - reach), mean * left + reach)


class Pilot(msgspec.Struct, frozen=True):
    """The forecast from `played` episodes for the `left` remaining ones.

    `rest` maps cost (US dollars), tokens, calls and wall (seconds) to forecasts; an unknown amount is missing, such as
    the cost if a call has no price. `against` says why the rest is not played at once, '' if it is.
    """

    played: int
    left: int
    rest: Mapping[str, Forecast]
    against: str


def draw(episodes: Sequence[str], count: int, seed: int) -> list[str]:
    """A random sample of `count` episodes, each equally likely, in their order."""
    return [episodes[number] for number in sorted(random.Random(f"pilot/{seed}").sample(range(len(episodes)), count))]


async def pilot_forecast(run: Run, drawn: Collection[str], concurrency: int) -> Pilot:
    """The forecast from the closed episodes among `drawn`, compared with the run's budget."""
    played: list[Mapping[str, Spending]] = []
    times: list[float] = []
    for name in drawn:
        trajectory = await run.trajectory(name)
        if trajectory.ending is None:
            continue
        by_seat: dict[str, Spending] = {}
        for event in trajectory.events:
            if isinstance(event, Called):
                by_seat[event.seat] = by_seat.get(event.seat, Spending()) + spending_of(event.reply)
        played.append(by_seat)
        times.append(trajectory.events[-1].at - trajectory.events[0].at)
    left = (await run.store.endings(run.name)).get("open", 0)
    if not played:
        return Pilot(0, left, {}, "no episode of the pilot came to an end")
    seats = list(run.header.specs)
    rest = _forecast(played, seats, left)
    per_episode = [time / min(concurrency, max(1, left)) for time in times]
    rest["wall"] = forecast(per_episode, left)
    orders = await run.store.orders(run.name)
    return Pilot(len(played), left, rest, await _against_going_on(run, orders.budget, played, left, rest["wall"]))


def _forecast(played: Sequence[Mapping[str, Spending]], seats: Collection[str], left: int) -> dict[str, Forecast]:
    """The forecast for `seats` together."""
    totals = [sum((spent for seat, spent in episode.items() if seat in seats), Spending()) for episode in played]
    rest = {
        "tokens": forecast([total.tokens for total in totals], left),
        "calls": forecast([total.calls for total in totals], left),
    }
    if not any(total.unpriced for total in totals):
        rest["cost"] = forecast([total.cost for total in totals], left)
    return rest


async def _against_going_on(
    run: Run, budget: Budget, played: Sequence[Mapping[str, Spending]], left: int, wall: Forecast
) -> str:
    """Why the rest is not played at once: the first cap that a forecast may exceed, or no cap at all; '' if neither."""
    spent = spending_by_seat(await run.store.spending(run.name))
    capped = False
    for name, caps, seats in _scopes(run, budget):
        rest = _forecast(played, seats, left)
        before = sum((spent.get(seat, Spending()) for seat in seats), Spending())
        for amount, cap, spent_before in (
            ("cost", caps.cost, before.cost),
            ("tokens", caps.tokens, before.tokens),
            ("calls", caps.calls, before.calls),
        ):
            if cap is None:
                continue
            capped = True
            high = rest[amount].high if amount in rest else inf
            if spent_before + high > cap:
                return f"the rest may exceed the budget of {name}: {amount}"
    if budget.run.wall is not None:
        capped = True
        if seconds_worked(await run.store.sessions(run.name)) + wall.high > budget.run.wall:
            return "the rest may exceed the budget of the run: wall"
    return "" if capped else "the pilot is over, and no budget allows the rest"


def _scopes(run: Run, budget: Budget) -> Iterator[tuple[str, Caps, list[str]]]:
    models = run.header.specs
    yield "the run", budget.run, list(models)
    for seat, caps in budget.seats.items():
        yield f"seat {seat}", caps, [seat]
    for model, caps in budget.models.items():
        yield f"model {model}", caps, [seat for seat, spec in models.items() if spec == model]
