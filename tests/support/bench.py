"""Scripted judges, searches and benches, for the tests of judging evaluators."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from wardround.engine.prompts import Prompts
from wardround.evaluators.evaluation import JudgeContext
from wardround.evaluators.judges.panel import Panel, Sample
from wardround.evaluators.judges.question import Question
from wardround.evaluators.search.contract import Search
from wardround.evaluators.search.results import SearchError, SearchHit

Reply = str | Exception
Script = Mapping[str, Reply | Sequence[Reply]] | Callable[[Question, Sample], Reply]


class PlayedJudge:
    """A judge that plays its script: by the question's name a reply, or replies in turn (the last again and again)."""

    floor = False

    def __init__(self, script: Script, seat: str = "judge") -> None:
        self.seat, self.spec = seat, f"played:{seat}"
        self._script = script
        self.asked: list[tuple[Question, Sample, Sequence[str]]] = []

    async def say(self, question: Question, sample: Sample, said: Sequence[str] = ()) -> str:
        """The next reply, or the error in its place."""
        nth = sum(one.name == question.name for one, *_ in self.asked)
        self.asked.append((question, sample, tuple(said)))
        if callable(self._script):
            reply = self._script(question, sample)
        else:
            given = self._script[question.name]
            reply = given if isinstance(given, str | Exception) else given[min(nth, len(given) - 1)]
        if isinstance(reply, Exception):
            raise reply
        return reply

    def count(self, name: str) -> int:
        """How often it was asked this question."""
        return sum(question.name == name for question, *_ in self.asked)


class PlayedSearch:
    """A search that finds the same for every query, or fails, and keeps the queries."""

    name, host = "played", ""

    def __init__(self, *found: SearchHit | SearchError, host: str = "") -> None:
        self.found, self.host = found, host
        self.queries: list[str] = []

    async def find(self, query: str, *, most: int = 3) -> Sequence[SearchHit]:
        """What it was given."""
        self.queries.append(query)
        for one in self.found:
            if isinstance(one, SearchError):
                raise one
        return [one for one in self.found if isinstance(one, SearchHit)][:most]

    async def aclose(self) -> None:
        """Nothing to give back."""


def bench(
    *judges: PlayedJudge | Script, search: Search | None = None, repeats: int = 1, swap: bool = False, **more: Any
) -> JudgeContext:
    """A bench with these judges; scripts become judges called judge, judge-2 ..."""
    seats = ["judge", *(f"judge-{number}" for number in range(2, len(judges) + 1))]
    played = [
        judge if isinstance(judge, PlayedJudge) else PlayedJudge(judge, seat)
        for judge, seat in zip(judges, seats, strict=True)
    ]
    panel = Panel(played, repeats=repeats, swap=swap)
    return JudgeContext("judge", "case-1", 1, Prompts({}), panel=panel, search=search, **more)


def verdict(word: str, **fields: object) -> str:
    """A reply {"verdict": word, ...}."""
    return msgspec.json.encode({"verdict": word, **fields}).decode()
