"""Answers that weigh, choose, concede, tick or set a condition, and plain words: invented pairs by class.

`weighed_answers.csv`: `same` is what a reader makes of the pair; each class has honest neighbours that must keep
counting. In an answer, `\\n` stands for a new line.
"""

import csv
from pathlib import Path

import pytest
from examples import first_ones, sampled

from wardround.scenarios.answers.answer_markup import unnumbered
from wardround.scenarios.answers.diagnosis import compare
from wardround.scenarios.answers.open_choice import weighed
from wardround.scenarios.answers.taken_back import standing
from wardround.scenarios.answers.truth import read_parts
from wardround.scenarios.case import Truth
from wardround.scenarios.diseases.contradiction import species_of

ROWS = list(csv.DictReader(Path(__file__).with_name("weighed_answers.csv").read_text(encoding="utf-8").splitlines()))
CLASSES = sorted({row["class"] for row in ROWS})


@sampled(3)
@pytest.mark.parametrize("kind", CLASSES)
def test_each_answer_counts_as_a_reader_reads_it(kind: str, every: int) -> None:
    rows = [row for row in ROWS if row["class"] == kind]
    wrong = [
        (row["truth"], row["answer"])
        for row in rows[::every]
        if compare(row["answer"].replace("\\n", "\n"), Truth(diagnosis=row["truth"])).match != (row["same"] == "yes")
    ]
    assert not wrong
    assert kind == "either way" or min(sum(row["same"] == same for row in rows) for same in ("yes", "no")) >= 4


def test_a_numbered_truth_names_its_parts() -> None:
    assert read_parts("1, Gout, 2, Asthma") == ("Gout", "Asthma")
    assert compare("1, Gout, 2, Asthma", Truth(diagnosis="1, Gout, 2, Asthma")).rule == "exact"
    assert unnumbered("Type 1, 2 and 3") == "Type 1, 2 and 3"


def test_a_plan_may_set_a_condition() -> None:
    plan = "Amoxicillin for a week, surgery if the culture is positive"
    assert standing(plan, plan=True) == plan
    assert standing("Gout if the culture is positive") == ""


def test_a_species_is_read_with_its_genus() -> None:
    assert species_of("Candida glabrata fungemia and C. albicans") == {"candida": {"glabrata"}, "c.": {"albicans"}}
    assert species_of("Chronic bronchitis") == {}


PIECES = (
    "[ ] gout ", "gout 50%, ", "between a and b ", "both possible ", "gout 0.5; ", "x would fit, but ", "P(",
    "if a is high, ", "1, gout ", "and ", "   ", "\n", "[x]", "A or B? ", "Candida albicans ", "either way: ",
    "a is more likely than ",
)  # fmt: skip


@pytest.mark.parametrize("piece", first_ones(PIECES))
def test_such_answers_are_read_however_long_they_are(piece: str) -> None:
    text = piece * (20_000 // len(piece))
    assert not compare(text, Truth(diagnosis="Candida albicans fungemia")).match
    assert set(weighed(text)) | set(unnumbered(text)) <= set(text)
    assert bool(species_of(text)) == piece.startswith("Candida")
