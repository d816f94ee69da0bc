"""The call cache: what was asked before is answered, what differs in anything is another question."""

import pytest

from wardround.engine.calls import StoreCache
from wardround.engine.records import Completion, Usage
from wardround.testing.memory_store import MemoryStore

REPLY = Completion("yes", "hm", usage=Usage(3, 4, cost=0.1), latency=2.0, waited=1.0, attempts=3)


async def test_an_answer_comes_back_marked_and_without_time() -> None:
    cache = StoreCache(MemoryStore(), "x/m at a", 1)
    assert await cache.recall("k", 0) is None
    await cache.keep("k", 0, REPLY)
    found = await cache.recall("k", 0)
    assert found is not None
    assert (found.text, found.thinking, found.usage) == ("yes", "hm", REPLY.usage)
    assert (found.recalled, found.latency, found.waited, found.attempts) == (True, 0.0, 0.0, 0)


@pytest.mark.parametrize(
    ("model", "repeat", "key", "nth"),
    [
        ("x/n at a", 1, "k", 0),
        ("x/m at b", 1, "k", 0),
        ("x/m at a", 2, "k", 0),
        ("x/m at a", 1, "l", 0),
        ("x/m at a", 1, "k", 1),
    ],
)
async def test_another_model_repeat_question_or_occurrence_is_not_answered(
    model: str, repeat: int, key: str, nth: int
) -> None:
    store = MemoryStore()
    await StoreCache(store, "x/m at a", 1).keep("k", 0, REPLY)
    assert await StoreCache(store, model, repeat).recall(key, nth) is None


async def test_the_first_answer_stays() -> None:
    cache = StoreCache(MemoryStore(), "m", 1)
    await cache.keep("k", 0, REPLY)
    await cache.keep("k", 0, Completion("no"))
    found = await cache.recall("k", 0)
    assert found is not None
    assert found.text == "yes"


async def test_a_shared_answer_is_for_every_repeat_and_occurrence_of_the_same_question_to_the_same_model() -> None:
    store = MemoryStore()
    shared = StoreCache(store, "m", None)
    await shared.keep("k", 3, REPLY)
    found = await shared.recall("k", 0)
    assert found is not None
    assert (found.text, found.recalled) == ("yes", True)
    assert await shared.recall("l", 3) is None
    assert await StoreCache(store, "n", None).recall("k", 3) is None
    assert await StoreCache(store, "m", 0).recall("k", 3) is None
