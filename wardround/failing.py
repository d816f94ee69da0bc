"""Evaluators that failed in episodes: each failure is said once, however many episodes it is met in."""

import structlog

from wardround.engine.episode import TIMEOUT
from wardround.engine.errors import WardroundError
from wardround.engine.protocols import Evaluator
from wardround.engine.records import Ending
from wardround.evaluators.checked import called

log = structlog.get_logger("wardround")
ERROR = "error"
"""Reason of an ending by an exception that nothing else accounts for: a mistake in the evaluator."""


class Failures:
    """What became of the episodes that an evaluator could not score."""

    def __init__(self, run: str, evaluator: Evaluator) -> None:
        self._run, self._evaluator = run, evaluator
        self._met: dict[str, list[str]] = {}
        self.broken: set[str] = set()
        self.damaged: dict[str, str] = {}

    def add(self, episode: str, ending: Ending) -> None:
        """An episode in which it failed; `broken` are those in which it was its own mistake."""
        self._met.setdefault(ending.detail, []).append(episode)
        if ending.reason == ERROR or (ending.reason == TIMEOUT and ending.cause != "provider"):
            self.broken.add(episode)

    def damage(self, episode: str, error: WardroundError) -> None:
        """An episode whose record or case is damaged: it is left alone and named, once."""
        if episode not in self.damaged:
            log.error("an episode is damaged and left alone", run=self._run, episode=episode, error=str(error))
        self.damaged[episode] = str(error)

    def say(self) -> None:
        """A line for each: which class, in how many episodes, the first of them, what, in which line of which file."""
        for why, episodes in sorted(self._met.items()):
            log.warning(
                "an evaluation failed",
                run=self._run,
                evaluator=called(self._evaluator),
                episodes=len(episodes),
                first=min(episodes),
                why=why,
            )
