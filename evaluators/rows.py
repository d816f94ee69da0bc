"""What statistics and reports are made from: plain rows of scores, never the store."""

from collections.abc import Mapping, Sequence

import msgspec

from wardround.engine.records import Json, Score
from wardround.evaluators.evaluated import Evaluated


class EpisodeScores(msgspec.Struct, frozen=True, kw_only=True):
    """The scores of one episode, beside what groups it.

    `cause` is None while the episode is open. `answer` and `truth` are shown in the table of episodes, unless the case
    is `restricted`. `group` is the disease, for macro averages; empty if the case has none. `body_systems`, `disorders`
    and `rare` (None if not known) are the strata of tables. `unread` counts the doctor's replies that could not be used
    by their shape (scenarios/parsers/unread.py).
    """

    episode: str
    case: str
    repeat: int = 0
    group: str = ""
    cause: str | None
    reason: str = ""
    scores: Sequence[Score] = ()
    answer: str = ""
    truth: str = ""
    restricted: bool = False
    body_systems: tuple[str, ...] = ()
    disorders: tuple[str, ...] = ()
    rare: bool | None = None
    unread: Mapping[str, int] = {}

    def score(self, name: str) -> Score:
        """The score of that name; if it was never taken, None with reason `not_scored`."""
        for score in self.scores:
            if score.name == name:
                return score
        return Score(name, None, "not_scored")


class Scoring(msgspec.Struct, frozen=True, kw_only=True):
    """One of the scorings of a run, by its `name` (docs/scores.md): which evaluator, by which version of its rules.

    Where judges gave it: their SPECs, the search, a digest of the prompts, and the `run` that holds what they were
    asked. `episodes` were scored. `shown`: the figures are its own. `other_rules`: so many closed episodes that it
    lacks were scored by rules of another version, so that there is no figure.
    """

    name: str
    evaluator: str
    version: str
    run: str = ""
    judges: tuple[str, ...] = ()
    search: str = ""
    prompts: str = ""
    episodes: int = 0
    shown: bool = False
    other_rules: int = 0
    newest: str = ""
    """The version of the rules in this Wardround, where that is known."""


class RunScores(msgspec.Struct, frozen=True, kw_only=True):
    """A scored run: its name, its header (JSON object), its episodes.

    `scoring` says how it was scored where the header does not: `judge` (its SPEC, or several), `search` (its name).
    `judges` maps each judge's seat to its SPEC and model; `floor` says that a lexical stand-in is among them;
    `searches` maps each evaluator whose judges could look things up to the search and the size of its corpus, None
    where it is none or that is not known. `evaluated` tells of each stored evaluation. `scorings` are all that the run
    has; the figures come from those that are `shown`. `broken` are the episodes of the scoring just made in which an
    evaluator failed. `damaged` maps each episode whose record or case the store holds no longer whole to what is wrong
    with it: its scores are None.
    """

    name: str
    header: Mapping[str, Json]
    episodes: Sequence[EpisodeScores]
    scoring: Mapping[str, Json] = {}
    judges: Mapping[str, tuple[str, str]] = {}
    floor: bool = False
    searches: Mapping[str, tuple[str, int | None]] = {}
    evaluated: Sequence[Evaluated] = ()
    scorings: Sequence[Scoring] = ()
    broken: Sequence[str] = ()
    damaged: Mapping[str, str] = {}

    @property
    def answer_judges(self) -> list[str]:
        """The SPECs of those who judged; empty if nobody did."""
        return list(dict.fromkeys(spec for spec, _ in self.judges.values()))
