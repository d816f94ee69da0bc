"""The list of blind pairs names places, and its texts can be had again from them."""

from pathlib import Path

import pytest

from benchmarks import blind_pairs


@pytest.mark.shared
def test_the_list_is_what_the_seed_draws(shared: Path) -> None:
    listed = [tuple(row.values()) for row in blind_pairs.rows()]
    assert len(listed) == 300
    assert listed == list(blind_pairs.draw(shared / "data"))


@pytest.mark.shared
def test_each_place_has_two_texts(shared: Path) -> None:
    texts = blind_pairs.texts(shared / "data")
    assert len(texts) == 300
    assert all(truth and answer for truth, answer in texts.values())
