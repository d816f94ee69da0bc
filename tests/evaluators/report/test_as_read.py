"""An answer as it was read, in words: what it commits to, what stands beside it, what did not count."""

import pytest
from graded import case

from wardround.evaluators.report.answer_reading import LONGEST, as_read
from wardround.scenarios.case import Truth

GOUT = case(truth=Truth(diagnosis="Gout", treatment="Colchicine; rest"))


@pytest.mark.parametrize(
    ("given", "lines"),
    [
        ("Gout", {"commits to": "Gout"}),
        ("Gout with hypertension", {"commits to": "Gout", "also asserts": "with hypertension"}),
        ("Probably gout", {"commits to": "gout", "hedged": "it is said to be likely, which still commits to it"}),
        ("Gout or lupus", {"commits to": "nothing", "left open": "Gout; lupus"}),
        ("Gout is excluded", {"commits to": "nothing", "not counted": "Gout is excluded"}),
        ("1. Most likely gout\n2. Lupus", {"commits to": "gout", "hedged": "", "list": "ranked by likelihood"}),
    ],
)
def test_a_diagnosis(given: str, lines: dict[str, str]) -> None:
    told = dict(as_read(given, GOUT, "diagnosis"))
    assert told.pop("by words").startswith(("right: ", "wrong: "))
    assert set(told) == set(lines)
    assert all(told[label].startswith(text) for label, text in lines.items())


def test_a_plan() -> None:
    told = dict(as_read("Give colchicine; stop allopurinol; avoid diuretics", GOUT, "treatment"))
    assert "colchicine" in told["gives"].lower()
    assert "allopurinol" in told["stops"]
    assert "diuretics" in told["avoids"]
    assert told["by words"] == "right: 50% of the truth's measures are given"
    assert dict(as_read("Colchicine; consider surgery", GOUT, "treatment"))["considers"] == "surgery"


def test_a_ranked_list_that_was_asked_for() -> None:
    assert as_read("Lupus; gout; scurvy; asthma", GOUT, "diagnosis", 2) == [
        ("ranked list", "1. Lupus; 2. gout"),
        ("beyond what was asked", "scurvy; asthma"),
    ]


def test_no_answer_has_no_lines_and_a_long_one_is_cut() -> None:
    assert as_read("  ", GOUT, "diagnosis") == []
    long = " or ".join(f"gout of the {place}th toe" for place in range(100))
    assert all(len(text) < LONGEST + 60 for _, text in as_read(long, GOUT, "diagnosis"))
