"""The page of docs about scores names what there is."""

import re
from pathlib import Path

from wardround.evaluators.measures import MEASURES, format_value, measure_of, place_of

PAGE = Path(__file__).resolve().parents[2] / "docs" / "scores.md"


def test_every_score_is_explained() -> None:
    named = set(re.findall(r"`(\w+)`", PAGE.read_text(encoding="utf-8")))
    kinds = re.compile(r"^exam_(?:recall|precision)_(?:lab|microbiology|imaging|investigation)$")
    missing = [m.name for m in MEASURES if m.name not in named and not kinds.match(m.name)]
    assert missing == []


def test_values_are_shown_by_their_unit() -> None:
    assert format_value("exam_recall", 0.87349) == "0.873"
    assert format_value("tokens", 12345.0) == "12,345"
    assert format_value("cost_usd", 0.03125) == "$0.0312"
    assert format_value("cost_usd", 12.5) == "$12.50"
    assert format_value("cost_usd", 0.0) == "$0"
    assert format_value("episode_seconds", 4.123) == "4.1 s"
    assert format_value("episode_seconds", 0.0012) == "1.2 ms"
    assert format_value("episode_seconds", 0.0) == "0.000 s"
    assert format_value("turns", 3.0) == "3.0"
    assert format_value("my_own", None) == "–"


def test_scores_of_plug_ins_come_last_by_name() -> None:
    names = ["zeta", "turns", "alpha", "diagnosis_accuracy"]
    assert sorted(names, key=place_of) == ["diagnosis_accuracy", "turns", "alpha", "zeta"]
    assert measure_of("my_own").label == "my own"
