"""The criteria of an encounter's rubric on the page of its episode and in `wardround show`, with their events."""

import re
from pathlib import Path

from shell import Shell


def test_marks_stand_on_the_page_and_in_show_with_the_events_that_show_them(shell: Shell, tmp_path: Path) -> None:
    store, page = ("--store", tmp_path / "s.db"), tmp_path / "r.html"
    played = ("--cases", "bundled:reports", "--scenario", "consultation", "--doctor", "baseline", "--limit", 1)
    assert shell("run", *played, "--name", "e", *store) == 0
    assert shell("show", "e", "wr-001", *store) == 0
    assert "Rubric" not in shell.out
    assert shell("score", "e", "--evaluators", "rubric", "--judge", "lexical", *store) == 0
    assert shell("show", "e", "wr-001", *store) == 0
    assert "Rubric (rubric, a lower bound): 0.333" in shell.out
    shown = re.search(r"\+4  Asks about jaundice[^\n]*: met, by rule; events (\d+)", shell.out)
    assert shown is not None
    assert "-6  Ascribes the symptoms to a mental illness and ends the search there: not met, by the judge" in shell.out
    assert shell("report", "e", "--html", page, *store) == 0
    (episode,) = (tmp_path / "r-episodes").glob("*wr-001*")
    text = episode.read_text(encoding="utf-8")
    marks = text[text.index('id="rubric"') : text.index('id="dialogue"')]
    assert f'<a href="#e-{shown[1]}">event {shown[1]}</a>' in marks
    assert f'id="e-{shown[1]}"' in text
    assert marks.count("not met") == 3
    assert marks.count("by rule") == 2
