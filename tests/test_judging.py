"""A judges' run from end to end: stopped and gone on with, judged again, followed, replayed without network."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from bench import PlayedSearch
from halting import Halted, Halting
from plain_judge import PlainJudge
from sitting import TEXT, accounts, court, equal, played, table
from until import until
from website import Answer, Request, Website

import wardround
from wardround.engine.batch import Progress
from wardround.engine.errors import EgressError, ProviderError, UsageError
from wardround.engine.protocols import Store
from wardround.engine.records import Action, View
from wardround.engine.seat import Seat
from wardround.evaluators.metrics.standard import Standard
from wardround.evaluators.reasoning.evaluator import Reasoning
from wardround.evaluators.report.score_rows import RunScores
from wardround.evaluators.search.pages import Pages
from wardround.evaluators.search.results import Ledger, SearchError, SearchHit
from wardround.evaluators.search.services import Searxng
from wardround.evaluators.search.stack import Recorded, RecordedReader
from wardround.evaluators.search.web import Web
from wardround.runs.stored_run import Run
from wardround.scoring.score import score_run
from wardround.testing.memory_store import MemoryStore


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = wardround.open_store(tmp_path / "runs.db")
    yield opened
    await opened.aclose()


@pytest.mark.parametrize("every", [4, *(pytest.param(every, marks=pytest.mark.long) for every in (1, 17))])
async def test_a_scoring_that_is_stopped_goes_on_and_asks_nothing_twice(store: Store, every: int) -> None:
    usual = PlainJudge()
    whole = table(await score_run(await played(MemoryStore()), [Reasoning()], judge=court(usual)))
    progress = Progress()

    def stop(purpose: str, count: int) -> None:
        if count % every == 0:
            progress.drain()

    run, judge, lives = await played(store), PlainJudge(stop), 0
    while True:
        progress = Progress()
        scores = await score_run(run, [Reasoning()], judge=court(judge), progress=progress)
        lives += 1
        if not progress.draining:
            break
    assert table(scores) == whole
    assert judge.asked == usual.asked
    assert lives > 3


@pytest.mark.parametrize("events", [pytest.param(7, marks=pytest.mark.long), 23])
async def test_a_scoring_whose_process_dies_goes_on_and_no_recorded_call_is_made_again(
    store: Store, events: int
) -> None:
    usual = PlainJudge()
    whole = table(await score_run(await played(MemoryStore()), [Reasoning()], judge=court(usual)))
    run, judge, lives, recorded = await played(store), PlainJudge(), 0, 0
    while True:
        for row in await store.runs():
            for session in await store.sessions(row.name):
                if session.ended is None:  # what bury_dead does for a process that is no more
                    await store.release(session.id)
        life = Halting(store, events)
        try:
            scores = await score_run(Run(life, run.name, run.header), [Reasoning()], judge=court(judge))
        except Halted:
            lives += 1
        else:
            break
        recorded += sum(number > 0 for _, number in life.written)
    assert table(scores) == whole
    assert lives > 3
    assert recorded > 10
    # a life ends with calls that were made and not written: only these are made again
    assert judge.asked.total() < usual.asked.total() + lives * 3 * 20
    async for one in await Run.open(store, "r~reasoning"):
        keys = [call.key for call in one.called() if call.reply]
        assert len(keys) == len(set(keys))
    assert await equal(store, "r~reasoning") == 3


async def test_the_same_question_of_two_episodes_is_asked_once(store: Store) -> None:
    one, two = PlainJudge(), PlainJudge()
    await score_run(await played(MemoryStore()), [Reasoning()], judge=court(one))
    scores = await score_run(await played(store, repeats=2), [Reasoning()], judge=court(two))
    assert len(scores.episodes) == 6
    assert two.asked == one.asked


async def test_what_a_judge_could_not_be_asked_is_asked_again_and_nothing_else(store: Store) -> None:
    run, whole = await played(store), PlainJudge()
    expected = table(await score_run(await played(MemoryStore()), [Reasoning()], judge=court(whole)))
    failing = PlainJudge(lambda purpose, count: ProviderError("timeout", "late") if purpose == "judgment" else None)
    scores = await score_run(run, [Reasoning()], judge=court(failing))
    for row in scores.episodes:
        factuality = row.score("factuality_formal")
        assert (factuality.value, factuality.reason) == (None, "judge/timeout")
        assert row.score("efficiency_formal").value == 1.0
    mended = PlainJudge()
    assert table(await score_run(run, [Reasoning()], judge=court(mended))) == expected
    assert set(mended.asked) == {"judgment"}
    assert mended.asked["judgment"] == whole.asked["judgment"]
    assert await equal(store, "r~reasoning") == 3


@pytest.mark.long
async def test_a_search_that_failed_is_tried_again(store: Store) -> None:
    run = await played(store)
    scores = await score_run(
        run, [Reasoning()], judge=court(PlainJudge(), search=PlayedSearch(SearchError("timeout", "late")))
    )
    assert [row.score("unverifiable_formal").value for row in scores.episodes] == [1.0] * 3
    told = await accounts(store, "r~reasoning")
    assert {step.reason for one in told for part in one.parts for step in part.steps} == {"search/timeout"}
    scores = await score_run(run, [Reasoning()], judge=court(PlainJudge()))
    assert [row.score("factuality_formal").value for row in scores.episodes] == [1.0] * 3
    assert await equal(store, "r~reasoning") == 3


async def test_an_evaluator_that_breaks_leaves_its_reason(store: Store) -> None:
    class Broken(Reasoning):
        name = "broken"

        async def score(self, case: Any, trajectory: Any, seat: Seat | None = None) -> Any:
            raise ValueError("a slip")

    scores = await score_run(await played(store, 2), [Broken()], judge=court(PlainJudge()))
    assert [(row.score("broken").value, row.score("broken").reason) for row in scores.episodes] == [
        (None, "evaluator/ValueError")
    ] * 2


async def test_a_panel_keeps_every_vote_and_its_majority_decides(store: Store) -> None:
    def no(purpose: str, count: int) -> str | None:
        return '{"classification": "citation"}' if purpose.startswith("step_class") else None

    scores = await score_run(
        await played(store, 2), [Reasoning()], judge=court(PlainJudge(no), PlainJudge(), PlainJudge(), repeats=2)
    )
    assert [row.score("efficiency_formal").value for row in scores.episodes] == [1.0] * 2
    agreement = scores.episodes[0].score("reasoning_agreement").value
    assert agreement is not None
    assert 0 < agreement < 1
    step = (await accounts(store, "r~reasoning"))[0].parts[0].steps[0]
    assert [(vote.judge, vote.value, vote.repeat) for vote in step.kinds] == [
        (seat, kind, repeat)
        for seat, kind in (("judge", "citation"), ("judge-2", "reasoning"), ("judge-3", "reasoning"))
        for repeat in (0, 1)
    ]
    spent = {row.seat: row.spent.calls for row in await store.spending("r~reasoning")}
    assert set(spent) == {"judge", "judge-2", "judge-3", "search"}
    assert await equal(store, "r~reasoning") == 2


def results(site: list[str]) -> Any:
    def answer(request: Request) -> Answer:
        rows = [{"title": "A page", "url": url, "content": "Its beginning", "engine": "e"} for url in site]
        return Answer(json.dumps({"results": rows}).encode(), headers={"content-type": "application/json"})

    return answer


async def test_a_recorded_evaluation_replays_with_the_network_blocked(store: Store) -> None:
    words = f"{TEXT} {'It is so. ' * 30}"
    page = f"<html><head><title>A page</title></head><body><article><p>{words}</p></article></body></html>"
    html = {"content-type": "text/html"}
    async with Website({"/good": Answer(page.encode(), headers=html), "/gone": Answer(b"", status=404)}) as site:
        site.pages = {**site.pages, "/search": results([f"{site.url}/good", f"{site.url}/gone"])}
        reader = Pages(Web(local=["127.0.0.1"]))
        sitting = court(PlainJudge(), search=Searxng(site.url), reader=reader)
        run = await played(store)
        first = table(await score_run(run, [Reasoning()], judge=sitting))
        await sitting.search.aclose()  # type: ignore[union-attr]
        await reader.aclose()
        name = Searxng(site.url).name
        seen = len(site.seen)
    told = await accounts(store, "r~reasoning")
    steps = [step for one in told for part in one.parts for step in part.steps]
    assert steps
    for step in steps:
        assert [kind for look in step.looked for _, kind in look.pages] == ["refused"]
        [quoted] = step.quoted
        text = await Ledger(store).text(quoted.digest)
        assert text[quoted.start : quoted.end] == "Many things are known of it"
        assert quoted.url.endswith("/good")
    # the server is gone: the log alone, and then new judges on the recorded evidence
    assert await equal(store, "r~reasoning") == 3
    again = court(PlainJudge(), search=Recorded(name, Ledger(store)), reader=RecordedReader("pages", Ledger(store)))
    second = table(await score_run(run, [Reasoning()], judge=again))
    assert second == first
    assert len(site.seen) == seen


async def test_a_restricted_case_is_looked_up_nowhere_that_was_not_named(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    lines = []
    run = await played(MemoryStore(), 1)
    case = await run.case((await run.episodes())[0].case)
    lines.append(case.model_copy(update={"data_class": "restricted"}).model_dump_json(exclude_defaults=True))
    path.write_text("\n".join(lines), encoding="utf-8")
    kept = await wardround.run(path, "oracle", doctor="replies:bundled#hasty", store=store, name="r")
    search = PlayedSearch(SearchHit("t", "", TEXT), host="elsewhere.org")
    with pytest.raises(EgressError, match=r"elsewhere\.org"):
        await score_run(kept, [Reasoning()], judge=court(PlainJudge(), search=search))
    assert search.queries == []
    scores = await score_run(
        kept, [Reasoning()], judge=court(PlainJudge(), search=search, allow_hosts=["elsewhere.org"])
    )
    assert scores.episodes[0].score("factuality_formal").value == 1.0


async def test_a_run_is_followed_while_it_is_played(store: Store) -> None:
    progress, found = Progress(), list[RunScores]()
    acted = judged_while_open = 0

    class Waiting:
        """A doctor that answers some cases, and the others when one is judged."""

        sealed = True

        def __init__(self, seat: Seat) -> None:
            del seat

        async def act(self, view: View) -> Action:
            nonlocal acted
            del view
            acted += 1
            if acted > 4:
                await until(lambda: judged_while_open > 0)
            return Action("reply", "### Reasoning:\n<step 1> It is warm, so it is summer.\n\n### Answer:\nSummer")

    async def follow() -> None:
        await until(lambda: acted > 0)
        run = await Run.open(store, "r")
        found.append(await score_run(run, [Reasoning()], judge=court(PlainJudge()), progress=progress, follow=True))

    async def look() -> None:
        nonlocal judged_while_open
        while not found:
            await anyio.sleep(0.02)
            names = [run.name for run in await store.runs()]
            if "r~reasoning" in names and "open" in await store.endings("r"):
                judged_while_open = max(judged_while_open, (await store.endings("r~reasoning")).get("completed", 0))

    async with anyio.create_task_group() as group:
        group.start_soon(follow)
        group.start_soon(look)
        await wardround.run("bundled", "oracle", doctor=Waiting, store=store, name="r", concurrency=2, limit=14)
    assert [row.score("efficiency_formal").value for row in found[0].episodes] == [1.0] * 14
    assert judged_while_open > 0


async def test_an_evaluation_is_no_run_to_play_or_to_score(store: Store) -> None:
    await score_run(await played(store, 1), [Standard()], judge=court(PlainJudge()))
    beside = await Run.open(store, "r~standard")
    with pytest.raises(UsageError, match="is an evaluation of run r"):
        await score_run(beside)
    with pytest.raises(UsageError, match="is an evaluation of run r"):
        await wardround.resume("r~standard", store=store)
    assert (await beside.case("wr-001")).id == "wr-001"
