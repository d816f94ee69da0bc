"""Selects cases of a file by field, stratified sample or number, in the order of the file."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TypeVar

import msgspec

from wardround.engine.errors import UsageError
from wardround.engine.seat import seed_of
from wardround.scenarios.loaders.load import scan
from wardround.scenarios.loaders.source import Playable, Problem
from wardround.scenarios.question_item import QuestionItem

FIELDS: dict[str, Callable[[Playable], tuple[str, ...]]] = {
    "id": lambda case: (case.id,),
    "group": lambda case: (case.group,),
    "body_system": lambda case: case.category.body_systems,
    "disorder": lambda case: case.category.disorders,
    "rare": lambda case: ({True: "yes", False: "no", None: ""}[case.category.rare],),
    "year": lambda case: (str(case.provenance.dated.year) if case.provenance.dated else "",),
    "source": lambda case: (case.provenance.source,),
    "data_class": lambda case: (case.data_class,),
    "form": lambda case: (case.form,) if isinstance(case, QuestionItem) else (),
    "level": lambda case: (case.level,) if isinstance(case, QuestionItem) else (),
    "language": lambda case: (case.language,) if isinstance(case, QuestionItem) else (),
}
"""The fields that `--where` accepts, and the values that a case has for each."""

_YES_OR_NO = {"true": "yes", "false": "no", "1": "yes", "0": "no"}


class Where(msgspec.Struct, frozen=True):
    """One condition: `field` has, or has not, a value like `pattern` (* and ? are wildcards, case is ignored).

    ::

        where("rare!=yes")  # Where(field='rare', pattern='yes', negated=True)
    """

    field: str
    pattern: str
    negated: bool = False

    def holds(self, case: Playable) -> bool:
        """Whether `case` meets the condition; one of several values (body systems) is enough."""
        return self.negated != any(fnmatchcase(value.casefold(), self.pattern) for value in FIELDS[self.field](case))


def where(text: str) -> Where:
    """Read 'group=Asthma', 'rare!=yes' or 'id=PMC114*'; raises UsageError that names the fields."""
    match = re.fullmatch(r"\s*([A-Za-z_. ]+?)\s*(!=|=)\s*(.*?)\s*", text, re.DOTALL)
    if match is None:
        raise UsageError(f"--where {text!r}: write FIELD=VALUE or FIELD!=VALUE; fields: {', '.join(FIELDS)}")
    name = match[1].lower().replace(" ", "_").removeprefix("category.").removeprefix("provenance.")
    name = name.removesuffix("s") if name.removesuffix("s") in FIELDS else name
    if name not in FIELDS:
        raise UsageError(f"--where {text!r}: there is no field {match[1]!r}; fields: {', '.join(FIELDS)}")
    pattern = match[3].casefold()
    if name == "rare":
        pattern = _YES_OR_NO.get(pattern, pattern)
    return Where(name, re.sub(r"\[", "[[]", pattern), match[2] == "!=")


PlayableT = TypeVar("PlayableT", bound=Playable)


def select_cases(
    cases: Iterable[PlayableT],
    conditions: Sequence[str] = (),
    *,
    sample: float | None = None,
    seed: int = 0,
    limit: int | None = None,
) -> list[PlayableT]:
    """Keep the cases that meet all `conditions`, of these a share `sample`, and of those the first `limit`.

    The order of the file is kept. Several conditions on the same field with `=` are alternatives; all others must hold
    together. Raises UsageError for a wrong argument, and if no case is left.
    """
    if sample is not None and not 0 < sample <= 1:
        raise UsageError(f"--sample {sample}: must be a share above 0 and up to 1, for instance 0.1")
    if limit is not None and limit < 1:
        raise UsageError(f"--limit {limit}: must be 1 or more")
    tests = [where(text) for text in conditions]
    everything = list(cases)
    chosen = [case for case in everything if _meets(case, tests)]
    if everything and not chosen:
        raise UsageError(f"no case meets --where {' --where '.join(conditions)}; {_values_there(everything, tests)}")
    if sample is not None:
        chosen = _sampled(chosen, sample, seed)
    return chosen[:limit]


def _meets(case: Playable, tests: Sequence[Where]) -> bool:
    alternatives: dict[str, bool] = {}
    for test in tests:
        met = test.holds(case)
        if test.negated and not met:
            return False
        if not test.negated:
            alternatives[test.field] = alternatives.get(test.field, False) or met
    return all(alternatives.values())


def _values_there(cases: Sequence[Playable], tests: Sequence[Where]) -> str:
    said = []
    for name in dict.fromkeys(test.field for test in tests):
        values = sorted({value or "(none)" for case in cases for value in FIELDS[name](case)})
        more = f" and {len(values) - 8} more" if len(values) > 8 else ""
        said.append(f"values of {name}: {', '.join(values[:8])}{more}")
    return "; ".join(said)


def _sampled(cases: Sequence[PlayableT], share: float, seed: int) -> list[PlayableT]:
    """Sample round(share x cases), at least one, in proportion to the groups by largest remainder.

    The choice depends on the seed and the ids of the cases, not on the order of the file.
    """
    groups: dict[str, list[PlayableT]] = defaultdict(list)
    for case in cases:
        groups[case.group].append(case)
    wanted = max(1, round(share * len(cases))) if cases else 0
    quota = {name: int(share * len(members)) for name, members in groups.items()}
    left = sorted(groups, key=lambda name: (quota[name] - share * len(groups[name]), seed_of(seed, "group", name)))
    for name in left[: max(0, wanted - sum(quota.values()))]:
        quota[name] += 1
    taken = {
        case.id
        for name, members in groups.items()
        for case in sorted(members, key=lambda case: seed_of(seed, "case", case.id))[: quota[name]]
    }
    return [case for case in cases if case.id in taken]


def patients(cases: Callable[[], Iterator[Playable]], paths: Iterable[Path]) -> Iterator[Playable]:
    """The cases of some files for a scenario of patients; faulty questions are called questions, not by their faults.

    Raises UsageError as `cases` does.
    """
    try:
        yield from cases()
    except UsageError as error:
        for path in filter(_holds_questions, paths):
            why = "it holds questions, not patients: play it with --scenario questions"
            raise UsageError(f"{path}: {why}, which counts the records that cannot be read") from error
        raise


def _holds_questions(path: Path) -> bool:
    """Whether the first record that can be read is a question; False if the file has no known format."""
    try:
        readable = (item for item in scan(path, parts=False) if not isinstance(item, Problem))
        return isinstance(next(readable, None), QuestionItem)
    except (UsageError, OSError):
        return False
