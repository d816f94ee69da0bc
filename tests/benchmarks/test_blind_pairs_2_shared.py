"""The second list of blind pairs: what the seed draws, none of it in the first list, no truth that was open."""

from pathlib import Path

import pytest

from benchmarks import blind_pairs, blind_pairs_2


@pytest.mark.long
@pytest.mark.shared
def test_the_list_is_what_the_seed_draws(shared: Path) -> None:
    listed = [(row["id"], row["kind"], row["truth"], row["answer"]) for row in blind_pairs_2.rows()]
    assert len(listed) == 300
    assert listed == list(blind_pairs_2.draw(shared / "data"))


@pytest.mark.long
@pytest.mark.shared
def test_no_pair_is_in_the_first_list_and_no_name_was_open(shared: Path) -> None:
    before = set(blind_pairs.texts(shared / "data").values())
    texts = blind_pairs_2.texts(shared / "data")
    assert not before & set(texts.values())
    closed = [texts[row["id"]][0] for row in blind_pairs_2.rows() if row["kind"] not in ("title", "option")]
    assert {blind_pairs_2.half(truth) for truth in closed} == {"held"}
