"""Shows the levels of models: as tables on the terminal, as JSON, and as one self-contained HTML page."""

from collections.abc import Iterator, Sequence

import msgspec
from rich.console import Group, RenderableType
from rich.table import Table as Printed
from rich.text import Text

from wardround.engine.records import Json
from wardround.engine.text import count_noun
from wardround.evaluators.levels.clinician_sheet import HARDEST, People
from wardround.evaluators.levels.level_attacks import Alterations, AttackedRun, Leak
from wardround.evaluators.levels.level_figures import LEVELS, Gap, LevelFigure, LevelReport, ModelLevels, Stratum
from wardround.evaluators.levels.level_plots import level_plots, mostly_single
from wardround.evaluators.reasons import list_reasons
from wardround.evaluators.report.compare import Difference
from wardround.evaluators.report.intervals import FEWEST
from wardround.evaluators.report.rendering import environment, style
from wardround.evaluators.report.table_text import percent
from wardround.scenarios.papers import MULTICOGEVAL

NOTHING_ALTERED = Alterations()


class Grid(msgspec.Struct, frozen=True):
    """A table in words: its head, rows of texts (the first `labels` of them are names), and notes below it."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    labels: int = 1


def levels_json(
    report: LevelReport, notes: Sequence[str] = (), altered: Alterations = NOTHING_ALTERED
) -> dict[str, Json]:
    """The report as a JSON object; shares are 0 to 1 and may be below 0, which is worse than guessing."""
    built: dict[str, Json] = msgspec.to_builtins(report)
    return {**built, **msgspec.to_builtins(altered), "notes": [*notes, *report.notes]}


def levels_tables(
    report: LevelReport, notes: Sequence[str] = (), altered: Alterations = NOTHING_ALTERED
) -> list[Group]:
    """The tables for a terminal."""
    return [*map(_grid_group, grids(report, altered)), Group(*map(Text, (*notes, *report.notes)))]


def levels_page(report: LevelReport, notes: Sequence[str] = (), altered: Alterations = NOTHING_ALTERED) -> str:
    """The HTML page, which loads nothing from elsewhere. The same report gives the same bytes."""
    return (
        environment()
        .get_template("levels.html.j2")
        .render(
            style=style("report.css"),
            who=_who([one.model for one in report.models]),
            several=len(report.models) > 1,
            grids=grids(report, altered),
            plots=level_plots(report),
            notes=[*notes, *report.notes],
            paper=MULTICOGEVAL,
        )
    )


_NAMED = 5
"""The most models that the head of a page names."""


def _who(models: Sequence[str]) -> str:
    return count_noun(len(models), "model") if len(models) > _NAMED else ", ".join(models) or "no model"


def _grid_group(grid: Grid) -> Group:
    made = Printed(box=None, pad_edge=False)
    for place, name in enumerate(grid.head):
        made.add_column(name, justify="left" if place < grid.labels else "right", overflow="fold")
    for row in grid.rows:
        made.add_row(*map(Text, row))
    parts: list[RenderableType] = [
        Text(grid.title, style="italic"),
        made,
        *(Text(note, style="dim") for note in grid.notes),
        Text(),
    ]
    return Group(*parts)


def grids(report: LevelReport, altered: Alterations = NOTHING_ALTERED) -> list[Grid]:
    """All tables of the report that have a row."""
    made = [
        _levels(report.models),
        _tasks(report.models),
        _gaps("Gaps between levels", report.gaps, between_levels=True),
        _gaps("Medical model minus its backbone", report.backbones),
        _gaps("Thinking minus its plain sibling", report.siblings),
        _people(report.people),
        _attacks(altered.attacks),
        _leaks(altered.leaks),
        _facts(report.models),
        *_strata(report),
    ]
    return [grid for grid in made if grid.rows]


def _levels(models: Sequence[ModelLevels]) -> Grid:
    """Table 2 of MultiCogEval: each model's levels, by set where a level has several."""
    columns: list[tuple[str, str]] = []
    for level in LEVELS:
        sets = sorted({name for one in models for name in one.datasets[level]})
        columns += [(level, name) for name in sets] if len(sets) > 1 else []
        columns.append((level, ""))
    rows = []
    for one in models:
        figures = [
            one.levels[level] if not name else one.datasets[level].get(name)  # type: ignore[index]  # a level
            for level, name in columns
        ]
        rows.append((one.model, *map(_counted, figures)))
    head = ("model", *(f"{level}, {name}" if name else level for level, name in columns))
    return Grid("Normalised accuracy by level (%)", head, tuple(rows), tuple(_level_notes(models)))


def _level_notes(models: Sequence[ModelLevels]) -> Iterator[str]:
    yield (
        "Mean ± standard error over repeats; in brackets the 95% interval (bootstrap of questions and cases); n is "
        "the number of questions and cases. 0 is guessing, 100 all right. The tasks and sets of a level weigh the same."
    )
    figures = [figure for one in models for figure in one.levels.values()]
    if any(figure.mean is not None and figure.error is None for figure in figures):
        yield "No standard error where there is one repeat (--repeats 5 draws other examples in each)."
    if reasons := sorted({figure.ci95_reason for figure in figures if figure.mean is not None and figure.ci95_reason}):
        yield f"No interval: {'; '.join(reasons)}."
    for one in models:
        for level, figure in one.levels.items():
            if figure.missing:
                yield f"{one.model}, {level}: without a score: {list_reasons(figure.missing)}."


