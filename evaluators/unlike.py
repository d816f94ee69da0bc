"""Where two runs differ in something else than the doctor, so that their scores do not measure the same."""

from collections.abc import Iterator, Mapping

import msgspec

from wardround.engine.records import Json
from wardround.evaluators.rows import RunScores

SCORED = "doctor"
"""The seat that is compared: that two runs differ in it is the point."""

_MOST = 5


class Unlike(msgspec.Struct, frozen=True):
    """A field in which two runs differ, and a sentence that says how."""

    first: str
    second: str
    field: str
    text: str

    def __str__(self) -> str:
        """As a line for the terminal."""
        return f"{self.first}, {self.second}: {self.text}"


def unlike(first: RunScores, second: RunScores) -> list[Unlike]:
    """Cases, scenario and its settings, patient, examiner, judge, prompts, limits, version; open episodes too."""
    found = [*_cases(first, second), *_header(first.header, second.header), *_scoring(first, second)]
    for run in (first, second):
        if left := sum(row.cause is None for row in run.episodes):
            found.append(("open", f"not finished: {left} of {len(run.episodes)} episodes of {run.name}"))
    return [Unlike(first.name, second.name, field, text) for field, text in found]


_Found = Iterator[tuple[str, str]]


def _cases(first: RunScores, second: RunScores) -> _Found:
    one, two = ({row.case for row in run.episodes} for run in (first, second))
    if one != two:
        yield (
            "cases",
            f"the cases differ: {len(one & two)} in both, {len(one - two)} only in {first.name}, "
            f"{len(two - one)} only in {second.name}; differences are over those in both",
        )
    indices = [_mapping(run.header, "cases").get("index") for run in (first, second)]
    if one == two and indices[0] != indices[1]:
        yield "cases", "the cases have the same ids, but their texts, or which of them were chosen, differ"


def _header(first: Mapping[str, Json], second: Mapping[str, Json]) -> _Found:
    games = [_mapping(header, "scenario") for header in (first, second)]
    if games[0].get("name") != games[1].get("name"):
        yield "scenario.name", f"other games: {_brief(games[0].get('name'))} and {_brief(games[1].get('name'))}"
    else:
        yield from _fields("scenario", games[0], games[1])
    seats = [
        {name: seat for name, seat in _mapping(header, "seats").items() if name != SCORED} for header in (first, second)
    ]
    for seat in sorted(set(seats[0]) | set(seats[1])):
        if seat in seats[0] and seat in seats[1]:
            yield from _fields(seat, _mapping(seats[0], seat), _mapping(seats[1], seat))
        elif games[0].get("name") == games[1].get("name"):
            yield seat, f"only one of them has a {seat}"
    tables = [_mapping(header, "tables") for header in (first, second)]
    for seat in sorted((set(tables[0]) | set(tables[1])) - {SCORED}):
        if tables[0].get(seat) != tables[1].get(seat):
            yield f"tables.{seat}", f"the table that {seat} looks things up in differs"
    yield from _prompts(_mapping(first, "prompts"), _mapping(second, "prompts"))
    yield from _fields("limits", _mapping(first, "limits"), _mapping(second, "limits"))
    versions = [header.get("wardround") for header in (first, second)]
    if versions[0] != versions[1]:
        yield "wardround", f"wardround {_brief(versions[0])} and {_brief(versions[1])} played them"


def _scoring(first: RunScores, second: RunScores) -> _Found:
    one, two = first.scoring, second.scoring
    for name in sorted(set(one) | set(two)):
        if one.get(name) != two.get(name):
            yield name, f"{name} differs: {_brief(one.get(name))} and {_brief(two.get(name))}"
    yield from _rules(first, second)
    judged = [run.name for run in (first, second) if _judged(run)]
    if len(judged) == 1 and one.get("judge") == two.get("judge"):
        yield "judge", f"the answers of {judged[0]} were judged by a model, those of the other run were not"


def _rules(first: RunScores, second: RunScores) -> _Found:
    """Figures by two versions of an evaluator's rules do not measure the same."""
    one, two = ({each.evaluator: each.version for each in run.scorings if each.shown} for run in (first, second))
    for evaluator in sorted(set(one) & set(two)):
        if one[evaluator] != two[evaluator]:
            older = first if one[evaluator] < two[evaluator] else second
            yield (
                "rules",
                f"{evaluator} scored them by versions {one[evaluator]} and {two[evaluator]} of its rules: "
                f"score {older.name} again",
            )


def _judged(run: RunScores) -> bool:
    """A judge leaves the lexical verdict beside its own."""
    return any(score.name == "lexical_match" for row in run.episodes for score in row.scores)


def _prompts(first: Mapping[str, Json], second: Mapping[str, Json]) -> _Found:
    names = sorted(name for name in set(first) | set(second) if first.get(name) != second.get(name))
    if names:
        more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
        yield "prompts", f"prompts differ: {', '.join(names[:_MOST])}{more}"


def _fields(where: str, first: Mapping[str, Json], second: Mapping[str, Json]) -> _Found:
    """One warning for each leaf that differs."""
    for name in sorted(set(first) | set(second)):
        one, two = first.get(name), second.get(name)
        if isinstance(one, Mapping) and isinstance(two, Mapping):
            yield from _fields(f"{where}.{name}", one, two)
        elif one != two:
            yield f"{where}.{name}", f"{where}.{name} differs: {_brief(one)} and {_brief(two)}"


def _mapping(fields: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    value = fields.get(name)
    return value if isinstance(value, Mapping) else {}


def _brief(value: Json) -> str:
    if value is None or value == "":
        return "none"
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text if len(text) <= 60 else f"{text[:57]}..."
