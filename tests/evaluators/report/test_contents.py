"""The list of episodes: all of them, in pages, with one script that its policy names by hash."""

import re
from base64 import b64encode
from hashlib import sha256

from lxml import html

from wardround.engine.records import Score
from wardround.evaluators.report.episode_list import MOST, contents_pages, outcome_word
from wardround.evaluators.report.score_rows import EpisodeScores

NASTY = '"><script>alert(1)</script>'


def rows(count: int, **fields: object) -> list[EpisodeScores]:
    """So many episodes, every third wrong, every fifth without a value."""
    made = []
    for number in range(count):
        value = None if number % 5 == 4 else float(number % 3 > 0)
        whole = {
            "episode": f"case-{number}@1",
            "case": f"case-{number}",
            "cause": "completed" if value is not None else "provider",
            "reason": "" if value is not None else "timeout",
            "scores": [Score("diagnosis_accuracy", value, "" if value is not None else "provider/timeout")],
            "answer": f"answer {number}",
            "truth": f"truth {number}",
        }
        made.append(EpisodeScores(**(whole | fields)))  # type: ignore[arg-type]
    return made


def pages(lot: list[EpisodeScores], links: dict[str, str] | None = None) -> dict[str, str]:
    return contents_pages("r", lot, ["diagnosis_accuracy"], links or {}, "../report.html", "r-0")


def test_every_episode_stands_on_one_of_the_pages() -> None:
    found = pages(rows(MOST + 3), {"case-0@1": "case-0.html"})
    assert list(found) == ["r-0-episodes.html", "r-0-episodes-2.html"]
    trees = [html.fromstring(text) for text in found.values()]
    assert [len(tree.xpath("//tbody/tr")) for tree in trees] == [MOST, 3]
    assert trees[0].xpath("//tbody//a/@href") == ["case-0.html"]
    assert set(trees[0].xpath("//nav//a/@href")) == {"r-0-episodes-2.html"}
    assert "the endpoint gave no reply in time" in trees[0].xpath("//select[@id='ending']/option/text()")


def test_the_only_script_is_ours_and_nothing_is_loaded() -> None:
    text = pages(rows(3, answer=NASTY, truth=NASTY, episode=NASTY, reason=NASTY))["r-0-episodes.html"]
    tree = html.fromstring(text)
    [script] = tree.xpath("//script")
    policy = tree.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")[0]
    digest = b64encode(sha256(script.text.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in policy
    assert "default-src 'none'" in policy
    assert not re.search(r"https?://|@import|url\(|\son\w+=|innerHTML|fetch|eval", text)
    assert tree.xpath("//link | //img | //iframe") == []


def test_the_words_of_restricted_cases_are_left_out() -> None:
    text = pages(rows(4, restricted=True, answer="SECRET", truth="SECRET"))["r-0-episodes.html"]
    assert "SECRET" not in text
    assert "case-3@1" in text


def test_an_empty_run_has_a_list_too() -> None:
    assert "0 episodes" in pages([])["r-0-episodes.html"]


def test_right_wrong_and_no_value() -> None:
    assert [outcome_word(row) for row in rows(5)] == ["wrong", "right", "right", "wrong", "no value"]


def test_a_zero_has_its_reason_beside_it_in_plain_words() -> None:
    score = Score("diagnosis_accuracy", 0.0, "several_answers")
    row = EpisodeScores(episode="a@1", case="a", cause="completed", scores=(score,))
    (text,) = contents_pages("r", [row], ["diagnosis_accuracy"], {}, "home", "r").values()
    assert "several answers, none chosen" in html.fromstring(text).xpath("string(//tbody)")
