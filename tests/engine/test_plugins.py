"""Names, import paths, and what can make an agent."""

import pytest
from toy import NO_PROMPTS

from wardround.engine.errors import UsageError
from wardround.engine.plugins import import_path, load_plugin, maker, plugin_names
from wardround.engine.seat import Seat


class Bare:
    """Made with nothing."""


class Seated:
    """Made with a seat."""

    def __init__(self, seat: object) -> None:
        self.seat = seat


class Needy:
    """Needs too much."""

    def __init__(self, one: object, two: object) -> None:
        """Nothing."""


def test_a_class_may_take_a_seat_or_nothing() -> None:
    seat = Seat("caller", "c", 1, NO_PROMPTS)
    assert isinstance(maker(Bare, "Bare")(seat), Bare)
    assert maker(Seated, "Seated")(seat).seat is seat
    with pytest.raises(UsageError, match="Needy"):
        maker(Needy, "Needy")
    with pytest.raises(UsageError, match="cannot be called"):
        maker(3, "three")  # type: ignore[arg-type]


def test_names_are_listed_and_a_wrong_one_is_told_which_there_are() -> None:
    assert {"gold", "silent"} <= set(plugin_names("wardround.seats.doctor"))
    with pytest.raises(UsageError, match="gold"):
        load_plugin("wardround.seats.doctor", "house")
    with pytest.raises(UsageError, match="there is no scenario 'workupp', did you mean workup"):
        load_plugin("wardround.scenarios", "workupp")


@pytest.mark.parametrize(
    "old",
    ["evaluators.standard:Standard", "evaluators.assessment:Assessment", "agents.silent:Silent", "priced:Priced"],
)
def test_class_paths_in_stored_headers_are_found(old: str) -> None:
    assert import_path(f"wardround.{old}").__name__ == old.partition(":")[2]


@pytest.mark.parametrize("path", ["no.such:Thing", "wardround.engine.plugins:Nothing", "wardround.engine.plugins:"])
def test_a_wrong_path_says_how_to_write_it(path: str) -> None:
    with pytest.raises(UsageError, match=r"package\.module:Class"):
        import_path(path)


def test_a_right_path_is_loaded() -> None:
    assert import_path("wardround.engine.plugins:maker") is maker
