"""Every rule of a build: what it keeps out or changes, and that without it that comes in."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from examples import sampled

from benchmarks.mimic_tree import RARE, MimicTree
from wardround.builds import build_mimic
from wardround.engine.errors import UsageError
from wardround.scenarios.case import Case
from wardround.scenarios.loaders.load import load
from wardround.scenarios.mimic.build_account import MimicAccount
from wardround.scenarios.mimic.mimic_files import MimicOptions


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> MimicTree:
    return MimicTree(tmp_path_factory.mktemp("full"), 68, rare=2)


@pytest.fixture(scope="module")
def hosp(tmp_path_factory: pytest.TempPathFactory) -> MimicTree:
    return MimicTree(tmp_path_factory.mktemp("hosp"), 68, rare=2, notes=False)


class Builds:
    """Builds of the trees, each made once: most rules are tried against the same one."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self._made: dict[str, tuple[list[Case], MimicAccount]] = {}

    def __call__(self, tree: MimicTree, **options: Any) -> tuple[list[Case], MimicAccount]:
        known = f"{tree.root} {sorted(options.items())}"
        if known not in self._made:
            self._made[known] = built(tree, self._out, **options)
        return self._made[known]


@pytest.fixture(scope="module")
def builds(tmp_path_factory: pytest.TempPathFactory) -> Builds:
    return Builds(tmp_path_factory.mktemp("built"))


def built(tree: MimicTree, out: Path, **options: Any) -> tuple[list[Case], MimicAccount]:
    given = {"min_per_disease": 1, **options}
    flow = build_mimic(MimicOptions(mimic=tree.root, **given), out / "cases.jsonl")
    return list(load(out / "cases.jsonl")) if flow.cases else [], flow


def hadms(cases: Sequence[Case]) -> set[int]:
    return {int(case.id.removeprefix("mimic-")) for case in cases}


def none_of(*kinds: str) -> Callable[[list[Case], MimicTree], bool]:
    return lambda cases, tree: not hadms(cases) & {one.hadm for one in tree.of(*kinds)}


def all_of(*kinds: str) -> Callable[[list[Case], MimicTree], bool]:
    return lambda cases, tree: {one.hadm for one in tree.of(*kinds)} <= hadms(cases)


def unsaid(*words: str) -> Callable[[list[Case], MimicTree], bool]:
    return lambda cases, tree: not any(word in case.model_dump_json() for case in cases for word in words)


def at_most(number: int) -> Callable[[list[Case], MimicTree], bool]:
    def holds(cases: list[Case], tree: MimicTree) -> bool:
        groups = [case.group for case in cases]
        return max(map(groups.count, groups)) <= number

    return holds


def once(cases: list[Case], tree: MimicTree) -> bool:
    return all(len({lab.item_id for lab in case.labs}) == len(case.labs) for case in cases)


def no_label_in_what_was_seen(cases: list[Case], tree: MimicTree) -> bool:
    def seen(case: Case) -> str:
        parts = [part.text for part in case.examination] + [study.report for study in case.imaging]
        return " ".join([*parts, *(culture.comment for culture in case.microbiology)]).lower()

    planned = {one.hadm: (one.disease.name, one.disease.other) for one in tree.planned}
    names = {case.id: planned[int(case.id.removeprefix("mimic-"))] for case in cases}
    return not any(name.lower() in seen(case) for case in cases for name in names[case.id])


def blanked(cases: list[Case], tree: MimicTree) -> bool:
    reports = [(case.truth.diagnosis.lower(), study.report.lower()) for case in cases for study in case.imaging]
    return not any(name in report for name, report in reports)


@dataclass(frozen=True)
class Tried:
    """A rule, what holds with it and not without it, and the settings under which that shows."""

    rule: str
    holds: Callable[[list[Case], MimicTree], bool]
    options: dict[str, Any]


def tried(rule: str, holds: Callable[[list[Case], MimicTree], bool], **options: Any) -> Any:
    name = "-".join(filter(None, (options.get("rules", ""), "" if options.pop("notes", True) else "hosp", rule)))
    slow = pytest.mark.records if options.get("rules") else ()
    return pytest.param(Tried(rule, holds, options), id=name, marks=slow)


