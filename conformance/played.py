"""A judge and a search that play recorded replies."""

from collections.abc import Iterator
from typing import Any

from wardround.scenarios.published.imaging_words import Absent


class Judge:
    """A judge that plays its recorded replies in order, and a search that finds `info 1`, `info 2`, ..."""

    def __init__(self, replies: Any) -> None:
        self._replies: Iterator[Any] = iter(replies if isinstance(replies, list) else [replies])
        self.calls = 0
        self.searches: list[Any] = []

    def says(self) -> str:
        """The next reply. Raises Absent where there is none."""
        for reply in self._replies:
            self.calls += 1
            if not isinstance(reply, str):
                raise Absent("no_text", f"the judge replied {reply!r}")
            return reply
        raise Absent("no_reply", "the judge is asked again and has no more recorded replies")

    def finds(self, query: Any) -> str:
        """What a search for `query` finds."""
        self.searches.append(query)
        return f"info {len(self.searches)}"

    def with_calls(self, value: Any) -> dict[str, Any]:
        """A value with the calls and searches that led to it."""
        return {"value": value, "error": None, "judge_calls": self.calls, "searches": self.searches}
