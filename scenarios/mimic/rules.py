"""The default rules of a build, which select and change admissions; each has a name and is counted.

Rules see a draft at the stages 'codes', 'note' and 'record', and all finished cases at the stage 'pool'.
`published_rules` has the rules of the published code.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from wardround.engine.errors import UsageError
from wardround.engine.seat import seed_of
from wardround.engine.text import count_noun
from wardround.scenarios.build_steps import BuildStep
from wardround.scenarios.case import Culture, Lab
from wardround.scenarios.diseases.giveaway import about_others, about_the_past, giveaways
from wardround.scenarios.diseases.same_disease import same_disease
from wardround.scenarios.mimic import case_draft, record_items
from wardround.scenarios.mimic.case_draft import AdmissionDraft, AdmissionResults, Leaks, Stage, leaks_of
from wardround.scenarios.mimic.headings import MARK
from wardround.scenarios.mimic.note import Phrases, first_item
from wardround.scenarios.mimic.pool import DiseasePool, PoolDisease

ResultKind = Literal["laboratory", "microbiology"]
"""A kind of results that a case without notes needs."""


@dataclass(frozen=True, slots=True)
class FinishedCase:
    """A finished case before the last choice: its disease, its admission, and its place in the file of drafts."""

    disease: str
    hadm: int
    start: int
    size: int


@dataclass(frozen=True, slots=True)
class BuildRule:
    """A rule of a build, with its name, what it demands in words, and its stage.

    `apply` returns the admission, changed or not, or None to drop it. A rule of the stage 'pool' has `choose` instead,
    which takes all finished cases at once and returns those to keep. The rule of the draw has neither: the build itself
    carries it out.
    """

    name: str
    what: str
    stage: Stage
    apply: Callable[[AdmissionDraft], AdmissionDraft | None] | None = None
    choose: Callable[[Sequence[FinishedCase]], Sequence[FinishedCase]] | None = None


class RuleSteps:
    """The rules of a build in their order, with the effect of each; raises UsageError if `without` names no rule."""

    def __init__(self, rules: Iterable[BuildRule], without: Iterable[str] = ()) -> None:
        known = list(rules)
        off = set(without)
        if unknown := sorted(off - {rule.name for rule in known}):
            names = ", ".join(dict.fromkeys(rule.name for rule in known))
            raise UsageError(f"--without {unknown[0]}: there is no such rule here; the rules are: {names}")
        self._rules = [rule for rule in known if rule.name not in off]
        self.all = [BuildStep(rule.name, rule.what) for rule in self._rules]

    def apply(self, draft: AdmissionDraft, stage: Stage) -> AdmissionDraft | None:
        """`draft` after all rules of a stage; None if one of them drops it."""
        for rule, step in zip(self._rules, self.all, strict=True):
            if rule.stage != stage or rule.apply is None:
                continue
            step.seen += 1
            after = rule.apply(draft)
            if after is None:
                step.drop()
                return None
            step.changed += after is not draft and stage == "record"
            draft = after
        return draft

    def count_lost(self, number: int) -> None:
        """Count `number` admissions without any code as dropped by the first rule."""
        if self.all and number:
            self.all[0].seen += number
            self.all[0].dropped += number

    def has(self, name: str) -> bool:
        """Whether the build has a rule of this name."""
        return any(rule.name == name for rule in self._rules)

    def set_effect(self, name: str, seen: int, dropped: int) -> None:
        """Set the counts of a rule that the build itself carries out."""
        step = next(step for step in self.all if step.rule == name)
        step.seen, step.dropped = seen, dropped

    def chosen(self, entries: Sequence[FinishedCase]) -> Sequence[FinishedCase]:
        """The finished cases that pass the rules of the last stage."""
        for rule, step in zip(self._rules, self.all, strict=True):
            if rule.choose is not None:
                step.seen = len(entries)
                entries = rule.choose(entries)
                step.dropped = step.seen - len(entries)
        return entries


def size_rule(at_least: int) -> BuildRule:
    """Leave out diseases with too few admissions."""

    def choose(entries: Sequence[FinishedCase]) -> Sequence[FinishedCase]:
        groups = _groups(entries)
        return [entry for entry in entries if len(groups[entry.disease]) >= at_least]

    return BuildRule("size", f"the disease has at least {at_least} admissions", "pool", choose=choose)


def draw_order(seed: int, hadm: int) -> int:
    """A number by which the draw orders admissions; it depends only on the seed and the admission's number."""
    return seed_of(seed, "mimic", str(hadm))