def _cell(figure: LevelFigure | None) -> str:
    if figure is None or figure.mean is None:
        return "–"
    error = "" if figure.error is None else f" ± {100 * figure.error:.2f}"
    return _minus(f"{100 * figure.mean:z.2f}{error}") + (f"\n{_ends(figure.ci95)}" if figure.ci95 else "")


def _counted(figure: LevelFigure | None) -> str:
    """A figure with the number of questions or cases that it stands on."""
    return "–" if figure is None or figure.mean is None else f"{_cell(figure)}\nn = {figure.units:,}"


def _ends(ends: tuple[float, float] | None) -> str:
    return "–" if ends is None else _minus(f"({100 * ends[0]:z.2f}, {100 * ends[1]:z.2f})")


def _minus(text: str) -> str:
    return text.replace("-", "−")


def _tasks(models: Sequence[ModelLevels]) -> Grid:
    """Table 8 of MultiCogEval: each task by level and set, with the answers that it counts."""
    rows = [
        (one.model, level, task, name, _cell(figure), percent(figure.accuracy), f"{figure.units} x {figure.repeats}")
        for one in models
        for level, tasks in one.tasks.items()
        for task, sets in tasks.items()
        for name, figure in sets.items()
    ]
    head = ("model", "level", "task", "set", "normalised", "share right", "questions x repeats")
    return Grid("By task (%)", head, tuple(rows), labels=4)


_BY = {"question": "by question", "disease": "by disease", "nothing": "not paired"}


def _gaps(title: str, gaps: Sequence[Gap], *, between_levels: bool = False) -> Grid:
    rows = []
    for one in gaps:
        names = (
            (one.model, f"{one.second} − {one.first}") if between_levels else (f"{one.second} − {one.first}", one.level)
        )
        over = "shared diseases" if one.over == "shared" else "all"
        change = "–" if one.difference is None else _minus(f"{100 * one.difference:+z.2f}")
        pairs = f"{one.pairs}, {_BY[one.by]}" if one.pairs else _BY[one.by]
        rows.append((*names, *((over,) if between_levels else ()), change, _ends(one.ci95), pairs))
    head = ("model", "gap", "over") if between_levels else ("models", "level")
    notes = ["Differences of normalised accuracy in points; pairs are questions, cases or diseases that both have."]
    if reasons := sorted({one.reason for one in gaps if one.reason}):
        notes.append(f"No interval: {'; '.join(reasons)}.")
    return Grid(title, (*head, "difference", "95% interval", "pairs"), tuple(rows), tuple(notes), labels=len(head))


def _people(people: Sequence[People]) -> Grid:
    rows = [
        (one.level, one.task, str(one.people), percent(one.mean), percent(one.median), *_difficulty(one))
        for one in people
    ]
    notes = ["Share right in percent, not normalised, over the people who played; each run is one person."]
    if any(one.rated for one in people):
        notes.append(f"Difficulty as people rated it, from 1 (easy) to {HARDEST} (hard), over all ratings.")
    elif people:
        notes.append("No ratings of difficulty: --difficulty FILE (columns run, item, difficulty).")
    head = ("level", "task", "people", "mean", "median", "difficulty, mean", "median", "ratings")
    return Grid("People", head, tuple(rows), tuple(notes), labels=2)


def _difficulty(one: People) -> tuple[str, str, str]:
    if one.difficulty_mean is None or one.difficulty_median is None:
        return "–", "–", str(one.rated)
    return f"{one.difficulty_mean:.1f}", f"{one.difficulty_median:.1f}", str(one.rated)


def _attacks(attacks: Sequence[AttackedRun]) -> Grid:
    rows: list[tuple[str, ...]] = []
    for one in attacks:
        difference, altered_by = one.difference, one.how.removeprefix("attack=")
        if difference is None:
            rows.append((one.doctor, altered_by, "–", "–", "–", "–", "–", "–"))
            continue
        change = "–" if difference.difference is None else _minus(f"{100 * difference.difference:+z.2f}")
        shares = [percent(difference.first_mean), percent(difference.second_mean), change, _ends(difference.ci95)]
        met = [f"followed {100 * one.followed:.1f}"] if one.followed is not None else []
        met += [f"kept {100 * one.kept:.1f}"] if one.kept is not None else []
        rows.append((one.doctor, altered_by, *shares, str(difference.cases), ", ".join(met) or "–"))
    head = ("doctor", "altered by", "plain", "altered", "difference", "95% interval", "questions", "met by")
    notes = [
        "Share right in percent, over the questions with a score in both runs; repeats of a question are averaged."
    ]
    notes += [_MET] if any(one.followed is not None or one.kept is not None for one in attacks) else []
    notes += [f"{one.run}: no difference: {one.reason}." for one in attacks if one.reason]
    notes += [f"{one.run}: {_BETTER}" for one in attacks if _form_tells(one)]
    lacking = {_no_interval(one.difference) for one in attacks if one.difference and not one.difference.ci95}
    notes += [f"No interval: {why}." for why in sorted(lacking - {""})]
    return Grid("Altered questions against plain ones", head, tuple(rows), tuple(notes), labels=2)


