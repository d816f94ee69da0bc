"""Calls in batches: gathered, noted before they are paid, found again after a kill, asked again if they were lost."""

import asyncio
from collections.abc import Sequence

import pytest
from examples import first_ones

from wardround.engine.errors import ProviderError
from wardround.engine.models.batch_api import BatchApi
from wardround.engine.models.batched import Batched, Pace
from wardround.engine.models.chat import ChatModel, Endpoint
from wardround.engine.models.prices import Price
from wardround.engine.protocols import Store
from wardround.engine.records import Completion, Message
from wardround.testing import wire
from wardround.testing.loopback import Answering, Batches, Loopback
from wardround.testing.memory_store import MemoryStore
from wardround.testing.wire import ReceivedRequest

FAST = Pace(quiet=0.02, first=0.02, longest=0.05)


def model_at(server: Loopback, store: Store, pace: Pace = FAST, api: BatchApi | None = None) -> Batched:
    direct = ChatModel("m", Endpoint(server.base_url, key=server.key), price=Price(2.0, 4.0))
    made = Batched(direct, api or direct.batches(), store, price=Price(2.0, 4.0), pace=pace)
    made.begin("r")
    return made


async def ask(model: Batched, count: int, temperature: float = 0.0) -> list[Completion | BaseException]:
    async def one(number: int) -> Completion:
        bound = model.bound("doctor", f"c{number}@1")
        return await bound.complete([Message("user", f"question {number}")], purpose="act", temperature=temperature)

    return list(await asyncio.gather(*[one(number) for number in range(count)], return_exceptions=True))


def texts(replies: Sequence[Completion | BaseException]) -> list[str]:
    return [reply.text if isinstance(reply, Completion) else repr(reply) for reply in replies]


async def test_many_calls_are_one_batch_at_half_the_price() -> None:
    async with Loopback() as server:
        model = model_at(server, MemoryStore())
        replies = await ask(model, 50)
        await model.aclose()
    assert texts(replies) == [f"question {number}" for number in range(50)]
    assert (server.batches.created, server.batches.requests, server.total) == (1, 50, 50)
    first = replies[0]
    assert isinstance(first, Completion)
    assert first.usage.cost == (first.usage.prompt * 2.0 + first.usage.completion * 4.0) / 2e6
    assert first.waited == first.latency > 0


async def test_a_batch_is_no_larger_than_the_endpoint_takes() -> None:
    async with Loopback() as server:
        model = model_at(server, MemoryStore(), FAST._replace(most=20))
        assert texts(await ask(model, 50)) == [f"question {number}" for number in range(50)]
        small = model_at(server, MemoryStore(), FAST._replace(size=700))
        assert len(texts(await ask(small, 4))) == 4
        await model.aclose()
        await small.aclose()
    assert (server.batches.created, server.batches.requests) == (3 + 2, 54)


async def test_the_same_question_twice_in_an_act_has_two_answers() -> None:
    async with Loopback() as server:
        model = model_at(server, MemoryStore())
        bound, asked = model.bound("doctor", "a@1"), [Message("user", "hello")]
        await asyncio.gather(*[bound.complete(asked, purpose="act") for _ in range(3)])
        await model.aclose()
    assert server.batches.requests == 3


class Spoilt(Batches):
    """Batches whose server answers something else to a question of the kind `where`, the first `times` times."""

    def __init__(self, where: tuple[str, str], answer: bytes, times: int = 1) -> None:
        super().__init__()
        self._where, self._answer, self._times = where, answer, times

    def reply(self, asked: ReceivedRequest, answer: Answering) -> bytes | None:
        """As usual, but for what is spoilt; a `%s` of the answer is the rest of the content behind its first line."""
        whole = super().reply(asked, answer)
        parts = asked.path.strip("/").split("/")[1:]
        if self._times and whole is not None and (asked.method, "/".join(parts[::2])) == self._where:
            self._times -= 1
            rest = whole.partition(b"\r\n\r\n")[2].partition(b"\n")[2]
            return wire.http(200, self._answer.replace(b"%s", rest))
        return whole


@pytest.mark.parametrize(
    "line",
    first_ones(
        [b"<html>", b"[1]", b"null", b"{}", b'{"custom_id": 5}', b"\xff\xfe", b'{"custom_id": "a"', b"[" * 100_000], 3
    ),
)
async def test_a_line_that_cannot_be_read_is_an_unanswered_request(line: bytes) -> None:
    """It once ended the task that all calls of the batch wait for, and they waited for ever."""
    async with Loopback(batches=Spoilt(("GET", "files/content"), line + b"\n%s")) as server:
        model = model_at(server, MemoryStore())
        replies = await asyncio.wait_for(ask(model, 4), 240)
        await model.aclose()
    assert texts(replies) == [f"question {number}" for number in range(4)]
    assert (server.batches.created, server.batches.requests) == (2, 5)


@pytest.mark.parametrize("where", [("POST", "files"), ("POST", "batches"), ("GET", "batches")])
@pytest.mark.parametrize("answer", first_ones([b"<html>busy</html>", b"null", b"[]"], 1))
async def test_an_endpoint_that_answers_something_else_fails_the_calls(where: tuple[str, str], answer: bytes) -> None:
    async with Loopback(batches=Spoilt(where, answer, times=100)) as server:
        model = model_at(server, MemoryStore())
        replies = await asyncio.wait_for(ask(model, 2), 240)
        await model.aclose()
    assert [one.kind for one in replies if isinstance(one, ProviderError)] == ["malformed"] * 2


