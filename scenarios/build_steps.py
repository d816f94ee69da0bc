"""What all builds of cases and questions share: the counts of each rule, the intake of episodes, and the account."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel

from wardround.engine.records import Ending, Json
from wardround.engine.text import count_noun, in_number


@dataclass(slots=True)
class BuildStep:
    """The effect of one rule: how many units it has `seen`, dropped and changed.

    `what` describes the rule in words. `unit` names what is counted ('article', 'case'); it is empty if the build
    counts only one kind. `why` counts the drops by reason.
    """

    rule: str
    what: str
    unit: str = ""
    seen: int = 0
    dropped: int = 0
    changed: int = 0
    why: dict[str, int] = field(default_factory=dict)

    @property
    def out(self) -> int:
        """How many units remain."""
        return self.seen - self.dropped

    def drop(self, reason: str = "", count: int = 1) -> None:
        """Count `count` dropped units, in all and under their `reason` if there is one."""
        self.dropped += count
        if reason:
            self.why[reason] = self.why.get(reason, 0) + count

    def json(self) -> dict[str, Json]:
        """The step as JSON."""
        counts: dict[str, Json] = {
            "rule": self.rule,
            "what": self.what,
            **({"unit": self.unit} if self.unit else {}),
            "in": self.seen,
            "dropped": self.dropped,
            "changed": self.changed,
            "out": self.out,
        }
        return {**counts, "why": dict(sorted(self.why.items()))} if self.why else counts


def steps_table(steps: Sequence[BuildStep]) -> list[str]:
    """The steps as a table of text: a line of headings, then a line for each step."""
    rows: list[tuple[str, ...]] = [("rule", "in", "dropped", "changed", "out", "what")]
    for step in steps:
        counts = (f"{count:,}" for count in (step.seen, step.dropped, step.changed, step.out))
        rows.append((step.rule, *counts, step.what))
    widths = [max(len(row[place]) for row in rows) for place in range(5)]
    return [
        "  " + "  ".join((row[0].ljust(widths[0]), *(row[at].rjust(widths[at]) for at in range(1, 5)), row[5])).rstrip()
        for row in rows
    ]


def why_no_case(steps: Sequence[BuildStep], empty: str) -> str:
    """Why a build made no case: the rule that dropped the last unit, or `empty` if no rule saw any."""
    last = next((step for step in steps if step.seen and not step.out), None)
    return f"rule {last.rule} ({last.what}) dropped the last {last.dropped:,}" if last else empty


class EpisodeIntake(ABC):
    """Takes in the episodes of a build's run one by one, and counts them.

    `dropped` lists what was lost after a model was called. `unit` names what one episode is about ('article');
    `answered` says in words which episodes count as answered.
    """

    def __init__(self, unit: str, answered: str) -> None:
        self.finished = BuildStep("finished", "the run is through with it", unit)
        self.answered = BuildStep("answered", answered, unit)
        self.dropped: list[Mapping[str, Json]] = []

    def facts(self, name: str, ending: Ending | None) -> Mapping[str, Json] | None:
        """The facts of a completed episode.

        An episode that failed, or that is still open (`ending` is None), gives None and is counted as dropped.
        """
        self.finished.seen += 1
        if ending is None:
            self.finished.drop()
            return None
        self.answered.seen += 1
        if ending.cause == "completed":
            return ending.facts
        why = f"{ending.cause}/{ending.reason}" if ending.reason else ending.cause
        self.answered.drop(why)
        self.lost(name, self.answered.rule, f"{why}: {ending.detail}")
        return None

    @abstractmethod
    def lost(self, name: str, rule: str, why: str) -> None:
        """Add an episode, or what was made from it, to `dropped`."""


@dataclass(slots=True, kw_only=True)
class RunAccount(ABC):
    """What a build by a run reports at its end: the part that all such builds share.

    `read` units were read from `source`; `open` of them are not finished. `made` counts what was built, by kind.
    `spent` is the cost of the calls by seat. `skipped` lists (name, reason) of what could not be read from the source,
    and `dropped` what was lost after a model was called.
    """

    run: str
    options: BaseModel
    steps: Sequence[BuildStep]
    read: int
    made: Mapping[str, int]
    open: int
    seed: int = 0
    source: str = ""
    spent: Mapping[str, Json] = field(default_factory=dict)
    skipped: Sequence[tuple[str, str]] = ()
    dropped: Sequence[Mapping[str, Json]] = ()

    @abstractmethod
    def json(self) -> dict[str, Json]:
        """The whole account as JSON."""

    @abstractmethod
    def text(self, most: int = 5) -> str:
        """The account as text for readers; it lists the first `most` losses."""

    def closing_lines(self, unit: str, made: str, lost: str, most: int) -> list[str]:
        """The last lines of the text: how many units are open, why nothing was made, and the first `most` losses.

        `unit` names what was read ('article') and `made` what was to be made; `lost` is the title of the losses.
        """
        lines = [f"{count_noun(self.open, unit)} {in_number(self.open, 'is')} not finished"] if self.open else []
        if not any(self.made.values()):
            lines.append(f"no {made}: {why_no_case(self.steps, f'the source holds no {unit}')}")
        if self.dropped:
            more = f"; {len(self.dropped) - most:,} more in the account" * (len(self.dropped) > most)
            lines.append(f"{lost} ({len(self.dropped):,}{more}):")
        for drop in self.dropped[:most]:
            name = f"{drop['id']} {drop.get('piece', '').replace('_', ' ')}".rstrip()
            lines.append(f"  {name}, rule {drop['rule']}: {drop['why']}")
        return lines
