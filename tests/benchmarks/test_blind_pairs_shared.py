"""The blind pairs: places only, whose texts can be had again; the page states what word match is worth on them."""

from functools import cache
from pathlib import Path

import pytest

from benchmarks.blind_pairs import LISTS, Data, half, truths_read_before
from wardround.scenarios.answers.diagnosis import compare
from wardround.scenarios.case import Truth
from wardround.scenarios.terms.wording import key

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = {"1": DOCS / "measurements.md", "2": DOCS / "measurements.md", "3": DOCS / "scores.md"}
"""Where each list's figures stand: those of the lists that were read afterwards are no figures to quote."""
DRIFT = 0.03
"""How far a figure may move before the page must be written anew."""
CASES, NAMES = ("answer", "statement", "other"), ("name", "title", "option")
PARTS = (
    ("1", "all 300", CASES + NAMES),
    ("1", "MedR-Bench", CASES),
    ("1", "other", NAMES),
    *((number, title, CASES + NAMES) for number, title in (("2", "list 2"), ("3", "list 3"))),
    *((number, f"list {number}: cases", CASES) for number in ("2", "3")),
    *((number, f"list {number}: names", NAMES) for number in ("2", "3")),
)
DIFFER = {"1": 9, "2": 3, "3": 3}
"""How many pairs of each list the two readers call differently."""


@cache
def read(folder: Path) -> Data:
    return Data(folder)


@pytest.fixture
def data(shared: Path) -> Data:
    return read(shared / "data")


@pytest.mark.long
@pytest.mark.shared
@pytest.mark.parametrize("number", LISTS)
def test_the_list_is_what_the_seed_draws(data: Data, number: str) -> None:
    rows = [(row["id"], row["kind"], row["truth"], row["answer"]) for row in LISTS[number].rows()]
    assert len(rows) == 300
    assert rows == list(LISTS[number].draw(data))


@pytest.mark.long
@pytest.mark.shared
def test_no_pair_of_list_2_is_in_list_1_and_no_name_was_open(data: Data) -> None:
    texts = LISTS["2"].texts(data)
    assert not set(LISTS["1"].texts(data).values()) & set(texts.values())
    closed = [texts[row["id"]][0] for row in LISTS["2"].rows() if row["kind"] not in ("title", "option")]
    assert {half(truth) for truth in closed} == {"held"}


@pytest.mark.long
@pytest.mark.shared
def test_no_truth_of_list_3_is_on_a_former_list(data: Data) -> None:
    truths = {key(truth) for truth, _ in LISTS["3"].texts(data).values()}
    assert not truths & truths_read_before(data)


@pytest.mark.parametrize("number", LISTS)
def test_the_readers_agree_but_for_a_few(number: str) -> None:
    rows = LISTS[number].rows()
    assert sum(row["reader_a"] != row["reader_b"] for row in rows) == DIFFER[number]
    assert all(row["same"] == row["reader_a"] for row in rows if row["reader_a"] == row["reader_b"])


@pytest.mark.shared
@pytest.mark.long
@pytest.mark.parametrize(("number", "title", "kinds"), PARTS)
def test_the_page_states_what_the_match_is_worth_on_them(
    data: Data, number: str, title: str, kinds: tuple[str, ...]
) -> None:
    from scipy.stats import binomtest  # type: ignore[import-untyped]

    texts, page = LISTS[number].texts(data), PAGES[number].read_text(encoding="utf-8")
    verdicts = [
        (row["same"] == "1", compare(answer, Truth(diagnosis=truth)).match)
        for row in LISTS[number].rows()
        for truth, answer in [texts[row["id"]]]
        if row["kind"] in kinds
    ]
    right = [matched for same, matched in verdicts if same]
    wrong = [matched for same, matched in verdicts if not same]
    low = binomtest(len(wrong) - sum(wrong), len(wrong)).proportion_ci(method="wilson").low
    [line] = [line for line in page.splitlines() if line.startswith(f"| {title} |")]
    _, _, *printed, _ = (cell.strip() for cell in line.split("|"))
    assert [int(printed[0]), int(printed[2])] == [len(right), len(wrong)]
    measured = [sum(right) / len(right), 1 - sum(wrong) / len(wrong), low]
    assert measured == pytest.approx([float(printed[1]), float(printed[3]), float(printed[4])], abs=DRIFT)
