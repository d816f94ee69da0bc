"""A run that is played, judged or curated: --resume, --retry, --pilot, --share, --cluster and --quota work for each."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import anyio
import moody
import oldstores
import pytest
from curating import answered, pmc_folder
from examples import first_ones
from serving import serving
from shell import Shell

from wardround.cluster_run import work
from wardround.engine.protocols import Store
from wardround.engine.records import Message
from wardround.replay_run import replay_run
from wardround.runs.stored_run import Run, open_store
from wardround.testing.loopback import Loopback

CASES = 6
PLAY = ["run", "--cases", "bundled:reports", "--limit", CASES, "--scenario", "oracle", "--name", "r"]


@dataclass(frozen=True)
class Kind:
    """How a run of one kind is begun and gone on with from the command line; it is kept as `name`.

    `model` is the option that names who is asked, `url` the one for where, `before` what must have happened.
    """

    name: str
    begin: Sequence[object]
    again: Sequence[object]
    model: str
    url: str
    who: str
    before: Sequence[object] = ()

    def begun(self, *more: object) -> list[object]:
        """The command, asking in this process."""
        return [*self.begin, self.model, f"scripted/moody:{self.who}", *more]

    def over_http(self, url: str, *more: object) -> list[object]:
        """The command, asking an endpoint."""
        return [*self.begin, self.model, "openai/m", self.url, url, *more]


KINDS = {
    "played": Kind("r", PLAY, ["run", "--resume", "r"], "--doctor", "--base-url", "doctor"),
    "judged": Kind(
        "r~standard",
        ["score", "r", "--evaluators", "standard"],
        ["score", "--resume", "r~standard"],
        *("--judge", "--judge-base-url", "judge"),
        before=[*PLAY, "--doctor", "scripted/oldstores:oracle"],
    ),
    "curated": Kind(
        "r",
        ["cases", "build", "reports", "pmc", "--out", "c.jsonl", "--name", "r"],
        ["cases", "build", "reports", "--resume", "r", "--out", "c.jsonl"],
        *("--model", "--base-url", "curator"),
    ),
}


@pytest.fixture(params=first_ones(list(KINDS)))
def kind(request: pytest.FixtureRequest, shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kind:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    pmc_folder(tmp_path)
    found = KINDS[request.param]
    if found.before:
        assert shell(*found.before) == 0, shell.err
    oldstores.asked.clear()
    moody.down.clear()
    return found


def looked(name: str, look: Callable[[Run], Any]) -> Any:
    """What `look` finds of a run in the store."""

    async def looking() -> Any:
        store: Store = open_store("wardround.db")
        try:
            return await look(await Run.open(store, name))
        finally:
            await store.aclose()

    return anyio.run(looking)


def endings(kind: Kind) -> dict[str, int]:
    found: dict[str, int] = looked(kind.name, Run.endings)
    return found


def replays(kind: Kind) -> list[str]:
    """What differs when all is played again from the record."""

    async def look(run: Run) -> list[str]:
        return [outcome.error async for outcome in replay_run(run) if outcome.error]

    found: list[str] = looked(kind.name, look)
    return found


def whole(kind: Kind) -> None:
    """Every episode came to its end, it replays equal, and nothing was asked twice."""
    assert set(endings(kind)) == {"completed"}
    assert endings(kind)["completed"] > 2
    assert replays(kind) == []
    assert set(Counter(oldstores.asked).values()) == {1}


def test_resume_goes_on_where_a_budget_stopped_it(kind: Kind, shell: Shell) -> None:
    assert shell(*kind.begun("--budget", "3calls", "--concurrency", 1)) == 130, shell.err
    assert "the budget is used up" in shell.err
    before = len(oldstores.asked)
    assert 0 < before <= 4
    assert endings(kind)["open"] > 0
    assert shell(*kind.again, "--budget", "1000calls") == 0, shell.err
    assert len(oldstores.asked) > before
    whole(kind)
    count = len(oldstores.asked)
    assert shell(*kind.again) == 0, shell.err
    assert len(oldstores.asked) == count, "what is done is asked of nobody"


def test_retry_opens_nothing_that_the_budget_cannot_play(tmp_path: Path, shell: Shell) -> None:
    store = ["--store", tmp_path / "runs.db"]
    begun = ["run", "--scenario", "workup", "--doctor", "scripted/I cannot tell.", "--limit", 2, "--name", "r", *store]
    assert shell(*begun) in (0, 3), shell.err
    before = shell.json("status", "r", *store)["endings"]
    again = ["run", "--resume", "r", "--retry", "doctor", "--retry", "parser", "--budget", "1calls", *store]
    assert shell(*again) == 2
    assert "the budget is used up" in shell.err
    assert "no episode is opened again" in shell.err
    assert shell.json("status", "r", *store)["endings"] == before


@pytest.mark.parametrize(
    ("repeats", "said"),
    [
        (0, "0 is not in the range x>=1"),
        (100_001, "repeats: must be less than or equal to 100000"),
        (10**20, "repeats: must be less than or equal to 100000"),
    ],
)
def test_repeats_have_bounds(shell: Shell, repeats: int, said: str) -> None:
    assert shell("run", "--doctor", "gold", "--repeats", repeats) == 2
    assert said in shell.err


def test_resume_takes_nothing_that_the_store_says(kind: Kind, shell: Shell) -> None:
    assert shell(*kind.begun()) == 0, shell.err
    for beside in (["--prices", "p.csv"], ["--allow-host", "h"], ["--quota", "rpm=1"], ["--pilot", 2]):
        assert shell(*kind.again, *beside) == 2, beside
        assert "--resume takes the" in shell.err
        assert "'s settings from the store; leave out" in shell.err


def test_retry_reopens_what_a_cause_ended_and_nothing_else(kind: Kind, shell: Shell) -> None:
    moody.down.append(True)
    assert shell(*kind.begun("--no-preflight") if kind.who != "judge" else kind.begun()) in (0, 3), shell.err
    failed = endings(kind)
    assert set(failed) == {"provider"} or kind.who == "judge"
    moody.down.clear()
    oldstores.asked.clear()
    assert shell(*kind.again, "--retry", "limit") in (0, 3), shell.err
    assert (endings(kind), oldstores.asked) == (failed, [])
    assert shell(*kind.again, "--retry", "nonsense") == 2
    assert "--retry nonsense: episodes end by" in shell.err
    assert shell(*kind.again, "--retry", "provider") in (0, 3), shell.err
    whole(kind)


def test_a_pilot_goes_first_and_no_budget_lets_the_rest_follow(kind: Kind, shell: Shell) -> None:
    assert shell(*kind.begun("--pilot", 2)) == 130, shell.err
    assert "pilot of 2 episodes; the other" in shell.err
    assert "no budget allows the rest" in shell.err
    assert endings(kind)["completed"] == 2
    assert shell(*kind.again) == 0, shell.err
    whole(kind)


def test_a_pilot_goes_on_where_the_budget_will_do(kind: Kind, shell: Shell) -> None:
    assert shell(*kind.begun("--pilot", 2, "--budget", "100000calls")) == 0, shell.err
    assert "pilot of 2 episodes; the other" in shell.err
    whole(kind)


def said(messages: Sequence[Message], model: str) -> str:
    """Doctor, judge and curator in one."""
    texts = " ".join(message.content for message in messages)
    if "<article>" in texts:
        return answered(messages, model)
    return '{"verdict": "incorrect"}' if "verdict" in texts else oldstores._ORACLE[0]


@pytest.fixture
def server() -> Loopback:
    return Loopback(said, latency=0.02)


@pytest.mark.parametrize(("share", "most"), [("", 2), ("1/2", 1)])
def test_a_process_keeps_to_its_share_of_a_quota(
    kind: Kind, shell: Shell, server: Loopback, share: str, most: int
) -> None:
    more = ["--share", share] if share else []
    with serving(server) as url:
        assert shell(*kind.over_http(url, "--quota", "in_flight=2", *more)) == 0, shell.err
        assert server.total > 3
        assert server.most == most
        assert shell(*kind.again, *more) == 0, shell.err


def test_a_resumed_run_keeps_its_quota(kind: Kind, shell: Shell, server: Loopback) -> None:
    with serving(server) as url:
        told = kind.over_http(url, "--quota", "in_flight=2", "--budget", "3calls", "--concurrency", 1)
        assert shell(*told) == 130, shell.err
        assert shell(*kind.again, "--share", "2/2", "--budget", "1000calls", "--concurrency", 8) == 0, shell.err
        assert server.most == 1
    assert set(endings(kind)) == {"completed"}


def test_a_quota_that_fits_no_endpoint_is_named(kind: Kind, shell: Shell, server: Loopback) -> None:
    with serving(server) as url:
        assert shell(*kind.over_http(url, "--quota", "nowhere.example rpm=5")) == 0, shell.err
    assert "a quota fits no endpoint of this run" in shell.err
    assert "nowhere.example" in shell.err


@pytest.mark.parametrize("share", ["3/2", "0/2", "2", "a/b"])
def test_what_is_no_share_is_refused(kind: Kind, shell: Shell, share: str) -> None:
    assert shell(*kind.begun("--share", share)) == 2
    assert f"--share {share}: write I/N" in shell.err


def test_what_does_not_go_with_a_cluster_is_refused(kind: Kind, shell: Shell) -> None:
    for more, why in (
        (["--cluster", "ray", "--pilot", 2], "--cluster goes with neither --pilot"),
        (["--cluster", "ray", "--share", "1/2"], "--cluster goes with neither --pilot"),
        (["--workers", 2, "--pilot", 2], "--workers goes with neither --pilot"),
    ):
        assert shell(*kind.begun(*more)) == 2
        assert why in shell.err
    assert oldstores.asked == []


async def worked(name: str) -> None:
    """What a worker of a cluster does."""
    await work(name, f"sqlite:{Path.cwd() / 'wardround.db'}", (1, 2), 4, (version("wardround"), ""))


def test_a_worker_goes_on_with_what_was_begun(kind: Kind, shell: Shell) -> None:
    assert shell(*kind.begun("--budget", "3calls", "--concurrency", 1)) == 130, shell.err
    assert shell("set", "budget", kind.name, "1000calls") == 0, shell.err
    anyio.run(worked, kind.name)
    whole(kind)
    assert shell(*kind.again) == 0, shell.err


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "where", [[], pytest.param(["--cluster", "ray"], marks=pytest.mark.ray)], ids=["processes", "ray"]
)
def test_workers_do_it(kind: Kind, shell: Shell, server: Loopback, where: list[str]) -> None:
    with serving(server) as url:
        assert shell(*kind.over_http(url, *where, "--workers", 2)) == 0, shell.err
    assert set(endings(kind)) == {"completed"}
    assert replays(kind) == []

    async def processes(run: Run) -> int:
        return len({row.pid for row in await run.store.sessions(run.name)})

    assert looked(kind.name, processes) >= 1
    if kind.who == "judge":
        assert shell("report", "r", "--json") == 0
        [told] = json.loads(shell.out)["runs"]
        assert (told["evaluated"][0]["judged"], told["evaluated"][0]["closed"]) == (CASES, CASES)
