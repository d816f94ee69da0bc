"""A model that takes no shape is not sent one, in any seat, and everything else stays."""

import pytest

from wardround.engine.errors import EgressError
from wardround.engine.models.bare import bare
from wardround.engine.models.bound import bound
from wardround.engine.models.guard import Guarded
from wardround.engine.models.loopback import Loopback
from wardround.engine.models.reach import reach
from wardround.engine.models.scripted import Scripted
from wardround.engine.models.shapeless import Shapeless
from wardround.engine.models.single import Single
from wardround.engine.records import Message

ASKED = [Message("user", "Well?")]


async def test_the_option_is_left_out_and_no_other() -> None:
    inner = Scripted(["yes"])
    assert (await Shapeless(inner).complete(ASKED, purpose="p", shape={"type": "object"}, seed=3)).text == "yes"
    assert inner.calls == [(tuple(ASKED), "p", {"seed": 3})]


async def test_bound_to_a_seat_it_still_leaves_it_out() -> None:
    async with Loopback(shapes="refused") as one, Loopback(shapes="refused") as two:
        model = Shapeless(reach("openai/m", base_url=[one.base_url, two.base_url], env={}))
        seat = bound(model, "judge", "e")
        assert (await seat.complete(ASKED, purpose="p", shape={"type": "object"})).text == "Well?"
        assert seat is not model
        assert "response_format" not in [*one.asked, *two.asked][0].json()
        await model.aclose()


async def test_every_host_of_a_fleet_is_still_guarded() -> None:
    class Far(Scripted):
        host = "a.example,b.example"
        hosts = ("a.example", "b.example")

    inner = Far([])
    guarded = Guarded(Shapeless(Single(inner)), ["a.example"], restricted=True)
    with pytest.raises(EgressError, match=r"b\.example"):
        await guarded.complete(ASKED, purpose="p")
    assert inner.count == 0


def test_the_model_is_found_under_whatever_is_wrapped_around_it() -> None:
    inner = Scripted([])
    assert bare(Guarded(Single(Shapeless(inner)), restricted=False)) == [(inner, b"")]
    assert bare(Shapeless(Single(inner))) == [(inner, b"")]
