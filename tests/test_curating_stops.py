"""A build that is stopped, dies, runs out of budget or is changed afterwards: nothing is asked twice."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import cast

import pytest
from curating import answered, flow, instead, pmc_folder, settings
from halting import Halting

from wardround.builds import CaseBuild
from wardround.engine.batch import Progress
from wardround.engine.errors import StoreError, UsageError
from wardround.engine.protocols import Store
from wardround.engine.records import Message
from wardround.runs.stored_run import open_store
from wardround.testing.loopback import Loopback
from wardround.testing.memory_store import MemoryStore

CALLS = 6
"""Calls that one of our articles needs: two of relevance, two cases, two strata."""


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")


@pytest.fixture
async def server() -> AsyncIterator[Loopback]:
    async with Loopback(answered) as running:
        yield running


@pytest.fixture
def pmc(tmp_path: Path) -> Path:
    """A folder of eight articles, of which four can become cases."""
    return pmc_folder(tmp_path)


async def test_a_stop_in_the_middle_and_a_resume_ask_nothing_twice(tmp_path: Path, pmc: Path) -> None:
    progress, seen = Progress(), 0

    def counted(messages: Sequence[Message], model: str) -> str:
        nonlocal seen
        seen += 1
        if seen == 9:
            progress.drain("enough")
        return answered(messages, model)

    out, store = tmp_path / "c.jsonl", open_store(tmp_path / "s.db")
    async with Loopback(counted) as server:
        given = settings(pmc, server.base_url, concurrency=2, preflight=False)
        first = await CaseBuild(out).begin(given, store, progress)
        assert first.account.open > 0
        assert flow(first)["finished"][1] == first.account.open
        partial = out.read_text() if out.exists() else ""  # a build that made nothing writes nothing
        whole = await CaseBuild(out).resume("r", store, Progress())
        assert whole.account.open == 0
        assert max(server.counts.values()) == 1
        assert server.total == 4 * CALLS + 2
        uncut = tmp_path / "uncut.jsonl"
        await CaseBuild(uncut).begin(given, MemoryStore(), Progress())
    assert out.read_text() == uncut.read_text()
    assert out.read_text().startswith(partial)
    await store.aclose()


@pytest.mark.long
async def test_deaths_at_every_few_events_lose_no_recorded_call(tmp_path: Path, pmc: Path) -> None:
    out, store = tmp_path / "c.jsonl", MemoryStore()
    async with Loopback(answered) as server:
        given = settings(pmc, server.base_url, concurrency=1, preflight=False)
        life, deaths = Halting(store, 3), 0
        with pytest.raises(StoreError):
            await CaseBuild(out).begin(given, dying(life), Progress())
        while True:
            deaths += 1
            for session in await store.sessions("r"):
                await store.release(session.id)
            life = Halting(store, 3 + deaths)
            try:
                built = await CaseBuild(out).resume("r", dying(life), Progress())
            except StoreError:
                continue
            break
        assert deaths > 3
        assert server.total <= 4 * CALLS + 2 + deaths
        uncut = tmp_path / "uncut.jsonl"
        await CaseBuild(uncut).begin(given, MemoryStore(), Progress())
    assert built.account.open == 0
    assert built.run is not None
    recorded = [call async for trajectory in built.run for call in trajectory.called()]
    assert len(recorded) == len({call.key for call in recorded}) == 4 * CALLS + 2
    assert out.read_text() == uncut.read_text()


def dying(life: Halting) -> Store:
    return cast(Store, life)


async def test_a_budget_drains_the_build_and_the_cache_answers_the_next(tmp_path: Path, pmc: Path) -> None:
    out, store = tmp_path / "c.jsonl", MemoryStore()
    async with Loopback(answered) as server:
        given = settings(pmc, server.base_url, budget=["8calls"], seat={"cache": True}, preflight=False, concurrency=1)
        built = await CaseBuild(out).begin(given, store, Progress())
        assert built.account.open > 0
        assert server.total == 8
        built = await CaseBuild(out).resume("r", store, Progress(), budget=["100calls"])
        assert built.account.open == 0
        asked = server.total
        again = given.model_copy(update={"name": "again", "budget": ()})
        second = await CaseBuild(out).begin(again, store, Progress())
        assert second.account.open == 0
        assert server.total == asked


@pytest.mark.long
async def test_checks_can_be_changed_afterwards_without_a_call(tmp_path: Path, pmc: Path) -> None:
    out, store = tmp_path / "c.jsonl", MemoryStore()
    made_up = (
        "### Comprehensive Patient Profile\n- Chief Complaint: a painful red nodule of his finger for 9 weeks\n"
        "### Treatment Planning Analysis\nnone\n### Selected Treatment for the Patient\nGive itraconazole."
    )
    reply = instead("### Comprehensive", made_up)
    async with Loopback(reply) as server:
        built = await CaseBuild(out).begin(settings(pmc, server.base_url), store, Progress())
        assert flow(built)["numbers"][1] == 4
        asked = server.total
        built = await CaseBuild(out, ["numbers"]).resume("r", store, Progress())
        assert built.account.made["treatment"] == 4
        assert "numbers" not in flow(built)
        assert server.total == asked
        with pytest.raises(UsageError, match="only rules for built cases"):
            await CaseBuild(out, ["language"]).resume("r", store, Progress())
