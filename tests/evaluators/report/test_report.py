"""The page: self-contained, escaped, discreet, the same for the same input; and the table for the terminal."""

import io
import json
import re
from functools import cache
from typing import Any

import msgspec
import pytest
from lxml import html
from markup import Reader
from rich.console import Console

from wardround.engine.records import Score
from wardround.evaluators.report.compare import compare_runs
from wardround.evaluators.report.html import as_json, page
from wardround.evaluators.report.report_figures import ReportFigures
from wardround.evaluators.report.score_rows import EpisodeScores, RunScores
from wardround.evaluators.report.summary import summarise
from wardround.evaluators.report.terminal import comparison_table, score_table

HEADER: dict[str, Any] = {
    "wardround": "0.1.0",
    "scenario": {"name": "workup", "goal": "diagnosis", "settings": {"max_turns": 20}},
    "seats": {
        "doctor": {
            "spec": "openai/<em>",
            "model": "gpt",
            "host": "there",
            "sampling": {"temperature": 0.8},
            "told": None,
        },
        "examiner": {"spec": "record", "model": "", "host": "", "options": {"policy": "strict"}, "told": None},
    },
    "limits": {"tokens": None, "actions": 1000},
    "prompts": {"doctor/system": "abcdef0123456789"},
    "cases": {"from": "cases.jsonl", "count": 8, "index": "i", "restricted": 0},
}


def episode(number: int, **fields: Any) -> EpisodeScores:
    """One of a varied lot; every fifth failed."""
    failed = number % 5 == 4
    reason = "provider/timeout" if failed else ""
    made = {
        "diagnosis_accuracy": float(number % 2),
        "exam_recall": 0.5,
        "full_path": 0.5 * (number % 2),
        "full_path_by_type": 0.4 * (number % 2),
    }
    scores = [Score(name, None if failed else value, reason) for name, value in made.items()]
    scores += [
        Score("turns", float(number)),
        Score("tokens", 1000.0 * number),
        Score("cost_usd", None, "unknown_price"),
    ]
    whole: dict[str, Any] = {
        "episode": f"case-{number}@1",
        "case": f"case-{number}",
        "repeat": 1,
        "group": f"group {number % 3}",
        "cause": "provider" if failed else "completed",
        "reason": "timeout" if failed else "",
        "scores": [*scores, Score("episode_seconds", 0.5 + number)],
        "answer": f"answer {number}",
        "truth": f"truth {number}",
    }
    return EpisodeScores(**(whole | fields))


def run(name: str = "brisk-heron", header: dict[str, Any] | None = None, **fields: Any) -> RunScores:
    """A run of eight episodes, one still open."""
    episodes = [episode(number, **fields) for number in range(8)]
    left = EpisodeScores(episode="late@1", case="late", repeat=1, cause=None)
    return RunScores(name=name, header=HEADER | (header or {}), episodes=[*episodes, left])


@cache
def page_of_one() -> str:
    """The page of one run, drawn once for all tests that read it."""
    return page(ReportFigures([run()]))


@cache
def page_of_two() -> str:
    """The page of two runs that differ in nothing but their names."""
    return page(ReportFigures([run(), run("calm-otter")]))


def test_the_page_is_whole_and_loads_and_runs_nothing() -> None:
    text = page_of_one()
    read = Reader(text)
    assert read.tags.isdisjoint({"script", "link", "iframe", "img", "object"})
    assert all(link.startswith("#") for link in read.links)
    assert not re.search(r"https?://|@import|url\((?!#)", text)
    assert len(read.ids) == len(set(read.ids))
    assert {link.removeprefix("#") for link in read.links} <= set(read.ids)
    assert set(re.findall(r"url\(#([^)]*)\)", text)) <= set(read.ids)


def test_the_page_shows_what_was_run_and_what_came_out() -> None:
    text = Reader(page_of_one()).text
    for part in (
        "brisk-heron",
        "8 episodes: completed 7, the endpoint gave no reply in time 1, still open 1",
        "max_turns=20",
        "limits of an episode",
        "model gpt at there, temperature 0.8",
        "0.571",  # accuracy: 4 of 7 scored
        "7 of 8",
        "answer 3",
        "truth 3",
        "1 of 8 episodes ended by a failure that is not the doctor's",
        "1 episode still open",
        "8 episodes with calls of unknown price",
    ):
        assert part in text, part


