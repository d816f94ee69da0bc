"""The dialogue of an episode: what the desk corrected, what each request cost, what was known; and its page."""

from pathlib import Path

import pytest
from clinic import case_file
from lxml import html
from shell import Copied, Shell

from wardround.evaluators.report.episode_dialogue import Dialogue, rebuild_dialogue
from wardround.evaluators.report.episode_page import PageExtras, episode_page
from wardround.evaluators.report.report_figures import ReportFigures
from wardround.evaluators.report.score_rows import EpisodeScores
from wardround.report_files import write_pages
from wardround.runs.stored_run import Run, open_store
from wardround.scenarios.case import Case
from wardround.scoring.score import scored


@pytest.fixture
def store(copied: Copied, shell: Shell) -> Path:
    """A store with a silent doctor's work-up and the baseline's, of three cases."""

    def fill(folder: Path) -> None:
        path, cases = folder / "runs.db", case_file(folder / "cases.jsonl", 3)
        shell("run", "--cases", cases, "--doctor", "silent", "--name", "s", "--store", path)
        assert shell("run", "--cases", cases, "--doctor", "baseline", "--name", "b", "--store", path) == 0

    return copied(fill) / "runs.db"


async def told(path: Path, name: str, *, folded: bool = True) -> tuple[Dialogue, Case]:
    store = open_store(path)
    try:
        run = await Run.open(store, name)
        first = (await run.episodes())[0]
        about = await run.case(first.case)
        scenario = await run.scenario() if folded else None
        return rebuild_dialogue(about, await run.trajectory(first.id), scenario), about
    finally:
        await store.aclose()


@pytest.mark.long
async def test_the_desk_s_corrections_stand_at_the_reply_they_answer(store: Path) -> None:
    found, _ = await told(store, "s")
    assert found.corrections == 3
    assert [said.verb for turn in found.turns for said in turn.desk] == ["warning"] * 3
    assert all(said.args["why"] == "the reply is empty" for turn in found.turns for said in turn.desk)
    assert found.turns[-1].desk == ()
    assert "4 unusable replies" in found.detail


async def test_requests_have_points_and_results_become_known(store: Path) -> None:
    found, _ = await told(store, "b")
    answers = [turn for turn in found.turns if turn.seat == "examiner"]
    doctor = [turn for turn in found.turns if turn.seat == "doctor"]
    assert answers
    assert all(turn.acts for turn in answers)
    assert doctor[0].known == ()
    assert [len(turn.known) for turn in doctor] == sorted(len(turn.known) for turn in doctor)
    assert doctor[-1].known
    assert doctor[-1].points == pytest.approx(found.points)
    assert found.points == pytest.approx(sum(act.points for turn in answers for act in turn.acts))
    assert found.points > 0
    assert all(act.outcome for turn in answers for act in turn.acts)


async def test_without_its_scenario_the_events_are_shown_and_it_is_said(store: Path) -> None:
    found, about = await told(store, "s", folded=False)
    assert not found.folded
    assert len(found.turns) == 4
    row = EpisodeScores(episode="a@1", case=about.id, cause="doctor", reason="no_answer")
    assert "The scenario is not installed here" in episode_page("r", row, about, {}, {}, PageExtras(found))


async def test_of_a_restricted_case_the_dialogue_shows_no_text(store: Path) -> None:
    found, about = await told(store, "b")
    row = EpisodeScores(episode="a@1", case=about.id, cause="completed", restricted=True)
    page = episode_page("r", row, about, {}, {}, PageExtras(found))
    words = {act.asked for turn in found.turns for act in turn.acts} | {turn.said for turn in found.turns}
    assert [text for text in words if len(text) > 3 and text in page] == []
    assert about.opening not in page
    assert "restricted" in page
    bare = EpisodeScores(episode="a@1", case=about.id, cause="completed")
    assert (
        found.turns[0].said in html.fromstring(episode_page("r", bare, about, {}, {}, PageExtras(found))).text_content()
    )


async def test_every_episode_has_a_page_and_the_list_leads_to_it(store: Path, tmp_path: Path) -> None:
    opened = open_store(store)
    try:
        runs = [await scored(await Run.open(opened, name)) for name in ("b", "s")]
        assert await write_pages(opened, ReportFigures(runs), tmp_path / "out" / "my report.html") == 6
        assert await write_pages(opened, ReportFigures(runs), tmp_path / "few" / "r.html", most=1) == 2
    finally:
        await opened.aclose()
    folder = tmp_path / "out" / "my report-episodes"
    lists = sorted(folder.glob("*-episodes.html"))
    assert len(lists) == 2
    for path in lists:
        tree = html.fromstring(path.read_text(encoding="utf-8"))
        links = list(tree.xpath("//tbody//a/@href"))
        assert len(links) == 3
        assert all((folder / link).exists() for link in links)
        assert all("The encounter" in (folder / link).read_text(encoding="utf-8") for link in links)
    assert len(list((tmp_path / "few" / "r-episodes").iterdir())) == 4
