"""Silent says nothing, whatever it hears."""

from seats import a_view

from wardround.agents.gold import Silent
from wardround.engine.records import Action


async def test_it_says_nothing() -> None:
    assert await Silent().act(a_view([("desk", "please")])) == Action("reply", "")
