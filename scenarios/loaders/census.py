"""Summarises a file of cases: counts by stratum, faults, leaked truths, and what each scenario lacks."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

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
_STRAY = "{!r} stands nowhere in the record: write it as the record does"


@dataclass(frozen=True, slots=True)
class Census:
    """A summary of a file of cases. Counters map a value to its number of cases; a case may count in several.

    `leaks` are (case, field, phrase) for open fields that name the truth, `story_leaks` those of the history in other
    cases. `lacks` maps a scenario to the cases that it cannot play or score, with the missing field. `related` are
    (case, field, words, relation) that give the truth away without its name, such as its operation or drug. `warnings`
    are oddities of cases that can still be played.
    """

    path: str
    cases: int = 0
    counts: Mapping[str, Counter[str]] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()
    leaks: tuple[tuple[str, str, str], ...] = ()
    story_leaks: tuple[tuple[str, str, str], ...] = ()
    related: tuple[tuple[str, str, str, str], ...] = ()
    lacks: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def json(self) -> Json:
        """The census as JSON with stable keys."""
        return {
            "path": self.path,
            "cases": self.cases,
            "counts": {name: dict(_sorted(counter)) for name, counter in self.counts.items()},
            "problems": [_json(problem) for problem in self.problems],
            "warnings": [_json(warning) for warning in self.warnings],
            "leaks": [{"case": case, "field": name, "phrase": phrase} for case, name, phrase in self.leaks],
            "story_leaks": [{"case": case, "field": name, "phrase": phrase} for case, name, phrase in self.story_leaks],
            "related": [
                {"case": case, "field": name, "phrase": words, "relation": relation}
                for case, name, words, relation in self.related
            ],
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
        if self.leaks:
            said.append(
                f"an open field names the truth in {count_noun(len({leak[0] for leak in self.leaks}), 'case')}:"
            )
            said += [f"  {case}, field {name}: {phrase!r}" for case, name, phrase in self.leaks]
        if self.story_leaks:
            cases = count_noun(len({one[0] for one in self.story_leaks}), "case")
            said.append(f"the patient's story names the truth in {cases}:")
            said += [f"  {case}, field {name}: {phrase!r}" for case, name, phrase in self.story_leaks]
        if self.related:
            cases = count_noun(len({one[0] for one in self.related}), "case")
            said.append(f"a word gives the truth away without naming it in {cases}:")
            said += [f"  {case}, field {name}: {words!r} ({what})" for case, name, words, what in self.related]
        if self.warnings:
            said.append("odd, and played all the same:")
            said += [f"  {warning}" for warning in self.warnings]
        if self.problems:
            said.append("problems:")
            said += [f"  {problem}" for problem in self.problems]
        return "\n".join(said)

    def _playable(self, name: str) -> str:
        """How many cases a scenario can play, and what excludes the others."""
        missing = self.lacks[name]
        why = "; ".join(f"{count} cannot: {what}" for what, count in _sorted(Counter(missing.values())))
        return f"{name}: {self.cases - len(missing)} of {self.cases}" + (f" ({why})" if why else "")


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
                    Problem(str(path), 0, _DECIDING, _STRAY.format(one), item.id) for one in unrecorded_findings(item)
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
        related=tuple((case.id, name, hit.words, hit.relation) for case in cases for name, hit in revealed(case)),
        lacks={name: {case.id: what for case in every if (what := lack(case, name))} for name in playable()},
    )


def named_truths(case: Case) -> tuple[tuple[str, str, str], ...]:
    """(case, field, phrase) for each open field that contains a name of the diagnosis as a whole phrase."""
    named = []
    for name, text in (("opening", case.opening), ("complaint", case.complaint)):
        for phrase in opening_contains(case.truth, text)[:1]:
            named.append((case.id, name, phrase))
    return tuple(named)


def _history_leaks(case: Case) -> Iterator[tuple[str, str, str]]:
    """(case, field, phrase) for each part of the history that contains a name of the diagnosis."""
    for name, text in case.history.items():
        for phrase in opening_contains(case.truth, text)[:1]:
            yield case.id, f"history.{name}", phrase


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
