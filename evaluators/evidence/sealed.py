"""Keeps the truth of a case out of the queries that are made to judge its answers."""

from collections.abc import Sequence

from wardround.evaluators.evidence.failure import SearchError
from wardround.evaluators.evidence.found import Found
from wardround.evaluators.evidence.search import MOST, Search
from wardround.scenarios.case import Truth
from wardround.scenarios.terms.truth import opening_contains
from wardround.scenarios.terms.wording import key

RUN = 5
"""Words of the true treatment that must follow each other to be a leak; all of them where it has fewer."""


def leaks(query: str, truth: Truth, known: str = "") -> list[str]:
    """What of the truth `query` gives away: names of the diagnosis, and the treatment or a run of its words.

    `known` is what may be searched for in any case, such as the words of the answer that is judged: where they name the
    diagnosis, by whichever name, no query tells it. A run of the treatment's words is given in the normal form in which
    it is compared. A truth in other words, or in another order, is not seen.
    """
    return _Secret(truth, known).told_by(query)


class _Secret:
    """What of a truth no query may tell: the parts of it that are not `known`.

    `known` may be long and most queries give nothing away, so it is looked through only where one might.
    """

    def __init__(self, truth: Truth, known: str) -> None:
        self._truth, self._known = truth, known
        words = key(truth.treatment).split()
        long = min(RUN, len(words))
        self._runs = [" ".join(words[at : at + long]) for at in range(len(words) - long + 1)] if words else []

    def told_by(self, query: str) -> list[str]:
        """The names and the run of words that `query` gives away."""
        names, given = opening_contains(self._truth, query), f" {key(query)} "
        if names and opening_contains(self._truth, self._known):
            names = []
        runs = [run for run in self._runs if f" {run} " in given]
        free = f" {key(self._known)} " if runs else ""
        return names + [run for run in runs if f" {run} " not in free][:1]


class Sealed:
    """A search that refuses a query that gives the truth away, with the SearchError `leak`; `known` as in leaks."""

    def __init__(self, search: Search, truth: Truth, known: str = "") -> None:
        self.search, self.name, self.host = search, search.name, search.host
        self._secret = _Secret(truth, known)

    async def find(self, query: str, *, most: int = MOST) -> Sequence[Found]:
        """What the search finds; raises SearchError."""
        if self._secret.told_by(query):
            raise SearchError("leak", "the query holds words of the case's true answer: it was not sent")
        return await self.search.find(query, most=most)

    async def aclose(self) -> None:
        """Close the search."""
        await self.search.aclose()
