"""The index of passages: what it keeps at hand is bounded."""

from pathlib import Path

import pytest

from wardround.evaluators.search.corpus import Index, write_index
from wardround.evaluators.search.documents import Passage


@pytest.mark.long
def test_counts_of_words_at_hand_are_bounded(tmp_path: Path) -> None:
    passages = [Passage(n, f"title {n}", "", f"common word{n}", 0, 0, "", "") for n in range(40)]
    write_index(tmp_path / "a.index", passages)
    index = Index(tmp_path / "a.index")
    kept = index._holding.cache_info().maxsize
    assert kept is not None
    for start in range(0, kept + 96, 48):
        index.find(" ".join(f"new{number}" for number in range(start, start + 48)), 1)
    assert index._holding.cache_info().currsize == kept
    assert [found.text for found in index.find("common word7", 3)] == ["common word7"]
    index.close()
