"""The blind pairs: places only, whose texts can be had again; the page states what word match is worth on them."""

from pathlib import Path

import pytest

from benchmarks import blind_pairs
from wardround.scenarios.answers.diagnosis import compare
from wardround.scenarios.case import Truth

PAGE = Path(__file__).resolve().parents[2] / "docs" / "scores.md"
DRIFT = 0.03
"""How far a figure may move before the page must be written anew."""


@pytest.mark.long
@pytest.mark.shared
def test_the_list_is_what_the_seed_draws(shared: Path) -> None:
    listed = [(row["id"], row["kind"], row["truth"], row["answer"]) for row in blind_pairs.rows()]
    assert len(listed) == 300
    assert listed == list(blind_pairs.draw(shared / "data"))


def test_the_readers_agree_but_for_a_few() -> None:
    rows = blind_pairs.rows()
    assert sum(row["reader_a"] != row["reader_b"] for row in rows) == 9
    assert all(row["same"] == row["reader_a"] for row in rows if row["reader_a"] == row["reader_b"])


@pytest.mark.shared
@pytest.mark.long
def test_the_page_states_what_the_match_is_worth_on_them(shared: Path) -> None:
    from scipy.stats import binomtest  # type: ignore[import-untyped]

    texts, page = blind_pairs.texts(shared / "data"), PAGE.read_text(encoding="utf-8")
    for title, kinds in (
        ("all 300", None),
        ("MedR-Bench", ("answer", "other")),
        ("other", ("name", "title", "option")),
    ):
        right: list[bool] = []
        wrong: list[bool] = []
        for row in blind_pairs.rows():
            if kinds is None or row["kind"] in kinds:
                truth, answer = texts[row["id"]]
                matched = compare(answer, Truth(diagnosis=truth)).match
                (right if row["same"] == "1" else wrong).append(matched)
        low = binomtest(len(wrong) - sum(wrong), len(wrong)).proportion_ci(method="wilson").low
        [line] = [line for line in page.splitlines() if line.startswith(f"| {title} |")]
        _, _, *printed, _ = (cell.strip() for cell in line.split("|"))
        assert [int(printed[0]), int(printed[2])] == [len(right), len(wrong)], title
        measured = [sum(right) / len(right), 1 - sum(wrong) / len(wrong), low]
        assert measured == pytest.approx([float(printed[1]), float(printed[3]), float(printed[4])], abs=DRIFT), title