WITH_NOTES = [
    tried("coded", none_of("other_code"), without=("label_first",)),
    tried("note", none_of("no_note"), without=("history", "label_first")),
    tried("history", none_of("no_history")),
    tried("label_first", none_of("second")),
    tried("one_disease", none_of("several")),
    tried("nearby", all_of("near")),
    tried("cancelled", unsaid("CANCELLED")),
    tried("first_results", once, series=False),
    tried("informative", unsaid("IMPRESSION", "INDICATION", "COMPARISON")),
    tried("age", unsaid("___ year old")),
    tried("history_leak", none_of("named", "synonym")),
    tried("relations", unsaid("appendectomy")),
    tried("leaks", no_label_in_what_was_seen),
    tried("results", none_of("no_results")),
    tried("size", unsaid(f'"group":"{RARE.name}"'), min_per_disease=3),
    tried("sample", at_most(2), per_disease=2),
    tried("limit", lambda cases, _: len(cases) == 4, limit=4),
    tried("coded", none_of("other_code"), rules="published", without=("label_first",)),
    tried("note", none_of("no_note"), rules="published", without=("history", "label_first", "history_leak")),
    tried("history", none_of("no_history"), rules="published", without=("history_leak",)),
    tried("label_first", none_of("second"), rules="published"),
    tried("one_disease", none_of("several"), rules="published"),
    tried("nearby", lambda cases, tree: all(case.labs for case in cases if hadms([case]) & _hadms(tree, "near")),
          rules="published"),
    tried("cancelled", unsaid("CANCELLED"), rules="published"),
    tried("first_results", once, rules="published"),
    tried("informative", unsaid("IMPRESSION", "INDICATION"), rules="published"),
    tried("history_leak", none_of("named"), rules="published"),
    tried("leaks", blanked, rules="published"),
    tried("size", unsaid(f'"group":"{RARE.name}"'), rules="published", min_per_disease=3),
    tried("sample", at_most(3), rules="published", per_disease=3),
]  # fmt: skip
WITHOUT_NOTES = [
    tried("coded", none_of("other_code"), notes=False, without=("label_first", "one_disease")),
    tried("label_first", none_of("second"), notes=False),
    tried("one_disease", none_of("several"), notes=False),
    tried("nearby", all_of("near"), notes=False),
    tried("cancelled", unsaid("CANCELLED"), notes=False),
    tried("first_results", once, notes=False, series=False),
    tried("leaks", no_label_in_what_was_seen, notes=False),
    tried("results", none_of("no_results"), notes=False),
    tried("size", unsaid(RARE.icd10[1], RARE.icd9[1]), notes=False, min_per_disease=3),
    tried("sample", at_most(3), notes=False, per_disease=3),
]


def _hadms(tree: MimicTree, *kinds: str) -> set[int]:
    return {one.hadm for one in tree.of(*kinds)}


@pytest.mark.long
@pytest.mark.parametrize("case", WITH_NOTES)
def test_a_rule_holds_and_without_it_does_not(case: Tried, full: MimicTree, builds: Builds) -> None:
    _hold(case, full, builds)


@pytest.mark.long
@pytest.mark.parametrize("case", WITHOUT_NOTES)
def test_a_rule_on_coded_fields_holds_and_without_it_does_not(case: Tried, hosp: MimicTree, builds: Builds) -> None:
    _hold(case, hosp, builds)


def _hold(tried: Tried, tree: MimicTree, builds: Builds) -> None:
    off = tried.options.get("without", ())
    cases, flow = builds(tree, **{**tried.options, "without": off})
    without, _ = builds(tree, **{**tried.options, "without": (*off, tried.rule)})
    assert cases
    assert tried.holds(cases, tree)
    assert not tried.holds(without, tree)
    assert tried.rule in {step.rule for step in flow.steps.all}


