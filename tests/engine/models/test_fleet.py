"""Several endpoints for one model: where an episode goes, what happens when one is down, and when it is back."""

import asyncio
from collections import Counter
from collections.abc import Sequence

import pytest
from endpoints import Simulated
from instant import instantly
from until import until

from wardround.engine.errors import EgressError, PreflightError, ProviderError, RunStopped, UsageError
from wardround.engine.models.fleet import Fleet
from wardround.engine.models.gate import Gate
from wardround.engine.models.preflight import preflight
from wardround.engine.models.reach import Gates, reach
from wardround.engine.models.wrappers import EgressGuard, Limited, Retrying
from wardround.engine.protocols import Model
from wardround.engine.records import Completion, Json, Message
from wardround.testing.loopback import Loopback

ASKED = [Message("user", "hello")]


class Mortal(Simulated):
    """A simulated endpoint that can be down (nothing listens), ill (HTTP 500), or set up wrongly."""

    fault = ""
    looks = 0

    def __init__(self, latency: float = 1.0) -> None:
        super().__init__(latency=latency)

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        if fault := self.fault:
            await asyncio.sleep(0.001)
            raise ProviderError(fault, f"it is {fault}")
        reply = await super().complete(messages, purpose=purpose, **options)
        if self.fault:  # it went down in the middle
            raise ProviderError(self.fault, f"it is {self.fault}")
        return reply

    async def alive(self, within: float) -> bool:
        self.looks += 1
        return self.fault != "connection"


def fleet(count: int = 4, latency: float = 1.0) -> tuple[Fleet, list[Mortal]]:
    endpoints = [Mortal(latency) for _ in range(count)]
    members = [Limited(endpoint, Gate(f"http://h{n}.example/v1")) for n, endpoint in enumerate(endpoints)]
    return Fleet(members), endpoints


async def ask(model: Model, times: int = 1) -> list[Completion]:
    return [await model.complete(ASKED, purpose="test") for _ in range(times)]


def served(endpoints: list[Mortal]) -> list[int]:
    return [endpoint.served for endpoint in endpoints]


def test_a_thousand_episodes_are_spread_evenly_and_each_keeps_its_endpoint() -> None:
    async def main() -> None:
        model, endpoints = fleet()
        retried = Retrying(model)
        for n in range(1000):
            before = served(endpoints)
            await ask(retried.bound("a", f"case{n}@1"), 3)
            assert sorted(now - then for now, then in zip(served(endpoints), before, strict=True)) == [0, 0, 0, 3]
        assert all(0.20 * 3000 < count < 0.30 * 3000 for count in served(endpoints))

    instantly(main())


def test_the_same_endpoint_after_a_resume_whatever_the_order_of_addresses() -> None:
    one, _ = fleet()
    gates = [member.model for member in one.members]
    other = Fleet(gates[::-1])
    for n in range(50):
        assert [m.address for m in one.order(f"e{n}")] == [m.address for m in other.order(f"e{n}")]
    assert len({one.order(f"e{n}")[0].address for n in range(50)}) == 4


def test_episodes_that_lose_their_endpoint_are_spread_over_the_others_and_go_back() -> None:
    async def main() -> None:
        model, endpoints = fleet()
        episodes = [Retrying(model).bound("a", f"e{n}") for n in range(200)]
        for episode in episodes:
            await ask(episode)
        first = served(endpoints)
        endpoints[0].fault = "connection"
        loop = asyncio.get_running_loop()
        start = loop.time()
        replies = [reply for episode in episodes for reply in await ask(episode)]
        assert max(reply.waited for reply in replies) == 0  # nobody waited for another attempt
        assert sum(reply.attempts for reply in replies) <= 200 + 3
        assert loop.time() - start < 200 * 1.2
        gained = [now - then for now, then in zip(served(endpoints), first, strict=True)]
        moved = first[0]
        assert gained[0] == 0
        assert all(gained[n] - first[n] > moved / 6 for n in (1, 2, 3))
        assert not model.members[0].model.gate.summary()["healthy"]
        endpoints[0].fault = ""
        await asyncio.sleep(31)
        before = served(endpoints)
        for episode in episodes:
            await ask(episode)
        assert served(endpoints)[0] - before[0] == moved
        assert model.members[0].model.gate.summary()["healthy"]

    instantly(main())


@pytest.mark.long
def test_a_dead_endpoint_is_looked_at_less_and_less() -> None:
    async def main() -> None:
        model, endpoints = fleet(2)
        endpoints[0].fault = "connection"
        for _ in range(600):
            await ask(Retrying(model).bound("a", "e"))
            await ask(Retrying(model))
        assert served(endpoints) == [0, 1200]
        assert 600 / 30 <= endpoints[0].looks < 60

    instantly(main())


def test_an_isolated_fault_moves_no_episode() -> None:
    async def main() -> None:
        for kind in ("server", "malformed", "timeout", "rate_limit"):
            model, endpoints = fleet(2)
            episode = Retrying(model).bound("a", "e")
            at_home = endpoints[model.members.index(model.order("e")[0])]
            for _ in range(20):
                at_home.fault = kind
                asyncio.get_running_loop().call_later(0.0005, setattr, at_home, "fault", "")
                [reply] = await ask(episode)
                assert reply.attempts == 2
            assert at_home.served == 20

    instantly(main())


def test_one_that_fails_every_call_is_taken_out_though_it_says_it_is_alive() -> None:
    async def main() -> None:
        model, endpoints = fleet(2)
        endpoints[0].fault = "server"
        replies = []
        for n in range(300):
            replies += await ask(Retrying(model).bound("a", f"e{n}"))
        assert sum(reply.attempts - 1 for reply in replies) < 60
        assert served(endpoints) == [0, 300]

    instantly(main())