def draw_rule(enough: int) -> BuildRule:
    """Leave an admission's results unread if its disease already has enough cases, from earlier ones in the draw."""
    what = f"the results are read in the order of the draw, until the disease has {count_noun(enough, 'case')}"
    return BuildRule(DRAW, what, "pool")


def sample_rule(most: int, seed: int) -> BuildRule:
    """Keep at most `most` admissions of a disease; the choice depends only on the seed and their numbers."""

    def choose(entries: Sequence[FinishedCase]) -> Sequence[FinishedCase]:
        taken = {
            entry.hadm
            for members in _groups(entries).values()
            for entry in sorted(members, key=lambda entry: draw_order(seed, entry.hadm))[:most]
        }
        return [entry for entry in entries if entry.hadm in taken]

    return BuildRule(
        "sample", f"at most {count_noun(most, 'admission')} of a disease, drawn with seed {seed}", "pool", choose=choose
    )


def limit_rule(most: int, seed: int) -> BuildRule:
    """Keep at most `most` cases in all."""

    def choose(entries: Sequence[FinishedCase]) -> Sequence[FinishedCase]:
        drawn = sorted(entries, key=lambda entry: seed_of(seed, "limit", str(entry.hadm)))[:most]
        return [entry for entry in entries if entry in set(drawn)]

    return BuildRule(
        "limit", f"at most {count_noun(most, 'case')} in all, drawn with seed {seed}", "pool", choose=choose
    )


def _groups(entries: Sequence[FinishedCase]) -> dict[str, list[FinishedCase]]:
    groups: dict[str, list[FinishedCase]] = {}
    for entry in entries:
        groups.setdefault(entry.disease, []).append(entry)
    return groups


DRAW = "draw"
CANCELLED = "CANCELLED"
NEARBY = "results without an admission's number belong to it by their time"
RELATIONS = "a treatment, procedure, organism or drug that gives the disease away is blanked in history and examination"
_NO_LABEL = PoolDisease("")
Result = TypeVar("Result", Lab, Culture)


@dataclass(frozen=True, eq=False)
class BuildConditions:
    """The conditions on which the rules depend: the pool, whether there are notes, and whether `series` are kept.

    `tested` are the kinds of results that the copy has a table of.
    """

    pool: DiseasePool
    notes: bool
    series: bool = True
    tested: Sequence[ResultKind] = ("laboratory", "microbiology")

    @property
    def takes_all(self) -> bool:
        """Whether there is no list of diseases, so that the first-listed code is the disease."""
        return self.pool.takes_all


_RESULTS: Mapping[ResultKind, Callable[[AdmissionResults], Sequence[Lab | Culture]]] = {
    "laboratory": lambda results: results.labs,
    "microbiology": lambda results: results.cultures,
}
"""Kind of results -> those of an admission."""


def coded_rules(conditions: BuildConditions) -> tuple[BuildRule, ...]:
    """Rules on the codes. In a copy without notes, they stand in place of the rules on the discharge diagnosis."""
    if conditions.takes_all:
        return (BuildRule("coded", "its first-listed code has a title", "codes", _keep_if(lambda d: bool(d.leading))),)
    rules = [BuildRule("coded", "an ICD code of a pool disease", "codes", _keep_if(lambda d: bool(d.coded)))]
    if not conditions.notes:
        first = _keep_if(lambda d: d.leading is not None and d.leading in d.coded)
        rules += [
            BuildRule("label_first", "the pool disease is the first-listed code", "codes", first),
            BuildRule(
                "one_disease",
                "no code of another pool disease",
                "codes",
                _keep_if(lambda d: len({disease.name for disease in d.coded}) == 1),
            ),
        ]
    return tuple(rules)


def wanted_rules(admissions: frozenset[int], diseases: Sequence[PoolDisease]) -> tuple[BuildRule, ...]:
    """Rules for a list of admissions and for named diseases; none without them."""
    rules = []
    if admissions:
        rules.append(
            BuildRule("admissions", "it is in --admissions", "codes", _keep_if(lambda d: d.hadm in admissions))
        )
    if diseases:
        some = _keep_if(lambda d: bool(set(diseases) & {*d.coded, d.leading}))
        rules.append(BuildRule("disease", "an ICD code of a disease of --disease", "codes", some))
        rules.append(BuildRule("disease_label", "the case's disease is of --disease", "record",
                          _keep_if(lambda d: d.disease in diseases)))  # fmt: skip
    return tuple(rules)