_MET = (
    "Met by: wrong hints followed; the old answer kept, though a fact was changed. A doctor that does not read them "
    "meets some by chance, so the difference tells more."
)
_BETTER = (
    "right more often than without the attack. The phrase is always right and the hint always wrong, which a doctor "
    "can use without knowing the answer; this does not show robustness."
)


def _form_tells(one: AttackedRun) -> bool:
    """Whether a doctor scores better under an attack whose form tells the right answer."""
    attack = one.how.removeprefix("attack=")
    better = one.difference is not None and one.difference.ci95 is not None and one.difference.ci95[0] > 0
    return better and attack in ("none_of_the_above", "wrong_hint")


def _no_interval(difference: Difference) -> str:
    same = difference.only_first == difference.only_second == 0
    return "no question was answered differently" if same and difference.cases >= FEWEST else difference.ci95_reason


def _leaks(leaks: Sequence[Leak]) -> Grid:
    rows = [
        (
            one.dataset,
            one.task,
            one.how,
            one.run,
            _cell(one.figure),
            percent(one.figure.accuracy),
            str(one.figure.units),
        )
        for one in leaks
    ]
    head = ("set", "task", "without knowledge", "run", "normalised", "share right", "questions")
    note = "What a set gives away by its form: normalised accuracy beyond 0 is its leak, if the interval is above 0."
    return Grid("Leaks of the sets (%)", head, tuple(rows), (note,), labels=4)


def _facts(models: Sequence[ModelLevels]) -> Grid:
    rows = []
    for one in sorted(models, key=_size):
        facts = one.facts
        if facts is None:
            rows.append((one.model, *["unknown"] * 8))
            continue
        size = "unknown" if facts.parameters is None else f"{facts.parameters:g}"
        marks = [_mark_text(mark) for mark in (facts.open, facts.medical, facts.thinking)]
        dates = [facts.release or "unknown", facts.cut_off or "unknown"]
        backbone = facts.backbone or ("unknown" if facts.medical is not False else "–")
        rows.append((one.model, facts.family or "unknown", backbone, size, *marks, *dates))
    head = (
        "model",
        "family",
        "backbone",
        "billions of parameters",
        "open",
        "medical",
        "thinking",
        "release",
        "cut-off",
    )
    return Grid("What is known of the models", head, tuple(rows), labels=3)


def _size(one: ModelLevels) -> tuple[float, str]:
    known = one.facts.parameters if one.facts and one.facts.parameters is not None else float("inf")
    return known, one.model


def _mark_text(mark: bool | None) -> str:
    return "unknown" if mark is None else "yes" if mark else "no"


_ACROSS = 5
"""The most models whose columns fit beside each other."""


def _strata(report: LevelReport) -> list[Grid]:
    titles = {"disease": "High level by disease (%)", "body_system": "High level by body system (%)"}
    models = list(dict.fromkeys(one.model for one in report.strata))
    parts = [models[start : start + _ACROSS] for start in range(0, len(models), _ACROSS)]
    made = []
    for by, title in titles.items():
        some = [one for one in report.strata if one.by == by]
        for place, part in enumerate(parts):
            first = place * _ACROSS + 1
            which = f", models {first} to {first + len(part) - 1} of {len(models)}" if len(parts) > 1 else ""
            made.append(_stratum(by.replace("_", " "), f"{title}{which}", some, part))
    return made


def _stratum(by: str, title: str, strata: Sequence[Stratum], models: Sequence[str]) -> Grid:
    """The figures of these models, a line for each disease or body system that one of them played."""
    own = [one for one in strata if one.model in models]
    figures = {(one.name, one.model): one.figure for one in own}
    rows = []
    for name in dict.fromkeys(one.name for one in own):
        cells = [figures.get((name, model)) for model in models]
        rows.append((name, str(max(figure.units for figure in cells if figure)), *map(_cell, cells)))
    means = [_macro(model, [one.figure for one in own if one.model == model]) for model in models]
    return Grid(title, (by, "cases", *models), tuple(rows), tuple(note for note in dict.fromkeys(means) if note))


def _macro(model: str, figures: Sequence[LevelFigure]) -> str:
    """The unweighted mean over diseases or systems, as in MultiCogEval."""
    means = [figure.mean for figure in figures if figure.mean is not None]
    if len(means) < 2:
        return ""
    if why := mostly_single(figure.units for figure in figures):
        return f"No mean over them: {why}."
    return f"{model}: mean over these {len(means)}: {_minus(f'{100 * sum(means) / len(means):z.2f}')}."