@pytest.mark.parametrize("kind", ["auth", "unknown_model"])
def test_one_that_is_set_up_wrongly_ends_no_episode(kind: str) -> None:
    async def main() -> None:
        model, endpoints = fleet(2)
        endpoints[1].fault = kind
        for n in range(50):
            assert (await ask(Retrying(model).bound("a", f"e{n}")))[0].text == "hello"
        endpoints[0].fault = kind
        with pytest.raises(RunStopped, match="in a row"):
            await ask(Retrying(model), 3)

    instantly(main())


def test_all_down_is_an_error_and_then_they_are_back() -> None:
    async def main() -> None:
        model, endpoints = fleet(3)
        for endpoint in endpoints:
            endpoint.fault = "connection"
            asyncio.get_running_loop().call_later(20, setattr, endpoint, "fault", "")
        episodes = [Retrying(model).bound("a", f"e{n}") for n in range(30)]
        replies = await asyncio.gather(*(ask(episode) for episode in episodes))
        assert all(reply[0].text == "hello" for reply in replies)
        for endpoint in endpoints:
            endpoint.fault = "connection"
        with pytest.raises(ProviderError, match="gave up after 14 attempts"):
            await ask(episodes[0])

    instantly(main())


@pytest.mark.long
def test_a_slow_endpoint_does_not_gather_all_episodes() -> None:
    async def main() -> None:
        model, endpoints = fleet(4)
        endpoints[0].latency = 20.0
        model_, loop, done = Retrying(model), asyncio.get_running_loop(), 0
        end = loop.time() + 200

        async def worker(number: int) -> None:
            nonlocal done
            episode = 0
            while loop.time() < end:
                await ask(model_.bound("a", f"{number}/{episode}"), 5)
                done, episode = done + 1, episode + 1

        async with asyncio.TaskGroup() as group:
            for number in range(100):
                group.create_task(worker(number))
        assert done > 0.6 * 100 * 200 / 5  # with no regard to load it would be a fifth

    instantly(main())


def test_what_is_no_fleet() -> None:
    one = Limited(Simulated(), Gate("a"))
    other = Simulated()
    other.name = "n"
    for members in ([one], [one, Limited(other, Gate("b"))]):
        with pytest.raises(UsageError, match="two or more endpoints of one model"):
            Fleet(members)
    with pytest.raises(UsageError, match="an address is given twice"):
        reach("openai/m", base_url=["http://a.example/v1", "http://a.example/v1/"], env={})


async def test_every_host_is_guarded() -> None:
    urls = "http://127.0.0.1:1/v1, http://far.example/v1,http://127.0.0.1:2/v1"
    model = reach("openai/m", base_url=urls, env={})
    assert model.hosts == model.bound("a", "e").hosts == ("127.0.0.1", "far.example")
    for guarded in (EgressGuard(model, restricted=True), EgressGuard(model, restricted=True).bound("a", "e")):
        with pytest.raises(EgressError, match=r"--allow-host far\.example"):
            await guarded.complete(ASKED, purpose="test")
    assert EgressGuard(model, ["far.example"], restricted=True)._closed == ()
    await model.aclose()


async def test_preflight_names_the_member_that_fails() -> None:
    async with Loopback(models=["m"]) as good, Loopback(models=["other"]) as bad:
        model = reach("openai/m", base_url=[good.base_url, bad.base_url], env={})
        with pytest.raises(PreflightError) as caught:
            await preflight({"a": EgressGuard(model, restricted=True)})
        assert str(caught.value).startswith(f"a: m at {bad.base_url}: HTTP 404")
        assert "\n" not in str(caught.value)
        assert (good.total, bad.total) == (1, 1)
        await model.aclose()


async def test_a_fleet_shares_the_gates_of_its_endpoints_with_others() -> None:
    gates = Gates()
    urls = ["http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1"]
    reach("openai/m", base_url=urls, env={}, gates=gates)
    reach("openai/n", base_url=urls[0], env={}, gates=gates)
    reach("openai/n", base_url=urls[0], env={"OPENAI_API_KEY": "k"}, gates=gates)
    assert [(gate["address"], gate.get("key")) for gate in gates.summary()] == [
        (urls[0], 1),
        (urls[1], None),
        (urls[0], 2),
    ]


@pytest.mark.long
async def test_killed_and_started_again_in_the_middle() -> None:
    async with Loopback(latency=0.01) as one, Loopback(latency=0.01) as two:
        model = reach("openai/m", base_url=[one.base_url, two.base_url], env={})
        port, texts = two.port, Counter[str]()

        async def episode(number: int) -> None:
            seat = model.bound("a", f"e{number}")
            for turn in range(20):
                said = f"{number}/{turn}"
                reply = await seat.complete([Message("user", said)], purpose="test")
                assert reply.text == said
                texts[said] += 1
                await asyncio.sleep(0.02)

        async with asyncio.TaskGroup() as group:
            for number in range(60):
                group.create_task(episode(number))
            await until(lambda: two.total >= 60)
            await two.stop()
            down, elsewhere = two.total, one.total
            await until(lambda: one.total >= elsewhere + 120)
            assert two.total == down
            await two.start(port)
        assert set(texts.values()) == {1}
        assert len(texts) == 1200

        # A look after a second or some finds it again.
        for number in range(600):
            await model.bound("a", f"later{number}").complete(ASKED, purpose="test")
            if two.total > down:
                break
            await asyncio.sleep(0.05)
        assert two.total > down
        await model.aclose()