def test_plots_have_text_and_a_name_for_those_who_do_not_see_them() -> None:
    text = page_of_one()
    assert text.count('role="img"') == 6
    titles = re.findall(r'<title id="r0-[^"]*">([^<]*)</title>', text)
    assert any("completed 7, the endpoint gave no reply in time 1, still open 1" in title for title in titles)
    assert "Diagnosis accuracy (n = 7)" in re.findall(r"<text[^>]*>([^<]*)</text>", text)


def test_text_of_others_is_escaped_everywhere() -> None:
    nasty = '<script>alert("1")</script> $\\frac{ &amp; --> {{ 7*7 }}'
    fields: dict[str, Any] = dict.fromkeys(("answer", "truth", "group", "episode", "reason"), nasty)
    text = page(ReportFigures([run(**fields)]))
    assert "script" not in Reader(text).tags
    assert "<script" not in text


@pytest.mark.long
def test_labels_in_any_script_are_drawn_without_a_warning() -> None:
    groups = ["阑尾炎 \x00\x1b\n second line 🩺", "التهاب"]
    rows = [episode(number, group=groups[number % 2]) for number in range(8)]
    text = page(ReportFigures([RunScores(name="r", header=HEADER, episodes=rows)]))
    assert re.search(r"<text[^>]*>阑尾炎 second line 🩺 \(4\)</text>", text)


def test_a_header_with_markup_is_escaped() -> None:
    assert "<em>" not in page_of_one()
    assert "openai/<em>" in Reader(page_of_one()).text


def test_of_a_restricted_case_only_its_id_is_shown() -> None:
    rows = [episode(n, restricted=True, answer="SECRET-ANSWER", truth="SECRET-TRUTH") for n in range(8)]
    rows.append(episode(11, restricted=True, group="SECRET-GROUP", answer="SECRET-ANSWER"))
    text = page(ReportFigures([RunScores(name="r", header=HEADER, episodes=rows)]))
    assert "SECRET" not in text
    assert "case-3@1" in text


def test_the_same_input_gives_the_same_page() -> None:
    assert page(ReportFigures([run(), run("calm-otter")])) == page_of_two()


@pytest.mark.long
def test_the_table_of_episodes_stops_and_says_so() -> None:
    text = Reader(page(ReportFigures([run()]), episodes=3)).text
    assert "3 of 9" in text
    assert "case-2@1" in text
    assert "case-3@1" not in text


@pytest.mark.long
def test_no_column_of_the_page_is_empty() -> None:
    """A score that no listed episode has is no column of the list, a missing value without bounds has no bounds."""
    usual, last = run(), episode(7)
    asked = msgspec.structs.replace(last, scores=[*last.scores, Score("question_accuracy", 1.0)])
    late = msgspec.structs.replace(usual, episodes=[*usual.episodes[:7], asked, usual.episodes[8]])
    for listed, there in ((3, False), (9, True)):
        text = page(ReportFigures([late]), episodes=listed)
        head = next(row for row in re.findall("<thead>.*?</thead>", text, re.DOTALL) if "Ending" in row)
        assert ("Question accuracy" in head) is there
        assert "Diagnosis accuracy" in head
    only = msgspec.structs.replace(episode(1), scores=[Score("cost_usd", None, "unknown_price")])
    unpriced = RunScores(name="r", header=HEADER, episodes=[only])
    assert ">Missing<" in page(ReportFigures([unpriced]))
    assert ">Bounds<" not in page(ReportFigures([unpriced]))


@pytest.mark.long
def test_two_runs_are_compared_with_the_field_that_differs() -> None:
    text = page(ReportFigures([run(), run("calm-otter", {"limits": {"tokens": 5, "actions": 1000}})]))
    read = Reader(text)
    assert len(read.ids) == len(set(read.ids))
    for part in ("Comparison of brisk-heron, calm-otter", "limits.tokens", "Paired differences", "±0.000"):
        assert part in read.text, part


@pytest.mark.long
def test_of_several_runs_the_pairs_of_the_first_score_come_first() -> None:
    runs = [run("one"), run("two"), run("three")]
    read = html.fromstring(page(ReportFigures(runs)))
    tables = read.xpath("//table[.//th[text()='Second minus first']]")
    scores = [[one for one in table.xpath(".//tbody/tr/th/text()") if one] for table in tables]
    assert scores[0] == ["Diagnosis accuracy"]
    assert "Diagnosis accuracy" not in scores[1]
    assert [bool(table.xpath("ancestor::details")) for table in tables] == [False, True]
    out = io.StringIO()
    Console(width=140, file=out).print(comparison_table(compare_runs(runs)))
    told = out.getvalue()
    assert told.count("every pair of runs") == 1
    assert "Pairs of other scores with --all, or on the page: " in told
    Console(width=140, file=(every := io.StringIO())).print(comparison_table(compare_runs(runs), every=True))
    assert every.getvalue().count("every pair of runs") > 1