def noted_rules(conditions: BuildConditions) -> tuple[BuildRule, ...]:
    """Rules on the discharge note."""
    named = Phrases((name, disease) for disease in conditions.pool.diseases for name in disease.names)

    def first(draft: AdmissionDraft) -> AdmissionDraft | None:
        if draft.note is None:
            return None
        said = stated(draft, first_item(draft.note.primary)) or shown_with(draft, draft.note.primary)
        if said is None and draft.leading and (not draft.note.primary or "diagnosis" in draft.note.prose):
            return replace(draft, disease=draft.leading) if leaks_of(draft.leading).names_it(draft.text) else None
        return said

    def shown_with(draft: AdmissionDraft, diagnosis: str) -> AdmissionDraft | None:
        """The draft with the disease of its first-listed code, if the note names it only after 'with'."""
        rest = re.search(rf"{re.escape(first_item(diagnosis).strip() or '_')}\s+with\s+(\S.*)", diagnosis)
        return stated(replace(draft, coded=(draft.leading,)), first_item(rest[1])) if rest and draft.leading else None

    def stated(draft: AdmissionDraft, item: str) -> AdmissionDraft | None:
        if conditions.takes_all:
            leading = draft.leading
            return draft if leading and (leaks_of(leading).names_it(item) or _means(item, leading)) else None
        hits = named.hits(item)
        hit = next((hit for hit in hits if not hit.denied), None)
        if hits:
            return replace(draft, disease=hit.what) if hit and hit.what in draft.coded else None
        meant = next((disease for disease in draft.coded if _means(item, disease)), None)
        return replace(draft, disease=meant) if meant else None

    def only(draft: AdmissionDraft) -> AdmissionDraft | None:
        own = draft.disease or next(iter(draft.coded), _NO_LABEL)
        said = draft.note.get("diagnosis") if draft.note else ""
        return None if any(hit.what != own and not hit.denied for hit in named.hits(said)) else draft

    rules = [
        BuildRule("note", "it has a discharge note", "note", _keep_if(lambda d: d.note is not None)),
        BuildRule(
            "history",
            "the note has a history of present illness",
            "note",
            _keep_if(lambda d: bool(d.note and case_draft.tidy_note(d.note.get("present")).strip("_ "))),
        ),
        BuildRule("label_first", "the disease is first in the discharge diagnosis", "note", first),
    ]
    if not conditions.takes_all:
        rules.append(BuildRule("one_disease", "no other pool disease in the discharge diagnosis", "note", only))
    return tuple(rules)


def _means(item: str, disease: PoolDisease) -> bool:
    """Whether an item of the discharge diagnosis is another name of a disease that the codes have: 'UC flare'."""
    parts = dict.fromkeys((item, item.split(",", maxsplit=1)[0]))
    return any(same_disease(name, part).same for name in disease.names for part in parts)


def record_rules(conditions: BuildConditions) -> tuple[BuildRule, ...]:
    """Rules on the whole record. Those that blank the disease come after all that cut or change its texts."""
    rules = [
        BuildRule("nearby", NEARBY, "record", with_nearby),
        BuildRule("cancelled", "cancelled cultures are left out", "record", without_cancelled),
    ]
    if not conditions.series:
        rules.append(BuildRule("first_results", "only the first result of each test is kept", "record", first_results))
    if conditions.notes:
        rules += [
            BuildRule(
                "informative",
                "reports without indication, history, comparison, impression",
                "record",
                informative_reports,
            ),
            BuildRule("age", "the first de-identified age of the history is the coded one", "record", with_stated_age),
            BuildRule("history_leak", "the history does not name the disease", "record", history_without_name),
        ]
    rules.append(BuildRule("leaks", "names of the disease are blanked in every section", "record", masked_names))
    if conditions.notes:
        rules.append(BuildRule("relations", RELATIONS, "record", masked_relations))
        what = "it has a laboratory, microbiology or imaging result"
        enough = _keep_if(lambda d: bool(d.results.labs or d.results.cultures or d.results.studies))
    else:
        what = f"it has {' and '.join(conditions.tested)} results"
        enough = _keep_if(lambda d: all(_RESULTS[kind](d.results) for kind in conditions.tested))
    return (*rules, BuildRule("results", what, "record", enough))


def _keep_if(test: Callable[[AdmissionDraft], bool]) -> Callable[[AdmissionDraft], AdmissionDraft | None]:
    """The `apply` of a rule that keeps the admissions that pass a test."""
    return lambda draft: draft if test(draft) else None


