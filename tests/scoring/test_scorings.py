"""Scorings are kept and named; two stand side by side; rules of two versions are never in one figure."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest
from lxml import html
from plain_judge import PlainJudge
from serving import serving
from shell import Copied, Shell
from sitting import court, equal, played

import wardround
from wardround.engine.errors import StoreError, UsageError
from wardround.engine.models.scripted import Scripted
from wardround.engine.protocols import Store
from wardround.engine.records import Score, Scored
from wardround.engine.seat import Seat
from wardround.evaluators.metrics.standard import Standard
from wardround.evaluators.report.compare import unlike
from wardround.evaluators.report.score_rows import RunScores
from wardround.evaluators.report.summary import summarise
from wardround.evaluators.report.warnings import doubts
from wardround.replay_run import replay_run
from wardround.runs.seats import SeatConfig
from wardround.runs.stored_run import Run
from wardround.scoring.judges import JudgeConfig, seats_of
from wardround.scoring.score import compare_scorings, score_run, scored
from wardround.testing.loopback import Loopback


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = wardround.open_store(tmp_path / "runs.db")
    yield opened
    await opened.aclose()


class Early:
    """Rules of version 1: it says so by saying nothing. It may stop at a case."""

    name = "mine"
    value: ClassVar[float] = 0.0

    def __init__(self, stops: str = "") -> None:
        self.stops = stops

    async def score(self, case: Any, trajectory: Any, seat: Seat | None = None) -> list[Score]:
        if case.id == self.stops:
            raise StoreError("the disk is full")
        return [Score("mine", self.value)]


class Late(Early):
    """Rules of version 2."""

    VERSION: ClassVar[int] = 2
    value: ClassVar[float] = 1.0


class Tenth(Early):
    """Rules of version 10, which is newer than 2."""

    VERSION: ClassVar[str] = "10"
    value: ClassVar[float] = 0.5


def values(scores: RunScores, name: str = "mine") -> list[tuple[float | None, str]]:
    return [(row.score(name).value, row.score(name).reason) for row in scores.episodes]


def names(scores: RunScores) -> list[str]:
    return [f"{'*' if one.shown else ''}{one.name}" for one in scores.scorings]


async def test_each_version_is_kept_and_the_newest_is_shown(store: Store) -> None:
    run = await played(store)
    await score_run(run, [Early()])
    await score_run(run, [Tenth()])
    scores = await score_run(run, [Late()])
    assert names(scores) == ["mine@1", "*mine@10", "mine@2"]
    assert values(scores) == [(0.5, "")] * 3
    assert values(await scored(run, ["mine@1"])) == [(0.0, "")] * 3
    assert values(await scored(run, ["mine@2"])) == [(1.0, "")] * 3
    with pytest.raises(UsageError, match=r"no scoring 'mine@3' .* are:\nmine@1 \(3 episodes\)\nmine@10 .*\nmine@2 "):
        await scored(run, ["mine@3"])


async def test_a_run_scored_half_by_old_rules_and_half_by_new_has_a_sentence_and_no_figure(store: Store) -> None:
    run = await played(store)
    await score_run(run, [Early(), Standard()])
    with pytest.raises(StoreError, match="full"):
        await score_run(run, [Late(stops="wr-003")], concurrency=1)
    scores = await scored(run)
    assert values(scores) == [(None, "mixed_rules")] * 3
    assert values(scores, "turns") == [(1.0, "")] * 3
    summary = summarise(scores.episodes)
    mine = summary.score("mine")
    assert mine is not None
    assert (mine.mean, mine.scored, mine.reasons) == (None, 0, {"mixed_rules": 3})
    [said] = [doubt for doubt in doubts(scores, summary) if doubt.startswith("mine")]
    assert "2 closed episodes scored by version 2 of its rules, 1 only by another version. There is no figure" in said
    assert "wardround score r --evaluators mine" in said
    alone = await scored(run, ["mine@2"])
    assert values(alone) == [(1.0, ""), (1.0, ""), (None, "not_scored")]
    assert doubts(alone, summary) == []
    assert values(await score_run(run, [Late()])) == [(1.0, "")] * 3
    assert doubts(await scored(run), summary) == []


async def test_episodes_that_nobody_scored_are_merely_not_scored(store: Store) -> None:
    run = await played(store)
    with pytest.raises(StoreError, match="full"):
        await score_run(run, [Late(stops="wr-003")], concurrency=1)
    assert values(await scored(run)) == [(1.0, ""), (1.0, ""), (None, "not_scored")]


async def test_judges_of_two_versions_are_two_judgings_that_share_answers(store: Store) -> None:
    class Asking(Standard):
        name = "asking"
        VERSION: ClassVar[int] = 1

        async def score(self, case: Any, trajectory: Any, seat: Seat | None = None) -> list[Score]:
            told = await super().score(case, trajectory, seat)
            right = (told.scores if isinstance(told, Scored) else told)[0]
            return [msgspec.structs.replace(right, name="asked")]

    class AskingMore(Asking):
        VERSION: ClassVar[int] = 2

    run, judge, again = await played(store), PlainJudge(), PlainJudge()
    await score_run(run, [Asking()], judge=court(judge))
    scores = await score_run(run, [AskingMore()], judge=court(again))
    assert (judge.asked.total(), again.asked.total()) == (3, 0)  # the same questions have the same answers
    assert values(scores, "asked") == [(1.0, "")] * 3
    assert names(scores) == ["asking@1~scripted/0", "*asking@2~scripted/0"]
    assert [one.run for one in scores.scorings] == ["r~asking", "r~asking.2"]
    headers = [(await store.run(name)).header for name in ("r~asking", "r~asking.2")]
    assert [header.get("evaluator_version") for header in headers] == [None, "2"]


async def test_a_scoring_without_judges_and_one_by_judges_are_both_kept(store: Store) -> None:
    def wrong(purpose: str, count: int) -> str:
        return '{"verdict": "wrong"}'

    run, now = await played(store), f"standard@{Standard.VERSION}"
    await score_run(run, [Standard()])
    first = court(PlainJudge())
    scores = await score_run(run, [Standard()], judge=first)
    assert names(scores) == [now, f"*{now}~scripted/0"]
    other = JudgeConfig(seats_of([SeatConfig("scripted/other", model=Scripted(PlainJudge(wrong)))]))
    scores = await score_run(run, [Standard()], judge=other)
    assert names(scores) == [now, f"{now}~scripted/0", f"*{now}~scripted/other"]
    swapped = JudgeConfig(seats_of([SeatConfig("scripted/other", model=Scripted(PlainJudge(wrong)))]), swap=True)
    assert names(await score_run(run, [Standard()], judge=swapped))[-1] == f"*{now}~scripted/other.2"
    assert names(await score_run(run, [Standard()]))[0] == f"*{now}"  # the last one counts
    accuracy = values(await scored(run, [f"{now}~scripted/other"]), "diagnosis_accuracy")
    assert accuracy == [(0.0, "")] * 3
    assert values(await scored(run, ["r~standard"]), "diagnosis_accuracy") == [(1.0, "")] * 3
    assert names(await score_run(run, [Standard()], judge=first))[1] == f"*{now}~scripted/0"


async def test_two_scorings_stand_side_by_side(store: Store) -> None:
    def second_wrong(purpose: str, count: int) -> str | None:
        return '{"verdict": "wrong"}' if count == 2 else None

    run, now = await played(store), f"standard@{Standard.VERSION}"
    await score_run(run, [Standard()], judge=court(PlainJudge()))
    other = JudgeConfig(seats_of([SeatConfig("scripted/other", model=Scripted(PlainJudge(second_wrong)))]))
    await score_run(run, [Standard()], judge=other, concurrency=1)
    found = await compare_scorings(run, f"{now}~scripted/0", f"{now}~scripted/other")
    [accuracy] = [one for one in found.scores if one.name == "diagnosis_accuracy"]
    assert (accuracy.n, accuracy.equal, accuracy.table) == (3, 2, ((0, 0), (1, 2)))
    verdicts = [(one.episode, one.first, one.second) for one in found.differing if one.score == "diagnosis_accuracy"]
    assert verdicts == [("wr-002@1", 1.0, 0.0)]
    with pytest.raises(UsageError, match="are one scoring: name two"):
        await compare_scorings(run, f"{now}~scripted/0", "r~standard")
    await score_run(run, [Early()])
    with pytest.raises(UsageError, match="have no score in common"):
        await compare_scorings(run, "mine@1", "r~standard")


@pytest.mark.long
async def test_runs_scored_by_two_versions_are_said_to_be_unlike(store: Store, tmp_path: Path) -> None:
    old, new = await played(store), await played(other := wardround.open_store(tmp_path / "other.db"))
    first, second = await score_run(old, [Early()]), await score_run(new, [Late()])
    await other.aclose()
    assert [one.field for one in unlike(first, second)] == ["rules"]
    assert "mine scored them by versions 1 and 2 of its rules: score r again" in str(unlike(first, second)[0])
    assert unlike(first, first) == []


async def test_verdicts_by_rules_that_are_gone_are_not_replayed(store: Store) -> None:
    run = await played(store)
    await score_run(run, [Standard()], judge=court(PlainJudge()))
    assert await equal(store, "r~standard") == 3
    row = await store.run("r~standard")
    episodes = [msgspec.structs.replace(one, cause=None, events=0) async for one in store.episodes(row.name)]
    await store.create_run("r~standard.9", {**row.header, "evaluator_version": "1"}, episodes)
    with pytest.raises(UsageError, match=r"judged by version 1 of the rules of standard.*show r~standard\.9"):
        _ = [one async for one in replay_run(await Run.open(store, "r~standard.9"))]


@pytest.mark.parametrize("name", ["mine@2", "mine~x", "a,b"])
async def test_a_name_that_would_read_as_a_scorings_is_refused(store: Store, name: str) -> None:
    mine = Early()
    mine.name = name
    with pytest.raises(UsageError, match="in the name of a scoring"):
        await score_run(await played(store, 1), [mine])


@pytest.fixture
def scored_twice(shell: Shell, copied: Copied) -> list[Any]:
    """A run scored without a judge, and by one who finds nothing right."""
    told = ["--cases", "bundled:reports", "--scenario", "oracle", "--doctor", "replies:bundled#careful", "--limit", 3]

    def fill(folder: Path) -> None:
        where = ["r", "--store", folder / "runs.db"]
        assert shell("run", *told, "--name", *where) == 0
        assert shell("score", *where) == 0
        with serving(Loopback(lambda messages, model: '{"verdict": "wrong"}')) as url:
            assert shell("score", *where, "--judge", "openai/m", "--judge-base-url", url) == 0

    return ["r", "--store", copied(fill) / "runs.db"]


def test_report_lists_scorings_and_shows_one_or_two(shell: Shell, scored_twice: list[Any]) -> None:
    now = f"standard@{Standard.VERSION}"
    assert shell("report", *scored_twice) == 0
    assert f" * {now}~openai/m, 3 episodes, prompts " in shell.out
    assert f"   {now}, 3 episodes, without judges" in shell.out
    [run] = shell.json("report", *scored_twice)["runs"]
    assert [(one["name"], one["shown"]) for one in run["scorings"]] == [(now, False), (f"{now}~openai/m", True)]
    [run] = shell.json("report", *scored_twice, "--scorings", now)["runs"]
    assert [one["name"] for one in run["scorings"] if one["shown"]] == [now]
    pair = f"{now},{now}~openai/m"
    assert shell("report", *scored_twice, "--scorings", pair) == 0
    assert "1, 0" in shell.out
    assert "wr-001@1" in shell.out
    told = shell.json("report", *scored_twice, "--scorings", pair)
    [accuracy] = [one for one in told["scores"] if one["name"] == "diagnosis_accuracy"]
    assert (accuracy["n"], accuracy["equal"], accuracy["table"]) == (3, 0, [[0, 0], [3, 0]])
    assert [one["episode"] for one in told["differing"] if one["score"] == "diagnosis_accuracy"] == [
        "wr-001@1",
        "wr-002@1",
        "wr-003@1",
    ]


@pytest.mark.long
def test_two_scorings_have_a_page(shell: Shell, scored_twice: list[Any], tmp_path: Path) -> None:
    now, page = f"standard@{Standard.VERSION}", tmp_path / "two.html"
    asked = ["report", *scored_twice, "--scorings", f"{now},{now}~openai/m"]
    assert shell(*asked, "--html", page) == 0
    read = html.fromstring(page.read_text(encoding="utf-8"))
    assert [one.text_content() for one in read.xpath("//h2")] == ["Scores of 0 and 1", "Where they differ"]
    cells = read.xpath("//tr[th='Diagnosis accuracy']/td/text()")
    assert cells == ["3", "0", "0.00", "0", "3", "0", "0", "0"]
    rows = read.xpath("//h2[.='Where they differ']/following-sibling::div//tbody/tr")
    assert [one.xpath("string(th)") for one in rows] == ["wr-001@1", "wr-002@1", "wr-003@1"]
    assert not read.xpath("//script | //link | //img | //a")
    assert shell(*asked, "--csv", tmp_path / "two.csv") == 2
    assert "two scorings side by side have no --csv" in shell.err


def test_a_scoring_answers_to_its_name_without_the_version(shell: Shell, scored_twice: list[Any]) -> None:
    asked = ("report", *scored_twice, "--scorings")
    [run] = shell.json(*asked, "standard~openai/m")["runs"]
    assert [one["name"] for one in run["scorings"] if one["shown"]] == [f"standard@{Standard.VERSION}~openai/m"]
    assert shell(*asked, f"standard@{Standard.VERSION},standard~openai/m") == 0


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--scorings", "standard@999"], "there is no scoring 'standard@999' of this run; there are:\n  standard@"),
        (["--scorings", "standard"], "'standard' may be 2 scorings of this run; name one of:\n  standard@"),
        (["--scorings", "a,b,c"], "--scorings takes the name of one scoring, or of two"),
        (["--scorings", ""], "--scorings takes the name of one scoring, or of two"),
        (["r", "--scorings", "a"], "--scorings goes with one run"),
    ],
)
def test_what_names_no_scoring_is_said(shell: Shell, scored_twice: list[Any], more: list[str], said: str) -> None:
    assert shell("report", *scored_twice, *more) == 2
    assert said in shell.err