@pytest.mark.long
def test_runs_of_different_scenarios_have_no_ranking_and_the_page_says_why() -> None:
    text = Reader(page(ReportFigures([run("one"), run("two")]), compare=False)).text
    assert "No ranking and no pairs: these runs are of different scenarios or cases" in text
    assert "No ranking" not in Reader(page_of_two()).text


def test_answer_and_truth_stand_before_the_scores_of_an_episode() -> None:
    heads = html.fromstring(page_of_one()).xpath("//table[.//th[text()='Episode']]//thead//th/text()")
    assert heads[:4] == ["Episode", "Ending", "Answer", "Truth"]


def test_runs_without_anything_to_draw_still_have_a_page() -> None:
    failed = [episode(4), episode(9)]
    for episodes in ([], failed, [EpisodeScores(episode="a@1", case="a", cause=None)]):
        text = Reader(page(ReportFigures([RunScores(name="bare", header={}, episodes=episodes)]))).text
        assert "bare" in text
        assert "No episode" in text or "without a value" in text


@pytest.mark.long
def test_a_doctor_who_was_told_the_truth_is_named() -> None:
    told = {"seats": {"doctor": {"spec": "gold", "told": "truth"}}}
    assert "The doctor was told the truth" in page(ReportFigures([run(header=told)]))
    assert "told the truth" not in page_of_one()


@pytest.mark.long
def test_many_groups_are_cut_to_the_best_and_the_worst() -> None:
    rows = [
        episode(n, group=f"g{n // 2:03d}", cause="completed", scores=[Score("diagnosis_accuracy", n / 200)])
        for n in range(200)
    ]
    text = Reader(page(ReportFigures([RunScores(name="r", header=HEADER, episodes=rows)]))).text
    assert "The best and the worst 20 of 100 groups" in text
    assert "g099 (2)" in text
    assert "g000 (2)" in text
    assert "g050 (2)" not in text


def test_json_holds_the_same_figures() -> None:
    found = json.loads(json.dumps(as_json(ReportFigures([run(), run("calm-otter")]))))
    assert [one["run"] for one in found["runs"]] == ["brisk-heron", "calm-otter"]
    accuracy = found["runs"][0]["scores"][0]
    assert (accuracy["name"], accuracy["n"], accuracy["none"]) == ("diagnosis_accuracy", 8, 1)
    assert found["comparison"]["differences"]
    assert as_json(ReportFigures([run()]))["comparison"] is None


def printed(table: Any) -> str:
    """What a terminal of 160 columns would show."""
    out = io.StringIO()
    Console(width=160, file=out).print(table)
    return out.getvalue()


def test_the_table_says_what_is_missing() -> None:
    text = printed(score_table("brisk-heron", summarise(run().episodes)))
    assert "brisk-heron: 8 episodes: completed 7, the endpoint gave no reply in time 1, still open 1" in text
    [line] = [line for line in text.splitlines() if line.startswith("Diagnosis accuracy")]
    for part in ("0.571", "7/8", "0.500 to 0.625"):
        assert part in line
    told = " ".join(text.split())
    assert "Missing: the endpoint gave no reply in time (1): Diagnosis accuracy; Examination recall" in told
    assert "provider/timeout" not in told
    assert "Word match: a lower bound by words, not a verdict." in told
    assert "Turns" not in text
    assert "Turns" in printed(score_table("r", summarise(run().episodes), every=True))


def test_markup_in_a_name_is_plain_text_in_the_terminal() -> None:
    assert "[red]x[/red]" in printed(score_table("[red]x[/red]", summarise(run().episodes)))


def test_the_comparison_prints_signed_differences() -> None:
    better = run("calm-otter", scores=[Score("diagnosis_accuracy", 1.0)])
    text = printed(comparison_table(compare_runs([run(), better])))
    assert "+0.429" in text


def test_no_interval_of_a_share_leaves_the_scale_and_no_dagger_is_needed() -> None:
    values = {"a": 0.5} | dict.fromkeys("bcdef", 1.0)
    rows = [
        EpisodeScores(episode=case, case=case, cause="completed", scores=(Score("efficiency_formal", value),))
        for case, value in values.items()
    ]
    found = summarise(rows)
    for text in (
        page(ReportFigures([msgspec.structs.replace(run(), episodes=rows)])),
        printed(score_table("r", found)),
    ):
        assert re.search(r"0\.\d{3} to 1\.000", text)
        assert "\u2020" not in text
