"""Restricted cases: where they may go is decided by what is connected to, and before anything leaves."""

import sqlite3
from pathlib import Path

import msgspec
import pytest
from clinic import case, lines
from shell import Shell

from wardround import resume, run
from wardround.api import AgentSpec
from wardround.engine.errors import EgressError
from wardround.engine.models.hosts import endpoint_url, host_of, is_loopback, normal_host
from wardround.engine.models.wrappers import may_receive
from wardround.engine.records import Action, Score, View
from wardround.engine.stores.writes import header_bytes
from wardround.evaluators.search.web import is_public
from wardround.replay_run import fork_run
from wardround.scenarios.case import Case
from wardround.scenarios.encounters.staged import Oracle, StagedState
from wardround.scoring.score import score_run
from wardround.testing.loopback import Loopback
from wardround.testing.memory_store import MemoryStore

HANDED: list[object] = []


class Own:
    """A doctor of one's own; it notes whatever it is handed."""

    async def act(self, view: View) -> Action:
        HANDED.append(view)
        return Action("reply", "Diagnosis: gout")


class OwnJudge:
    """An evaluator of one's own."""

    name = "mine"

    async def score(self, case: object, trajectory: object, seat: object) -> list[Score]:
        HANDED.append(case)
        return [Score("mine", 1.0)]


@pytest.fixture
def restricted(tmp_path: Path) -> Path:
    """Two cases, the second of which is restricted."""
    HANDED.clear()
    path = tmp_path / "c.jsonl"
    second = case(2).model_copy(update={"data_class": "restricted"})
    path.write_text(case(1).model_dump_json() + "\n" + second.model_dump_json() + "\n")
    return path


@pytest.mark.parametrize("seat", ["doctor", "patient", "examiner"])
@pytest.mark.parametrize("given", [Own, f"{__name__}:Own"])
async def test_no_agent_of_ones_own_gets_one(restricted: Path, seat: str, given: AgentSpec) -> None:
    store = MemoryStore()
    seats: dict[str, AgentSpec] = {"doctor": "silent", seat: given}
    with pytest.raises(EgressError, match=f"1 of the cases is restricted, and {seat} .* is code of your own"):
        await run(restricted, "consultation", store=store, seats=seats)
    assert not HANDED
    assert not await store.runs()
    played = await run(restricted, "consultation", store=store, seats=seats, where=["data_class=public"])
    assert len(await played.episodes()) == 1


class OwnRules(Oracle):
    """A scenario of one's own; it notes whatever it is asked about."""

    def lacks(self, case: Case) -> str | None:
        HANDED.append(case.id)
        return super().lacks(case)

    def start(self, case: Case) -> StagedState:
        HANDED.append(case.id)
        return super().start(case)


async def test_no_scenario_of_ones_own_gets_one(restricted: Path) -> None:
    name, store = f"{__name__}:OwnRules", MemoryStore()
    with pytest.raises(EgressError, match=r"case case-002 is restricted, and the scenario .* is code of your own"):
        await run(restricted, name, doctor="gold", store=store)
    assert "case-002" not in HANDED
    assert not await store.runs()
    played = await run(restricted, name, doctor="gold", store=store, where=["data_class=public"])
    assert len(await played.episodes()) == 1
    assert "case-002" not in HANDED


def test_an_older_run_of_such_a_scenario_is_read_without_it(restricted: Path, shell: Shell, tmp_path: Path) -> None:
    store, page = tmp_path / "s.db", tmp_path / "page.html"
    arguments = ("--cases", restricted, "--scenario", "oracle", "--doctor", "gold", "--name", "r", "--store", store)
    assert shell("run", *arguments) == 0
    assert shell("score", "r", "--store", store) == 0
    connection = sqlite3.connect(store)
    with connection:
        for run_name, stored in connection.execute("SELECT name, header FROM runs").fetchall():
            header = msgspec.json.decode(stored)
            header.pop("_digest")
            header["scenario"]["name"] = header["settings"]["scenario"] = f"{__name__}:OwnRules"
            connection.execute("UPDATE runs SET header = ? WHERE name = ?", (header_bytes(header), run_name))
    connection.close()
    assert shell("show", "r", "case-002", "--store", store) == 0
    assert shell("report", "r", "--html", page, "--store", store) == 0
    assert shell("replay", "r", "--store", store) != 0
    assert "code of your own" in shell.err
    assert not HANDED


async def test_no_evaluator_of_ones_own_gets_one(restricted: Path) -> None:
    played = await run(restricted, doctor="gold", store=MemoryStore())
    with pytest.raises(EgressError, match=r"OwnJudge.* is code of your own"):
        await score_run(played, [OwnJudge()])
    assert not HANDED
    await score_run(played)


