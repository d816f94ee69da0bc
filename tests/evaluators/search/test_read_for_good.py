"""Scored again: a page that can never be read is not asked for once more, one that could not be reached is."""

from collections import Counter

import pytest
from bench import PlayedSearch
from plain_judge import PlainJudge
from reasoned import PASSAGE
from sitting import court, played

from wardround.evaluators.reasoning.evaluator import Reasoning
from wardround.evaluators.search.results import Page, SearchError
from wardround.scoring.score import score_run
from wardround.testing.memory_store import MemoryStore


class Failing:
    """A reader that has no page, and counts what it is asked."""

    name = "played"

    def __init__(self, error: SearchError) -> None:
        self.error, self.asked = error, Counter[str]()

    async def read(self, url: str) -> Page:
        """Raises the error."""
        self.asked[url] += 1
        raise self.error

    async def aclose(self) -> None:
        """Nothing to give back."""


@pytest.mark.parametrize(
    ("error", "again"),
    [
        (SearchError("refused", "no such page", status=404), False),
        (SearchError("refused", "down", status=503), True),
        pytest.param(SearchError("too_large", "too long"), False, marks=pytest.mark.long),
        pytest.param(SearchError("connection", "no way"), True, marks=pytest.mark.long),
    ],
)
async def test_only_what_may_pass_opens_an_evaluation_again(error: SearchError, again: bool) -> None:
    store, reader = MemoryStore(), Failing(error)
    run = await played(store)
    lengths, reads = [], list[int]()
    for _ in range(3):
        judging = court(PlainJudge(), search=PlayedSearch(PASSAGE))
        judging.reader = reader
        scores = await score_run(run, [Reasoning()], judge=judging)
        assert {row.score("unverifiable_formal").value for row in scores.episodes} == {1.0}
        lengths.append([row.events async for row in store.episodes("r~reasoning")])
        reads.append(reader.asked.total())
    assert (lengths[0] != lengths[1]) is again
    assert (lengths[1] != lengths[2]) is again
    assert (reads[2] > reads[0]) is again
