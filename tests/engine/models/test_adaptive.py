"""How many calls at once: learnt against simulated endpoints, in a loop whose waiting takes no time."""

import asyncio
from collections.abc import Callable

import pytest
from endpoints import Simulated, work
from instant import instantly

from wardround.engine.models.gate import Gate
from wardround.engine.models.health import Adaptive
from wardround.engine.models.quota import Quota
from wardround.engine.models.wrappers import Limited, Retrying

Change = Callable[[Simulated], None]


class Watched:
    """A simulated endpoint under steady demand, with what its gate did meanwhile."""

    def __init__(self, endpoint: Simulated, quota: Quota | None = None) -> None:
        self.endpoint, self.gate = endpoint, Gate("g", quota)
        self.model = Retrying(Limited(endpoint, self.gate))
        self.caps: list[float] = []

    async def run(self, workers: int, *phases: tuple[float, Change | None]) -> list[tuple[float, float]]:
        """(calls served a second, share refused) in each phase: seconds, and what to change before it."""
        total = sum(seconds for seconds, _ in phases)
        working = asyncio.create_task(work(self.model, total, workers))
        figures = []
        for seconds, change in phases:
            if change:
                change(self.endpoint)
            served, refused = self.endpoint.served, self.endpoint.refused
            for _ in range(int(seconds)):
                await asyncio.sleep(1)
                self.caps.append(self.gate.adaptive.cap)
            served, refused = self.endpoint.served - served, self.endpoint.refused - refused
            figures.append((served / seconds, refused / max(1, served + refused)))
        await working  # no call failed
        assert self.gate.in_flight == 0
        return figures


@pytest.mark.parametrize(
    ("capacity", "workers", "places"),
    [
        (20, 200, None),
        pytest.param(100, 200, None, marks=pytest.mark.long),
        pytest.param(20, 200, 50, marks=pytest.mark.long),
        pytest.param(5, 50, None, marks=pytest.mark.long),
        (2, 20, None),
    ],
)
def test_it_settles_near_what_the_endpoint_can_take(capacity: int, workers: int, places: int | None) -> None:
    watched = Watched(Simulated(capacity), Quota(in_flight=places))
    _, settled = instantly(watched.run(workers, (60, None), (240, None)))
    assert settled[0] >= 0.9 * capacity
    assert settled[1] <= 0.05


@pytest.mark.long
@pytest.mark.parametrize("latency", [5.0, pytest.param(0.2, marks=pytest.mark.long)])
def test_and_so_it_does_whatever_the_latency(latency: float) -> None:
    watched = Watched(Simulated(20, latency))
    _, settled = instantly(watched.run(200, (60 * latency, None), (240 * latency, None)))
    assert settled[0] >= 0.9 * 20 / latency
    assert settled[1] <= 0.05


@pytest.mark.long
def test_it_never_slows_an_endpoint_that_can_take_all() -> None:
    watched = Watched(Simulated(300))
    [figures] = instantly(watched.run(200, (60, None)))
    assert figures[0] >= 0.97 * 200
    assert watched.gate.adaptive.cap == float("inf")


def capacity(number: int) -> Change:
    return lambda endpoint: setattr(endpoint, "capacity", number)


def latency(seconds: float) -> Change:
    return lambda endpoint: setattr(endpoint, "latency", seconds)


@pytest.mark.long
def test_it_follows_when_capacity_grows_and_shrinks() -> None:
    watched = Watched(Simulated(20))
    figures = instantly(watched.run(200, (60, None), (60, capacity(100)), (60, None), (30, capacity(20)), (60, None)))
    assert figures[2][0] >= 0.9 * 100
    assert figures[4][0] >= 0.9 * 20
    assert max(figures[2][1], figures[4][1]) <= 0.05


def test_isolated_refusals_change_nothing() -> None:
    adaptive = Adaptive(100)
    for number in range(10_000):
        if number % 50 == 0:
            assert not adaptive.refused(adaptive.epoch, number / 100, 50)
        else:
            adaptive.ended(adaptive.epoch, number / 100, 1.0, 100)
    assert adaptive.cap == 100


def test_more_than_a_twentieth_do() -> None:
    adaptive = Adaptive(100)
    for _ in range(100):
        adaptive.saw(100)
    fell = [adaptive.refused(adaptive.epoch, 0.0, 100) for _ in range(6)]
    assert fell == [False, False, False, False, False, True]
    assert adaptive.cap == 90


def test_a_burst_is_one_event() -> None:
    adaptive = Adaptive(200)
    adaptive.saw(200)
    fell = [adaptive.refused(0, 0.0, 199 - number) for number in range(180)]
    assert fell.count(True) == 1
    assert adaptive.cap >= 100


def test_never_below_one_and_up_again() -> None:
    adaptive = Adaptive(8)
    for _ in range(1000):
        adaptive.saw(int(adaptive.cap))
        adaptive.refused(adaptive.epoch, 0.0, 0)
    assert adaptive.cap == 1
    for number in range(2000):
        adaptive.full = True
        adaptive.saw(int(adaptive.cap))
        adaptive.ended(adaptive.epoch, float(number), 1.0, 100)
    assert adaptive.cap == 8


@pytest.mark.long
@pytest.mark.parametrize(("says", "share"), [(True, 0.95), pytest.param(False, 0.5, marks=pytest.mark.long)])
def test_a_quota_window_without_a_configured_quota_fails_no_call(says: bool, share: float) -> None:
    endpoint = Simulated()
    endpoint.window, endpoint.says = (600, 60.0), says
    watched = Watched(endpoint)
    [figures] = instantly(watched.run(100, (600, None)))
    assert figures[0] * 60 >= share * 600


@pytest.mark.long
def test_a_configured_quota_is_never_refused() -> None:
    endpoint = Simulated()
    endpoint.window = (600, 60.0)
    watched = Watched(endpoint, Quota(rpm=600))
    [figures] = instantly(watched.run(100, (600, None)))
    assert endpoint.refused == 0
    assert figures[0] * 60 >= 0.95 * 600


@pytest.mark.long
def test_latency_that_is_not_our_doing_costs_one_round() -> None:
    watched = Watched(Simulated())
    figures = instantly(watched.run(100, (50, None), (60, latency(5.0)), (50, latency(1.0))))
    assert min(watched.caps) == 50
    assert watched.caps[-1] == float("inf")
    assert figures[1][0] >= 0.65 * 20
    assert figures[2][0] >= 0.9 * 100


def test_latency_that_our_load_makes_halves_the_load_and_it_recovers() -> None:
    def weak(endpoint: Simulated) -> None:
        endpoint.load = 0.1

    def strong(endpoint: Simulated) -> None:
        endpoint.load = 0.0

    watched = Watched(Simulated(), Quota(in_flight=100))
    figures = instantly(watched.run(100, (50, None), (100, weak), (60, strong), (60, None)))
    assert min(watched.caps) <= 50
    assert figures[1][0] >= 0.6 * 100 / 11  # what 100 at once would get done
    assert figures[3][0] >= 0.9 * 100
    assert watched.caps[-1] == 100


@pytest.mark.long
def test_an_endpoint_that_slows_as_it_does_more_is_not_throttled() -> None:
    async def main() -> None:
        endpoint = Simulated()
        endpoint.load = 0.01  # ten times the calls: eight times the work, at a quarter more latency a call
        gate = Gate("g")
        model = Retrying(Limited(endpoint, gate))
        for workers in (10, 50, 100, 200, 400):
            await work(model, 60, workers)
            assert gate.adaptive.cap >= workers

    instantly(main())
