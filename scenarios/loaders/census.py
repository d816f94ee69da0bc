"""Summarises a file of cases: counts by stratum, faults, leaked truths, and what each scenario lacks."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from wardround.engine.errors import UsageError
from wardround.engine.plugins import load_plugin, plugin_names
from wardround.engine.prompts import Prompts
from wardround.engine.records import Json
from wardround.engine.text import count_noun
from wardround.scenarios.answers.truth import opening_contains
from wardround.scenarios.case import Case, unrecorded_findings
from wardround.scenarios.diseases.giveaway import revealed
from wardround.scenarios.loaders.load import scan
from wardround.scenarios.loaders.source import Playable, Problem
from wardround.scenarios.papers import OF_SCENARIOS
from wardround.scenarios.question_item import QuestionItem

SCENARIOS = "wardround.scenarios"
"""The entry-point group for scenarios."""
_DECIDING = "truth.deciding"
_UNRECORDED = "{!r} stands nowhere in the record: write it as the record does"


class NamedTruth(NamedTuple):
    """A phrase in a field of a case that names the truth."""

    case: str
    field: str
    phrase: str

    def __str__(self) -> str:
        return f"{self.case}, field {self.field}: {self.phrase!r}"


class RelatedWords(NamedTuple):
    """Words in a field of a case that give the truth away without its name, such as its operation or drug."""

    case: str
    field: str
    phrase: str
    relation: str

    def __str__(self) -> str:
        return f"{self.case}, field {self.field}: {self.phrase!r} ({self.relation})"


class Census(msgspec.Struct, frozen=True):
    """A summary of a file of cases. Counters map a value to its number of cases; a case may count in several.

    `leaks` are those of open fields, `story_leaks` those of the history in other cases. `lacks` maps a scenario to the
    cases that it cannot play or score, with the missing field. `warnings` are oddities of cases that can still be
    played.
    """

    path: str
    cases: int = 0
    counts: Mapping[str, Counter[str]] = msgspec.field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()
    leaks: tuple[NamedTruth, ...] = ()
    story_leaks: tuple[NamedTruth, ...] = ()
    related: tuple[RelatedWords, ...] = ()
    lacks: Mapping[str, Mapping[str, str]] = msgspec.field(default_factory=dict)

    def json(self) -> Json:
        """The census as JSON with stable keys."""
        return {
            "path": self.path,
            "cases": self.cases,
            "counts": {name: dict(_sorted(counter)) for name, counter in self.counts.items()},
            "problems": [_json(problem) for problem in self.problems],
            "warnings": [_json(warning) for warning in self.warnings],
            "leaks": [leak._asdict() for leak in self.leaks],
            "story_leaks": [leak._asdict() for leak in self.story_leaks],
            "related": [words._asdict() for words in self.related],
            "playable": {name: self.cases - len(lacking) for name, lacking in self.lacks.items()},
            "lacks": {name: dict(missing) for name, missing in self.lacks.items() if missing},
        }

    def text(self, most: int = 12) -> str:
        """The census as text; each stratum shows its `most` largest values, everything else is complete."""
        said = [f"{self.path}: {count_noun(self.cases, 'case')}, {count_noun(len(self.problems), 'problem')}"]
        for name, counter in self.counts.items():
            shown = [f"{value} {count}" for value, count in _sorted(counter)[:most]]
            if len(counter) > most:
                shown.append(f"and {len(counter) - most} more")
            said.append(f"  {name} ({len(counter)}): {', '.join(shown)}")
        if self.cases:
            said.append("can be played and scored under:")
            said += [f"  {self._playable(name)}" for name in self.lacks]
        said += _listed(f"an open field names the truth in {_cases(self.leaks)}:", self.leaks)
        said += _listed(f"the patient's story names the truth in {_cases(self.story_leaks)}:", self.story_leaks)
        said += _listed(f"a word gives the truth away without naming it in {_cases(self.related)}:", self.related)
        said += _listed("odd, and played all the same:", self.warnings)
        said += _listed("problems:", self.problems)
        return "\n".join(said)

    def _playable(self, name: str) -> str:
        """How many cases a scenario can play, and what excludes the others."""
        missing = self.lacks[name]
        why = "; ".join(f"{count} cannot: {what}" for what, count in _sorted(Counter(missing.values())))
        return f"{name}: {self.cases - len(missing)} of {self.cases}" + (f" ({why})" if why else "")


def _listed(title: str, entries: Sequence[object]) -> list[str]:
    """The entries below their title; nothing if there are none."""
    return [title, *(f"  {entry}" for entry in entries)] if entries else []


def _cases(leaks: Iterable[NamedTruth | RelatedWords]) -> str:
    return count_noun(len({leak.case for leak in leaks}), "case")


def _json(problem: Problem) -> Json:
    return {
        "path": problem.path,
        "line": problem.line,
        "case": problem.case,
        "field": problem.field,
        "message": problem.message,
    }


def census(path: Path | str) -> Census:
    """Count the file at `path`; an unreadable file gives a census with a single fault."""
    every: list[Playable] = []
    problems: list[Problem] = []
    try:
        for item in scan(path):
            if isinstance(item, Problem):
                problems.append(item)
            else:
                every.append(item)
            if isinstance(item, Case):
                problems += [
                    Problem(str(path), 0, _DECIDING, _UNRECORDED.format(one), item.id)
                    for one in unrecorded_findings(item)
                ]
    except UsageError as error:
        problems.append(Problem(str(path), 0, "", str(error).removeprefix(f"{path}: ")))
    cases = [item for item in every if isinstance(item, Case)]
    return Census(
        path=str(path),
        cases=len(every),
        counts=_counts(cases) if cases else {},
        problems=tuple(problem for problem in problems if not problem.warning),
        warnings=tuple(problem for problem in problems if problem.warning),
        leaks=tuple(leak for case in cases for leak in named_truths(case)),
        story_leaks=tuple(leak for case in cases if not named_truths(case) for leak in _history_leaks(case)),
        related=tuple(
            RelatedWords(case.id, name, hit.words, hit.relation) for case in cases for name, hit in revealed(case)
        ),
        lacks={name: {case.id: what for case in every if (what := lack(case, name))} for name in playable()},
    )


def named_truths(case: Case) -> tuple[NamedTruth, ...]:
    """The open fields that contain a name of the diagnosis as a whole phrase."""
    return _leaks(case, {"opening": case.opening, "complaint": case.complaint})


def truths_shown(case: Case) -> tuple[NamedTruth, ...]:
    """All texts that the doctor may read, at once or when asked for, that name the diagnosis."""
    texts = {
        **{f"imaging[{place}].report": study.report for place, study in enumerate(case.imaging)},
        **{f"investigations[{place}].text": one.text for place, one in enumerate(case.investigations)},
    }
    return (*named_truths(case), *_history_leaks(case), *_leaks(case, texts))


def _leaks(case: Case, texts: Mapping[str, str]) -> tuple[NamedTruth, ...]:
    """The first phrase in each of the texts, by field, that names the diagnosis."""
    named = ((field, opening_contains(case.truth, text)) for field, text in texts.items())
    return tuple(NamedTruth(case.id, field, phrases[0]) for field, phrases in named if phrases)


def _history_leaks(case: Case) -> tuple[NamedTruth, ...]:
    return _leaks(case, {f"history.{name}": text for name, text in case.history.items()})


def lack(case: Playable, scenario: str) -> str:
    """Why `case` cannot be played under `scenario`, in the scenario's own words; empty if it can."""
    rules = load_plugin(SCENARIOS, scenario)
    if not isinstance(case, rules.Item if hasattr(rules, "Item") else Case):
        return (
            "it is a question, not a patient" if isinstance(case, QuestionItem) else "it is a patient, not a question"
        )
    return rules(rules.Settings(), Prompts({})).lacks(case) or ""


