"""Quotas as people write them, and what was spent of a daily one before this process began."""

from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import pytest
from clinic import case_file, lines

import wardround
from wardround.engine.batch import Progress
from wardround.engine.errors import UsageError
from wardround.engine.models.batched import Batched
from wardround.engine.models.quota import Quota
from wardround.engine.models.transport import Timeouts
from wardround.engine.models.wrappers import Patience
from wardround.engine.plugins import _installed as cached_points
from wardround.engine.sessions import RunControl
from wardround.engine.stores.sqlite import SqliteStore
from wardround.runs.seat_models import Access, access_of, read_quotas, seat_model, spent_today
from wardround.runs.seat_settings import ModelSettings
from wardround.runs.settings import RunSettings
from wardround.testing.loopback import Loopback
from wardround.testing.memory_store import MemoryStore
from wardround.testing.wire import Fault


def test_a_quota_is_for_all_endpoints_or_for_one() -> None:
    found = read_quotas(["rpm=600, tpm=1000", "http://localhost:8000/v1 in_flight=64"])
    assert found == {"": Quota(rpm=600, tpm=1000), "http://localhost:8000/v1": Quota(in_flight=64)}


@pytest.mark.parametrize(
    ("text", "said"),
    [("rpm", "NAME=N"), ("rpm=x", "rpm=x"), ("speed=3", "speed"), ("rpm=0", "above 0"), ("", "NAME=N")],
)
def test_what_cannot_be_read_is_named(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_quotas([text])


def test_one_place_has_one_quota() -> None:
    with pytest.raises(UsageError, match="set twice"):
        read_quotas(["h.example rpm=1", "h.example tpm=1"])


async def test_a_daily_quota_leaves_episodes_open_and_counts_over_resumes(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "runs.db")
    cases = case_file(tmp_path / "cases.jsonl", 12)
    async with Loopback(lambda messages, model: lines("oracle", messages)) as server:
        progress = Progress()
        run = await wardround.run(
            cases,
            "oracle",
            doctor={"spec": "openai/m", "base_url": server.base_url},
            repeats=1,
            name="r",
            store=store,
            preflight=False,
            concurrency=3,
            quotas=["daily_requests=5"],
            progress=progress,
        )
        assert await run.endings() == {"completed": 5, "open": 7}
        assert "daily quota" in progress.why
        assert "UTC" in progress.why
        assert await spent_today(store) == {"127.0.0.1": (5, (await store.spending("r"))[0].spent.tokens)}
        await wardround.resume("r", store=store)
        assert await run.endings() == {"completed": 5, "open": 7}
        assert server.total == 5
    await store.aclose()


async def test_patience_and_timeout_are_as_told_or_usual() -> None:
    usual = await access_of(RunSettings(), MemoryStore())
    assert (usual.timeouts, usual.patience) == (None, None)
    told = await access_of(RunSettings(timeout=3600, patience=1800), MemoryStore())
    assert told.timeouts == Timeouts(connect=30, first_byte=3600, total=3600)
    assert told.patience == Patience(attempts=14 + 54, total=600 + 1620, silence=1800)
    short = await access_of(RunSettings(timeout=5, patience=20), MemoryStore())
    assert short.timeouts == Timeouts(connect=5, first_byte=5, total=5)
    assert short.patience == Patience(silence=20)


async def test_a_run_taken_up_again_can_be_told_another_timeout(tmp_path: Path) -> None:
    store, cases = MemoryStore(), case_file(tmp_path / "cases.jsonl", 3)
    faults = [None, Fault("stall", seconds=600)]
    async with Loopback(lambda messages, model: lines("oracle", messages), faults=faults) as server:
        doctor = {"spec": "openai/m", "base_url": server.base_url}
        run = await wardround.run(
            cases,
            "oracle",
            doctor=doctor,
            repeats=1,
            name="r",
            store=store,
            preflight=False,
            concurrency=1,
            budget=["1calls"],
        )
        assert await run.endings() == {"completed": 1, "open": 2}
        await wardround.resume("r", store=store, budget=["100calls"], timeout=0.5, patience=7)
        assert await run.endings() == {"completed": 3}
        assert server.total == 4, "the one that stalled was given up after the new timeout, and asked again"
        orders: RunControl = await store.orders("r")
        assert (orders.timeout, orders.patience) == (0.5, 7)
        assert run.settings().timeout is None, "what a run was begun with stays"


@pytest.fixture
def own_provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An installed package with a provider whose models have a batch interface of their own."""
    (tmp_path / "own_batches.py").write_text(
        "from wardround.engine.models.batch_api import OpenAIBatches\n"
        "from wardround.engine.models.provider import Provider\n"
        "from wardround.engine.protocols import Model\n\n\n"
        "class Own(Model):\n"
        "    name, host, price = 'm', 'own.example', None\n\n"
        "    def batches(self):\n"
        "        return OpenAIBatches('http://own.example/v1', '', 'own.example')\n\n\n"
        "class Owner(Provider):\n"
        "    def model(self, wanted):\n"
        "        return Own()\n"
    )
    folder = tmp_path / "own_batches-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: own-batches\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text("[wardround.providers]\nown = own_batches:Owner\n")
    monkeypatch.syspath_prepend(tmp_path)
    cached_points.cache_clear()
    yield
    cached_points.cache_clear()


@pytest.mark.usefixtures("own_provider")
def test_a_model_of_another_package_is_asked_in_batches_by_its_own_interface() -> None:
    access = Access(batch=MemoryStore())
    made = seat_model("own/m", ModelSettings(), access, {})
    assert isinstance(made.model, Batched)
    assert made.model.queue.where == "own.example"
    with pytest.raises(UsageError, match="cannot be asked in batches"):
        seat_model("openai-responses/m", ModelSettings(base_url="http://127.0.0.1:9/v1"), access, {})


class FolderStore(MemoryStore):
    """A user's store that keeps its data in a folder."""

    def files(self) -> list[str]:
        return ["/kept/truths"]


async def test_a_sealed_process_sees_neither_the_cases_nor_the_files_of_a_store(tmp_path: Path) -> None:
    cases, where = tmp_path / "cases.jsonl", str(tmp_path / "runs.db")
    cases.touch()
    settings = RunSettings(cases=str(cases))
    assert (await access_of(settings, MemoryStore())).hidden == (str(cases),)
    assert (await access_of(settings, FolderStore())).hidden == (str(cases), "/kept/truths")
    async with aclosing(SqliteStore(where)) as store:
        assert {where, f"{where}-wal"} < {*(await access_of(settings, store)).hidden}
