"""Which figures stand in which table: the layout of paper 002's extended tables, and of those it has not."""

from collections.abc import Sequence

import msgspec

from wardround.evaluators.reasoning.judged import Rules
from wardround.evaluators.tables.table import Column, Population

ONE_TURN, FREE_TURN, ORACLE, TREATMENT = "one-turn", "free-turn", "oracle", "treatment"
SETTINGS = {ONE_TURN: "1-turn", FREE_TURN: "Free-turn", ORACLE: "Oracle", TREATMENT: "Treatment"}
_PARTS = ("formal", "thinking")
_BESIDE = ("unverifiable", "factuality_low", "factuality_high")
_BOTH: tuple[Population, ...] = ("all", "rare")


class Layout(msgspec.Struct, frozen=True):
    """A table without its rows. `single`: each run is a row of its own, since its settings are not the paper's."""

    key: str
    title: str
    columns: tuple[Column, ...]
    single: bool = False


def extended(rules: Rules) -> list[Layout]:
    """Extended tables 1 to 6."""
    both = [ONE_TURN, ORACLE]
    return [
        Layout("1", "Examinations recommended", _twice([*_asked(ONE_TURN, rules), *_asked(FREE_TURN, rules)])),
        Layout("2", "Reasoning of examination recommendation, 1-turn", _twice(_examination(ONE_TURN, rules))),
        Layout("3", "Diagnoses", _twice([_accuracy(setting, rules) for setting in (ONE_TURN, FREE_TURN, ORACLE)])),
        Layout("4", "Reasoning of the diagnosis, all diseases", tuple(_over(both, rules))),
        Layout("5", "Reasoning of the diagnosis, rare diseases", _of(_over(both, rules), "rare")),
        Layout("6", "Treatment plans", _twice([_accuracy(TREATMENT, rules), *_reasoning(TREATMENT, rules)])),
    ]


def by_turn(rules: Rules, turns: int) -> Layout:
    """Reasoning in free turns, each turn in columns of its own; which of them an episode has depends on its length."""
    columns = [
        column
        for turn in range(1, turns + 1)
        for column in _examination(FREE_TURN, rules, f"turn_{turn}_", f", turn {turn}")
    ]
    return Layout("turns", "Reasoning in free turns, turn by turn", tuple(columns))


def others(rules: Rules, goals: Sequence[str]) -> Layout:
    """All figures of scenarios that the paper's tables have no column for."""
    accuracy = [Column(f"{goal.capitalize()} accuracy", "", (_outcome(goal, rules),)) for goal in goals]
    return Layout(
        "other", "Other scenarios", _twice([*accuracy, *_asked("", rules), *_reasoning("", rules)]), single=True
    )


def _twice(columns: Sequence[Column]) -> tuple[Column, ...]:
    return tuple(column for population in _BOTH for column in _of(columns, population))


def _of(columns: Sequence[Column], population: Population) -> tuple[Column, ...]:
    return tuple(msgspec.structs.replace(column, population=population) for column in columns)


def _over(settings: Sequence[str], rules: Rules) -> list[Column]:
    return [column for setting in settings for column in _reasoning(setting, rules)]


def _prefix(rules: Rules) -> str:
    return "published_" if rules == "published" else ""


def _outcome(goal: str, rules: Rules) -> str:
    # the published rules differ for treatments only
    return f"{_prefix(rules) if goal == 'treatment' else ''}{goal}_accuracy"


def _accuracy(setting: str, rules: Rules) -> Column:
    return Column("Accuracy", setting, (_outcome("treatment" if setting == TREATMENT else "diagnosis", rules),))


def _asked(setting: str, rules: Rules) -> list[Column]:
    return [
        Column(name.capitalize(), setting, (f"{_prefix(rules)}assessment_{name}",)) for name in ("precision", "recall")
    ]


def _examination(setting: str, rules: Rules, stage: str = "examination_", said: str = "") -> list[Column]:
    return [_parted(name, setting, rules, stage, said) for name in ("efficiency", "factuality")]


def _reasoning(setting: str, rules: Rules) -> list[Column]:
    return [_parted(name, setting, rules) for name in ("efficiency", "factuality", "completeness")]


def _parted(name: str, setting: str, rules: Rules, stage: str = "", said: str = "") -> Column:
    """A figure of reasoning, formal and thinking; factuality with what is unverifiable, where the rules know that."""
    beside = (
        tuple(tuple(f"{stage}{other}_{part}" for other in _BESIDE) for part in _PARTS)
        if name == "factuality" and rules == "default"
        else ()
    )
    scores = tuple(f"{stage}{_prefix(rules)}{name}_{part}" for part in _PARTS)
    return Column(f"{name.capitalize()}{said}", setting, scores, beside)