def test_an_older_run_that_gave_it_one_does_not_go_on(restricted: Path, shell: Shell, tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    assert shell("run", "--cases", restricted, "--doctor", "gold", "--name", "r", "--store", store) == 0
    connection = sqlite3.connect(store)
    with connection:
        [(stored,)] = connection.execute("SELECT header FROM runs").fetchall()
        header = msgspec.json.decode(stored)
        header.pop("_digest")
        header["seats"]["doctor"]["spec"] = header["settings"]["seats"]["doctor"]["spec"] = f"{__name__}:Own"
        connection.execute("UPDATE runs SET header = ?", (header_bytes(header),))
        connection.execute("UPDATE episodes SET cause = NULL")
    connection.close()
    assert shell("run", "--resume", "r", "--store", store) == 2
    assert "code of your own" in shell.err
    assert shell("replay", "r", "--store", store) != 0
    assert not [view for view in HANDED if isinstance(view, View) and "number 2" in view.brief + str(view.known)]


async def test_a_fork_and_a_resume_refuse_before_a_key_leaves(
    restricted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-of-the-test")
    store = MemoryStore()
    played = await run(restricted, doctor="gold", store=store, name="r")
    async with Loopback() as server:  # by another name of this machine, which is not one of those allowed
        seats = {"doctor": {"spec": "openai/m", "base_url": server.base_url.replace("127.0.0.1", "0.0.0.0")}}
        with pytest.raises(EgressError, match=r"send what they say to 0\.0\.0\.0"):
            await fork_run(played, await played.episode("case-002"), 1, seats, name="f")
        assert server.total == 0
    assert [one.name for one in await store.runs()] == ["r"]


async def test_a_restricted_case_may_go_to_this_machine(restricted: Path) -> None:
    async with Loopback(lambda messages, model: lines("oracle", messages)) as server:
        url = server.base_url.replace("127.0.0.1", "localhost.")
        played = await run(
            restricted, "oracle", doctor={"spec": "openai/m", "base_url": url}, store=MemoryStore(), name="r", repeats=1
        )
        assert await played.endings() == {"completed": 2}
        assert await (await resume("r", store=played.store)).endings() == {"completed": 2}


@pytest.mark.parametrize(
    ("spelt", "host", "here"),
    [
        ("localhost", "localhost", True),
        ("localhost.", "localhost", True),
        ("LOCALHOST..", "localhost", True),
        ("127.0.0.1.", "127.0.0.1", True),
        ("127.1", "127.0.0.1", True),
        ("0x7f.1", "127.0.0.1", True),
        ("0177.0.0.1", "127.0.0.1", True),
        ("2130706433", "127.0.0.1", True),
        ("[::1]", "::1", True),
        ("[::ffff:127.0.0.1]", "::ffff:127.0.0.1", True),
        ("[::ffff:10.0.0.1]", "::ffff:10.0.0.1", False),
        ("0.0.0.0", "0.0.0.0", False),
        ("0", "0.0.0.0", False),
        ("[::]", "::", False),
        ("012.0.0.1", "10.0.0.1", False),
        ("[64:ff9b::7f00:1]", "64:ff9b::7f00:1", False),
        ("localhost.example.org", "localhost.example.org", False),
        ("127.0.0.1.example.org", "127.0.0.1.example.org", False),
        ("1270.0.0.1", "1270.0.0.1", False),
    ],
)
def test_a_host_is_judged_as_what_is_connected_to(spelt: str, host: str, here: bool) -> None:
    url = endpoint_url(f"http://{spelt}:8000/v1")
    assert is_loopback(host_of(url)) is here
    assert may_receive(host_of(url), ()) is here
    assert may_receive(host_of(url), [spelt])
    assert host_of(url) == normal_host(spelt) == host_of(endpoint_url(str(url)))
    assert str(url.raw_host).rstrip(".") == str(url.raw_host)


SPECIAL = (
    "192.0.0.192 192.0.0.8 192.88.99.1 64:ff9b::c000:c0 64:ff9b:1::1 ::ffff:192.0.0.192 3fff::1 fec0::1 5f00::1 "
    "100:0:0:1::1 0.0.0.0 :: 100.64.0.1 198.18.0.1 2002:7f00:1:: 240.0.0.1"
)


@pytest.mark.parametrize("text", SPECIAL.split())
def test_no_special_address_is_public(text: str) -> None:
    assert not is_public(text)


def test_public_ones_are() -> None:
    assert all(
        map(is_public, ("192.0.0.9", "192.0.0.10", "192.0.1.1", "8.8.8.8", "2606:4700::1111", "64:ff9b::808:808"))
    )
