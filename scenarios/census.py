"""What a file of cases holds: counts by stratum, every problem, cases that give their truth away, what each lacks."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from wardround.engine.errors import UsageError
from wardround.engine.records import Json
from wardround.scenarios.case import Case
from wardround.scenarios.loaders.detect import scan
from wardround.scenarios.loaders.problem import Problem
from wardround.scenarios.records import items

SCENARIOS = ("workup", "one-turn", "free-turn", "oracle", "treatment", "consultation")


@dataclass(frozen=True, slots=True)
class Census:
    """A file of cases counted. Counters map a value to its number of cases; a case may count in several.

    `leaks` are (case, field, phrase): an open field that names the truth. `lacks` maps a scenario to the cases that
    cannot be played or scored under it, with the field that is missing.
    """

    path: str
    cases: int = 0
    counts: Mapping[str, Counter[str]] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    leaks: tuple[tuple[str, str, str], ...] = ()
    lacks: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def json(self) -> Json:
        """The census for machines: JSON with stable keys."""
        return {
            "path": self.path,
            "cases": self.cases,
            "counts": {name: dict(_sorted(counter)) for name, counter in self.counts.items()},
            "problems": [
                {"path": p.path, "line": p.line, "case": p.case, "field": p.field, "message": p.message}
                for p in self.problems
            ],
            "leaks": [{"case": case, "field": name, "phrase": phrase} for case, name, phrase in self.leaks],
            "playable": {name: self.cases - len(self.lacks.get(name, {})) for name in SCENARIOS},
            "lacks": {name: dict(missing) for name, missing in self.lacks.items() if missing},
        }

    def text(self, most: int = 12) -> str:
        """The census for people; each stratum shows its `most` largest values, problems and leaks are all listed."""
        said = [f"{self.path}: {self.cases} cases, {len(self.problems)} problems"]
        for name, counter in self.counts.items():
            shown = [f"{value} {count}" for value, count in _sorted(counter)[:most]]
            if len(counter) > most:
                shown.append(f"and {len(counter) - most} more")
            said.append(f"  {name} ({len(counter)}): {', '.join(shown)}")
        said.append("can be played and scored under:")
        for name in SCENARIOS:
            missing = self.lacks.get(name, {})
            why = "; ".join(f"{count} lack {what}" for what, count in _sorted(Counter(missing.values())))
            said.append(f"  {name}: {self.cases - len(missing)} of {self.cases}" + (f" ({why})" if why else ""))
        if self.leaks:
            said.append(f"an open field names the truth in {len({case for case, _, _ in self.leaks})} cases:")
            said += [f"  {case}, field {name}: {phrase!r}" for case, name, phrase in self.leaks]
        if self.problems:
            said.append("problems:")
            said += [f"  {problem}" for problem in self.problems]
        return "\n".join(said)


def census(path: Path | str) -> Census:
    """Count the file at `path`; a file that cannot be read at all is a census of one problem."""
    cases: list[Case] = []
    problems: list[Problem] = []
    try:
        for item in scan(path):
            if isinstance(item, Problem):
                problems.append(item)
            else:
                cases.append(item)
    except UsageError as error:
        problems.append(Problem(str(path), 0, "", str(error).removeprefix(f"{path}: ")))
    return Census(
        path=str(path),
        cases=len(cases),
        counts=_counts(cases) if cases else {},
        problems=tuple(problems),
        leaks=tuple(leak for case in cases for leak in leaks(case)),
        lacks={name: {case.id: what for case in cases if (what := lack(case, name))} for name in SCENARIOS},
    )


def leaks(case: Case) -> tuple[tuple[str, str, str], ...]:
    """(case, field, phrase) for each open field that holds a name of the diagnosis as a whole phrase.

    Case and punctuation are passed over; a name of one capitalised word of up to four letters ('MS') must stand so.
    """
    found = []
    for name in ("opening", "complaint"):
        text = getattr(case, name)
        for phrase in dict.fromkeys((case.truth.diagnosis, *case.truth.synonyms)):
            if _holds(text, phrase):
                found.append((case.id, name, phrase))
                break
    return tuple(found)


def lack(case: Case, scenario: str) -> str:
    """The field that `case` is missing for `scenario`; empty if none. Raises UsageError on an unknown scenario."""
    if scenario not in SCENARIOS:
        raise UsageError(f"unknown scenario {scenario!r}; there are: {', '.join(SCENARIOS)}")
    if scenario == "treatment":
        return "" if case.truth.treatment else "truth.treatment"
    if not case.truth.diagnosis:
        return "truth.diagnosis"
    if scenario == "consultation" and not case.history:
        return "history"
    if scenario in ("one-turn", "free-turn") and not case.ancillary and not items(case):
        return "ancillary"
    if scenario == "workup" and not items(case):
        return "results (examination, labs, microbiology, imaging or investigations)"
    return ""


def _holds(text: str, phrase: str) -> bool:
    if re.fullmatch(r"[A-Z][A-Za-z0-9-]{0,3}", phrase) and not phrase.islower():
        return re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", text) is not None
    wanted = _plain(phrase)
    return bool(wanted.strip()) and wanted in _plain(text)


def _plain(text: str) -> str:
    words = " ".join(re.findall(r"[^\W_]+", text.casefold()))
    return f" {words} "


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
    """Largest first, equals by name."""
    return sorted(counter.items(), key=lambda pair: (-pair[1], pair[0]))
