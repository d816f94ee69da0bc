"""How growth is measured, on readers whose work is counted instead of timed."""

import pytest

from benchmarks.growth import MOST, Reader, growth, worst


class Counted:
    """A reader that spends a microsecond for each unit of its work, and the clock that shows it."""

    def __init__(self, power: dict[str, int], other: int = 1) -> None:
        self.power, self.other, self.now = power, other, 0.0

    def read(self, text: str) -> None:
        self.now += 1e-6 * len(text) ** self.power.get(text[-1], self.other)

    def clock(self) -> float:
        return self.now


@pytest.mark.parametrize(("power", "ratio"), [(1, 2), (2, 4), (3, 8)])
def test_twice_the_text_takes_two_to_the_power_of_the_work(power: int, ratio: float) -> None:
    reader = Counted({}, power)
    found = growth(Reader("counted", reader.read), "a", clock=reader.clock, runs=3)
    assert found.ratio == pytest.approx(ratio, rel=0.05)
    assert (found.ratio > MOST) is (power > 1)


def test_of_many_pieces_the_one_that_grows_most_is_shown() -> None:
    reader = Counted({"?": 2})
    found = worst(Reader("counted", reader.read), ["a", "?", "b", "c", "d", "e"], clock=reader.clock)
    assert found.piece == "?"
    assert found.ratio > MOST


def test_what_takes_no_time_does_not_grow() -> None:
    reader = Counted({}, 0)
    assert growth(Reader("counted", reader.read), "a", clock=reader.clock).ratio == 1