def playable() -> list[str]:
    """The installed scenarios that a doctor plays: those of a paper in the order of `papers`, then the others."""
    place = {name: number for number, name in enumerate(OF_SCENARIOS)}
    every = {name: load_plugin(SCENARIOS, name) for name in plugin_names(SCENARIOS)}
    played = [
        name for name, rules in every.items() if "doctor" in rules.seats and not getattr(rules, "RECORDED", False)
    ]
    return sorted(played, key=lambda name: place.get(name, len(place)))


def _counts(cases: Iterable[Case]) -> dict[str, Counter[str]]:
    names = ("group", "body system", "disorder", "rare", "year", "source", "data class")
    counts: dict[str, Counter[str]] = {name: Counter() for name in names}
    for case in cases:
        counts["group"][case.group or "(none)"] += 1
        counts["body system"].update(case.category.body_systems or ("(none)",))
        counts["disorder"].update(case.category.disorders or ("(none)",))
        counts["rare"][{True: "yes", False: "no", None: "not known"}[case.category.rare]] += 1
        counts["year"][str(case.provenance.dated.year) if case.provenance.dated else "(no date)"] += 1
        counts["source"][case.provenance.source] += 1
        counts["data class"][case.data_class] += 1
    return counts


def _sorted(counter: Counter[str]) -> list[tuple[str, int]]:
    """Largest count first, ties by name."""
    return sorted(counter.items(), key=lambda pair: (-pair[1], pair[0]))