def with_nearby(draft: AdmissionDraft) -> AdmissionDraft:
    """Include the results that only their time assigns to this admission."""
    return draft if draft.nearby is None else replace(draft, results=draft.nearby, nearby=None)


def without_cancelled(draft: AdmissionDraft) -> AdmissionDraft:
    """Remove cancelled cultures."""
    kept = tuple(one for one in draft.results.cultures if one.organism.strip().upper() != CANCELLED)
    return with_results(draft, replace(draft.results, cultures=kept))


def first_results(draft: AdmissionDraft) -> AdmissionDraft:
    """Keep the earliest result of each laboratory item, and of each microbiology test and specimen."""
    firsts = replace(
        draft.results,
        labs=_first_of_each(draft.results.labs, lambda lab: (lab.item_id, lab.name)),
        cultures=_first_of_each(draft.results.cultures, lambda culture: (culture.test, culture.specimen)),
    )
    return with_results(draft, firsts)


def with_results(draft: AdmissionDraft, results: AdmissionResults) -> AdmissionDraft:
    """`draft` with these results; the same object if they are equal, so that changes can be counted."""
    return draft if results == draft.results else replace(draft, results=results)


def _first_of_each(results: Sequence[Result], of: Callable[[Result], object]) -> tuple[Result, ...]:
    firsts: dict[object, Result] = {}
    for result in results:
        firsts.setdefault(of(result), result)
    return tuple(firsts.values())


def informative_reports(draft: AdmissionDraft) -> AdmissionDraft:
    """Reduce reports to their findings; drop studies without any."""
    reports = filter(record_items.study, draft.results.reports)
    cut = (
        study.model_copy(update={"report": record_items.report_findings(report.text)})
        for study, report in zip(draft.results.studies, reports, strict=True)
    )
    return with_results(draft, replace(draft.results, studies=tuple(study for study in cut if study.report)))


def with_stated_age(draft: AdmissionDraft) -> AdmissionDraft:
    """Restore the patient's age if the history has a blank for it."""
    sections = {
        name: case_draft.with_age(text, draft.person) if i == 0 else text
        for i, (name, text) in enumerate(draft.history.items())
    }
    return draft if sections == draft.history else replace(draft, history=sections)


def history_without_name(draft: AdmissionDraft) -> AdmissionDraft | None:
    """The draft; None if its history names the disease, since the words around the name would reveal it too."""
    known = _leaks(draft)
    return None if any(known.names_it(text) for text in draft.history.values()) else draft


def _leaks(draft: AdmissionDraft) -> Leaks:
    """The names that reveal the disease of an admission, with that of its own discharge diagnosis."""
    return leaks_of(draft.disease or _NO_LABEL, first_item(draft.note.primary).strip(" .:-*") if draft.note else "")


def masked_relations(draft: AdmissionDraft) -> AdmissionDraft:
    """Blank what gives the disease away without its name, in complaint, history and examination; not in results."""
    known = giveaways((draft.disease or _NO_LABEL).names)
    after = replace(
        draft,
        history={
            name: text if about_others(name) else known.masked(text, MARK, past=about_the_past(name))
            for name, text in draft.history.items()
        },
        complaint=known.masked(draft.complaint, MARK),
        examination=tuple(
            part.model_copy(update={"text": known.masked(part.text, MARK, examined=True)}) for part in draft.examination
        ),
    )
    return draft if after == draft else after


def masked_names(draft: AdmissionDraft) -> AdmissionDraft:
    """Blank each name of the disease in history, examination, reports and the words of results.

    The names of tests stay, because a doctor sees them only after ordering them.
    """
    known = _leaks(draft)
    results = draft.results
    hidden = replace(
        results,
        labs=tuple(_masked_lab(lab, known) for lab in results.labs),
        cultures=tuple(_masked_culture(culture, known) for culture in results.cultures),
        studies=tuple(study.model_copy(update={"report": known.masked(study.report)}) for study in results.studies),
    )
    after = replace(
        draft,
        history={name: known.masked(text) for name, text in draft.history.items()},
        complaint=known.masked(draft.complaint),
        examination=tuple(part.model_copy(update={"text": known.masked(part.text)}) for part in draft.examination),
        results=hidden,
    )
    return draft if after == draft else after


def _masked_lab(lab: Lab, known: Leaks) -> Lab:
    return lab.model_copy(update={"value": known.masked(lab.value)}) if re.search(r"[A-Za-z]{2}", lab.value) else lab


def _masked_culture(culture: Culture, known: Leaks) -> Culture:
    return culture.model_copy(update={"comment": known.masked(culture.comment)}) if culture.comment else culture
