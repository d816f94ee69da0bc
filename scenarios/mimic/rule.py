"""A rule of the build: a named step that drops admissions or changes them, can be switched off, and is counted."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from wardround.engine.errors import UsageError
from wardround.engine.records import Json
from wardround.engine.seat import seed_of
from wardround.scenarios.mimic.draft import Draft, Stage


@dataclass(frozen=True, slots=True)
class Entry:
    """A finished case waiting to be chosen: its disease, its admission, where its line stands among the drafts."""

    disease: str
    hadm: int
    start: int
    size: int


@dataclass(frozen=True, slots=True)
class Rule:
    """`apply` gives the admission as it goes on, changed or not, or None where it is dropped.

    A rule of the stage `pool` has `choose` in its place, which sees all finished cases at once.
    """

    name: str
    what: str
    stage: Stage
    apply: Callable[[Draft], Draft | None] | None = None
    choose: Callable[[Sequence[Entry]], Sequence[Entry]] | None = None


@dataclass(slots=True)
class Step:
    """What a rule did: `seen` admissions, of which it dropped or changed some."""

    rule: Rule
    seen: int = 0
    dropped: int = 0
    changed: int = 0

    def json(self) -> dict[str, Json]:
        """The step for machines."""
        return {
            "rule": self.rule.name,
            "what": self.rule.what,
            "in": self.seen,
            "dropped": self.dropped,
            "changed": self.changed,
            "out": self.seen - self.dropped,
        }


class Steps:
    """The rules of a build in their order, with what each did."""

    def __init__(self, rules: Iterable[Rule], without: Iterable[str] = ()) -> None:
        known = list(rules)
        off = set(without)
        if unknown := sorted(off - {rule.name for rule in known}):
            names = ", ".join(dict.fromkeys(rule.name for rule in known))
            raise UsageError(f"--without {unknown[0]}: there is no such rule here; the rules are: {names}")
        self.all = [Step(rule) for rule in known if rule.name not in off]

    def go(self, draft: Draft, stage: Stage) -> Draft | None:
        """`draft` after all rules of a stage, None where one drops it."""
        for step in self.all:
            if step.rule.stage != stage or step.rule.apply is None:
                continue
            step.seen += 1
            after = step.rule.apply(draft)
            if after is None:
                step.dropped += 1
                return None
            step.changed += after is not draft and stage == "record"
            draft = after
        return draft

    def lost(self, number: int) -> None:
        """Count `number` admissions as dropped by the first rule: they have nothing that any rule could read."""
        if self.all and number:
            self.all[0].seen += number
            self.all[0].dropped += number

    def chosen(self, entries: Sequence[Entry]) -> Sequence[Entry]:
        """The finished cases that the rules of the last stage leave."""
        for step in self.all:
            if step.rule.choose is not None:
                step.seen = len(entries)
                entries = step.rule.choose(entries)
                step.dropped = step.seen - len(entries)
        return entries


def size_rule(at_least: int) -> Rule:
    """Diseases with too few admissions are left out."""

    def choose(entries: Sequence[Entry]) -> Sequence[Entry]:
        groups = _groups(entries)
        return [entry for entry in entries if len(groups[entry.disease]) >= at_least]

    return Rule("size", f"the disease has at least {at_least} admissions", "pool", choose=choose)


def sample_rule(most: int, seed: int) -> Rule:
    """At most so many admissions of a disease; which ones depends on the seed and their numbers alone."""

    def choose(entries: Sequence[Entry]) -> Sequence[Entry]:
        taken = {
            entry.hadm
            for members in _groups(entries).values()
            for entry in sorted(members, key=lambda entry: seed_of(seed, "mimic", str(entry.hadm)))[:most]
        }
        return [entry for entry in entries if entry.hadm in taken]

    return Rule("sample", f"at most {most} admissions of a disease, drawn with seed {seed}", "pool", choose=choose)


def limit_rule(most: int, seed: int) -> Rule:
    """At most so many cases in all."""

    def choose(entries: Sequence[Entry]) -> Sequence[Entry]:
        drawn = sorted(entries, key=lambda entry: seed_of(seed, "limit", str(entry.hadm)))[:most]
        return [entry for entry in entries if entry in set(drawn)]

    return Rule("limit", f"at most {most} cases in all, drawn with seed {seed}", "pool", choose=choose)


def _groups(entries: Sequence[Entry]) -> dict[str, list[Entry]]:
    found: dict[str, list[Entry]] = {}
    for entry in entries:
        found.setdefault(entry.disease, []).append(entry)
    return found