async def test_a_state_that_cannot_be_read_once_is_asked_for_again() -> None:
    async with Loopback(batches=Spoilt(("GET", "batches"), b"<html>busy</html>", times=2)) as server:
        model = model_at(server, MemoryStore())
        assert texts(await asyncio.wait_for(ask(model, 2), 240)) == ["question 0", "question 1"]
        await model.aclose()


@pytest.mark.parametrize("ends", ["half", "expired"])
async def test_what_was_not_answered_goes_into_another_batch(ends: str) -> None:
    async with Loopback(batches=Batches(ends=(ends,))) as server:  # type: ignore[arg-type]
        model = model_at(server, MemoryStore())
        assert texts(await ask(model, 10)) == [f"question {number}" for number in range(10)]
        await model.aclose()
    assert (server.batches.created, server.batches.requests) == (2, 15)


async def test_after_three_batches_without_an_answer_the_call_fails() -> None:
    async with Loopback(batches=Batches(ends=("half",) * 9)) as server:
        model = model_at(server, MemoryStore())
        replies = await ask(model, 3)
        await model.aclose()
    kinds = [reply.kind for reply in replies if isinstance(reply, ProviderError)]
    assert kinds in ([], ["server"])
    assert server.batches.created <= 3


@pytest.mark.parametrize(("ends", "kind", "failing"), [("failed", "bad_request", 4), ("cancelled", "timeout", 2)])
async def test_a_batch_that_fails_as_a_whole_fails_its_calls_and_can_be_asked_anew(
    ends: str, kind: str, failing: int
) -> None:
    store = MemoryStore()
    async with Loopback(batches=Batches(ends=(ends,))) as server:  # type: ignore[arg-type]
        model = model_at(server, store)
        replies = await ask(model, 4)
        kinds = [reply.kind for reply in replies if isinstance(reply, ProviderError)]
        assert len(kinds) == failing
        assert set(kinds) <= {kind, "server"}
        await model.aclose()
        again = model_at(server, store)
        assert texts(await ask(again, 4)) == [f"question {number}" for number in range(4)]
        await again.aclose()
    assert server.batches.requests == 4 + failing


async def test_a_refused_request_is_not_asked_again() -> None:
    async with Loopback(refuses=("temperature",)) as server:
        model = model_at(server, MemoryStore())
        replies = await ask(model, 2)
        await model.aclose()
    assert [reply.kind for reply in replies if isinstance(reply, ProviderError)] == ["bad_request"] * 2
    assert server.batches.created == 1


async def test_a_wrong_key_is_said() -> None:
    async with Loopback(batches=Batches()) as server:
        model = model_at(server, MemoryStore())
        server.key = "sk-another-key"
        replies = await ask(model, 1)
        await model.aclose()
    assert [reply.kind for reply in replies if isinstance(reply, ProviderError)] == ["auth"]


async def test_a_lost_reply_to_the_creation_is_no_second_batch() -> None:
    async with Loopback(batches=Batches(deaf=1)) as server:
        model = model_at(server, MemoryStore())
        assert texts(await ask(model, 3)) == [f"question {number}" for number in range(3)]
        await model.aclose()
    assert server.batches.created == 1


class Killing:
    """A batch interface during which the process ends, before or after one of its steps."""

    def __init__(self, inner: BatchApi, step: str, when: str) -> None:
        self.inner, self.step, self.when = inner, step, when
        self.where = inner.where
        self.over = asyncio.Event()

    def __getattr__(self, name: str) -> object:
        async def call(*words: object) -> object:
            if self.over.is_set() or (name == self.step and self.when == "before"):
                await self._dead()
            made = await getattr(self.inner, name)(*words)
            if name == self.step:
                await self._dead()
            return made

        return call

    async def aclose(self) -> None:
        """Close the sockets, which the end of a process would."""
        await self.inner.aclose()

    async def _dead(self) -> None:
        self.over.set()
        await asyncio.Event().wait()


@pytest.mark.parametrize("when", first_ones(["before", "after"], 1))
@pytest.mark.parametrize("step", ["upload", "create", "state", "lines"])
async def test_a_kill_at_any_moment_loses_nothing_and_pays_nothing_twice(step: str, when: str) -> None:
    store = MemoryStore()
    async with Loopback(batches=Batches(seconds=0.1)) as server:
        direct = ChatModel("m", Endpoint(server.base_url))
        killing = Killing(direct.batches(), step, when)
        first = model_at(server, store, api=killing)  # type: ignore[arg-type]
        task = asyncio.get_running_loop().create_task(ask(first, 5))
        await asyncio.wait_for(killing.over.wait(), 240)
        paid = server.batches.requests
        task.cancel()
        await first.aclose()
        second = model_at(server, store)
        assert texts(await ask(second, 7)) == [f"question {number}" for number in range(7)]
        await second.aclose()
    assert paid in (0, 5)
    assert server.batches.requests == 7


async def test_another_run_asks_anew() -> None:
    store = MemoryStore()
    async with Loopback() as server:
        for scope in ("a", "b"):
            model = model_at(server, store)
            model.begin(scope)
            assert len(await ask(model, 2)) == 2
            await model.aclose()
    assert server.batches.requests == 4