@pytest.mark.long
def test_a_list_of_admissions_and_a_disease_limit_the_build(full: MimicTree, tmp_path: Path) -> None:
    plain = sorted(one.hadm for one in full.of("plain"))[:3]
    (tmp_path / "ids.csv").write_text("subject_id,hadm_id\n" + "".join(f"1,{hadm}\n" for hadm in (*plain, 999)))
    cases, flow = built(full, tmp_path, admissions=tmp_path / "ids.csv", min_per_disease=None)
    assert hadms(cases) == set(plain)
    assert flow.absent == (999,)
    assert "999" in flow.text()
    some, _ = built(full, tmp_path, diseases=("shingles",))
    assert {case.group for case in some} == {"Herpes zoster"}


@pytest.mark.parametrize(
    ("options", "said"),
    [({"diseases": ("Appendicits",)}, "near it: appendicitis"), ({"diseases": ("Gout",), "pool": "all"}, "--pool all")],
)
def test_a_disease_that_the_pool_lacks_is_refused(
    options: dict[str, Any], said: str, full: MimicTree, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=said):
        built(full, tmp_path, **options)


@pytest.mark.parametrize(
    ("text", "said"), [("12\nx3\n", "line 2: 'x3' is no hadm_id"), ("hadm_id\n", "names no admission")]
)
def test_a_list_that_is_none_is_refused(text: str, said: str, full: MimicTree, tmp_path: Path) -> None:
    (tmp_path / "ids.txt").write_text(text)
    with pytest.raises(UsageError, match=said):
        built(full, tmp_path, admissions=tmp_path / "ids.txt")


@sampled(3)
def test_all_rules_are_tried(full: MimicTree, hosp: MimicTree, tmp_path: Path, every: int) -> None:
    known = {param.values[0].rule for param in (*WITH_NOTES, *WITHOUT_NOTES)}
    pairs = [(full, "default"), (full, "published"), (hosp, "default"), (hosp, "published")]
    for tree, rules in pairs[::every]:
        _, flow = built(tree, tmp_path, rules=rules, limit=3, series=False)
        assert {step.rule for step in flow.steps.all} <= known | {"draw"}


@pytest.mark.long
@pytest.mark.parametrize("most", [1, pytest.param(2, marks=pytest.mark.long)])
def test_the_draw_leaves_results_unread_and_changes_no_case(most: int, full: MimicTree, tmp_path: Path) -> None:
    _, flow = built(full, tmp_path, per_disease=most)
    drawn = (tmp_path / "cases.jsonl").read_bytes()
    _, whole = built(full, tmp_path, per_disease=most, without=("draw",))
    assert drawn == (tmp_path / "cases.jsonl").read_bytes()
    by_rule = {step.rule: step for step in flow.steps.all}
    assert by_rule["draw"].dropped > 0
    assert by_rule["results"].seen < {step.rule: step for step in whole.steps.all}["results"].seen


def test_each_step_starts_with_what_the_one_before_left(full: MimicTree, tmp_path: Path) -> None:
    cases, flow = built(full, tmp_path)
    steps = flow.steps.all
    assert steps[0].seen == flow.admissions == len(full.planned)
    for before, after in pairwise(steps):
        assert after.seen == before.seen - before.dropped
    assert steps[-1].seen - steps[-1].dropped == len(cases) == flow.cases
    dropped = {step.rule: step.dropped for step in steps}
    counts = {kind: len(full.of(kind)) for kind in ("other_code", "no_note", "no_history", "second", "several")}
    told = {rule: dropped[rule] for rule in ("coded", "note", "history", "label_first", "one_disease")}
    assert list(told.values()) == list(counts.values())


def test_a_rule_that_is_none_is_refused(full: MimicTree, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no such rule here; the rules are: coded, note"):
        built(full, tmp_path, without=("colour",))


@pytest.mark.long
def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(full: MimicTree, tmp_path: Path) -> None:
    def lines(seed: int) -> bytes:
        built(full, tmp_path, per_disease=3, seed=seed)
        return (tmp_path / "cases.jsonl").read_bytes()

    assert lines(1) == lines(1)
    assert lines(1) != lines(2)


@pytest.mark.parametrize("rules", ["default", "published"])
def test_the_least_number_of_a_disease_is_that_of_the_rule_set(rules: str) -> None:
    assert MimicOptions(mimic=Path(), rules=rules).at_least == {"default": 11, "published": 10}[rules]  # type: ignore[arg-type]
