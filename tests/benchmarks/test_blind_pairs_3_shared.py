"""The third list of blind pairs: what the seed draws, and no truth that was open before."""

from pathlib import Path
from types import ModuleType

import pytest

from benchmarks import blind_pairs_2, blind_pairs_3
from wardround.scenarios.answers.diagnosis import compare
from wardround.scenarios.case import Truth
from wardround.scenarios.terms.wording import key

PAGE = Path(__file__).resolve().parents[2] / "docs" / "scores.md"
DRIFT = 0.03
"""How far a figure may move before the page must be written anew."""
CASES = ("answer", "statement", "other")


@pytest.mark.long
@pytest.mark.shared
def test_the_list_is_what_the_seed_draws(shared: Path) -> None:
    listed = [(row["id"], row["kind"], row["truth"], row["answer"]) for row in blind_pairs_3.rows()]
    assert len(listed) == 300
    assert listed == list(blind_pairs_3.draw(shared / "data"))


@pytest.mark.long
@pytest.mark.shared
def test_no_truth_is_on_a_former_list(shared: Path) -> None:
    truths = {key(truth) for truth, _ in blind_pairs_3.texts(shared / "data").values()}
    assert not truths & blind_pairs_3.former(shared / "data")


def test_the_readers_agree_but_for_three() -> None:
    rows = blind_pairs_3.rows()
    assert [row["id"] for row in rows if row["reader_a"] != row["reader_b"]] == ["d085", "d249", "d281"]
    assert all(row["same"] == row["reader_a"] for row in rows if row["reader_a"] == row["reader_b"])


@pytest.mark.shared
@pytest.mark.long
@pytest.mark.parametrize(("title", "pairs"), [("list 2", blind_pairs_2), ("list 3", blind_pairs_3)])
def test_the_page_states_what_the_match_is_worth_on_them(shared: Path, title: str, pairs: ModuleType) -> None:
    from scipy.stats import binomtest  # type: ignore[import-untyped]

    texts, page = pairs.texts(shared / "data"), PAGE.read_text(encoding="utf-8")
    verdicts = [
        (row["kind"] in CASES, row["same"] == "1", compare(answer, Truth(diagnosis=truth)).match)
        for row in pairs.rows()
        for truth, answer in [texts[row["id"]]]
    ]
    for part, kinds in ((title, (True, False)), (f"{title}: cases", (True,)), (f"{title}: names", (False,))):
        right = [matched for case, same, matched in verdicts if case in kinds and same]
        wrong = [matched for case, same, matched in verdicts if case in kinds and not same]
        low = binomtest(len(wrong) - sum(wrong), len(wrong)).proportion_ci(method="wilson").low
        [line] = [line for line in page.splitlines() if line.startswith(f"| {part} |")]
        _, _, *printed, _ = (cell.strip() for cell in line.split("|"))
        assert [int(printed[0]), int(printed[2])] == [len(right), len(wrong)], part
        measured = [sum(right) / len(right), 1 - sum(wrong) / len(wrong), low]
        assert measured == pytest.approx([float(printed[1]), float(printed[3]), float(printed[4])], abs=DRIFT), part
