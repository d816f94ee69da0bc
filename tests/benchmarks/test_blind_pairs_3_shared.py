"""The third list of blind pairs: what the seed draws, and no truth that was open before."""

from pathlib import Path

import pytest

from benchmarks import blind_pairs_3
from wardround.scenarios.terms.wording import key


@pytest.mark.shared
def test_the_list_is_what_the_seed_draws(shared: Path) -> None:
    listed = [(row["id"], row["kind"], row["truth"], row["answer"]) for row in blind_pairs_3.rows()]
    assert len(listed) == 300
    assert listed == list(blind_pairs_3.draw(shared / "data"))


@pytest.mark.shared
def test_no_truth_is_on_a_former_list(shared: Path) -> None:
    truths = {key(truth) for truth, _ in blind_pairs_3.texts(shared / "data").values()}
    assert not truths & blind_pairs_3.former(shared / "data")


def test_the_readers_agree_but_for_three() -> None:
    rows = blind_pairs_3.rows()
    assert [row["id"] for row in rows if row["reader_a"] != row["reader_b"]] == ["d085", "d249", "d281"]
    assert all(row["same"] == row["reader_a"] for row in rows if row["reader_a"] == row["reader_b"])
