"""What must be said below a table before its figures are compared."""

from collections.abc import Iterator, Sequence

from wardround.engine.text import counted
from wardround.evaluators.intervals import DAGGER
from wardround.evaluators.tables.player import Player
from wardround.evaluators.tables.table import DASH, POPULATIONS, Column, Row


def notes(columns: Sequence[Column], rows: Sequence[Row], players: Sequence[Player], by: str = "") -> tuple[str, ...]:
    """One plain sentence each."""
    return tuple(
        note
        for found in (
            _intervals(rows),
            _beyond(rows),
            _parts(rows),
            _counts(columns, rows),
            _rare(columns, players),
            _by_words(columns, rows, players),
            _runs(rows, players),
        )
        for note in found
    ) + (("A case of several strata counts in each of them.",) if by else ())


def _intervals(rows: Sequence[Row]) -> Iterator[str]:
    cells = [cell for row in rows for figure in row.figures for cell in figure.parts]
    methods = {cell.ci95_method for cell in cells if cell.ci95}
    if not methods:
        yield "Percent; no 95% interval."
    elif methods == {"student_t"}:
        yield "Percent; in brackets the 95% interval, Student t over cases as MedR-Bench prints it."
    else:
        names = ", ".join(name for method, name in _METHODS.items() if method in methods)
        yield f"Percent; in brackets the 95% interval ({names})."
    if reasons := sorted({cell.ci95_reason for cell in cells if cell.scored and cell.ci95_reason}):
        yield f"Without an interval: {'; '.join(reasons)}."


_METHODS = {"wilson": "Wilson for scores of 0 and 1", "bootstrap": "a bootstrap of cases for others"}


def _beyond(rows: Sequence[Row]) -> Iterator[str]:
    if any(cell.beyond for row in rows for figure in row.figures for cell in figure.parts):
        yield (
            f"{DAGGER} Student t, as MedR-Bench prints it, and beyond what a share can be; over all of a run the table "
            "of its scores has an interval to read instead."
        )


def _parts(rows: Sequence[Row]) -> Iterator[str]:
    if any(len(figure.parts) > 1 for row in rows for figure in row.figures):
        yield "XX / xx: the formal part of the reply, and its thinking part."
    if any(cell.scored for row in rows for figure in row.figures for cells in figure.beside for cell in cells):
        yield (
            "Factuality is over the steps that could be verified; below it the share of reasoning steps that could "
            "not, and the mean with every unverified step taken as wrong, and as correct."
        )


def _counts(columns: Sequence[Column], rows: Sequence[Row]) -> Iterator[str]:
    differ = any(
        len(
            {
                (cell.scored, cell.n)
                for column, figure in placed
                for cell in figure.parts
                if column.population == one and cell.scored
            }
        )
        > 1
        for row in rows
        if (placed := list(zip(columns, row.figures, strict=True)))
        for one in POPULATIONS
    )
    if differ:
        yield "Denominators differ from figure to figure: n is the episodes that have the figure, of those that ended."
    if any(figure.reason for row in rows for figure in row.figures):
        yield DASH


def _rare(columns: Sequence[Column], players: Sequence[Player]) -> Iterator[str]:
    if not any(column.population == "rare" for column in columns):
        return
    settings = {column.setting for column in columns}
    known: dict[str, bool] = {}
    for player in players:
        for setting, run in player.runs.items():
            if setting in settings or "" in settings:
                for row, _ in run.taken:
                    known[row.case] = known.get(row.case, False) or row.rare is not None
    unknown = sum(not told for told in known.values())
    if unknown:
        of = f"{unknown} of {counted(len(known), 'case')}"
        yield f"Of {of} it is not known whether the disease is rare: they count as all diseases only."


def _by_words(columns: Sequence[Column], rows: Sequence[Row], players: Sequence[Player]) -> Iterator[str]:
    """Which runs' accuracies are had by a comparison of words: a judge leaves that verdict beside its own."""
    settings = {column.setting for column in columns if any("accuracy" in score for score in column.scores)}
    shown = dict.fromkeys(name for row in rows for name in row.runs.values())
    names = [
        run.name
        for player in players
        for setting, run in player.runs.items()
        if run.name in shown and (setting in settings or "" in settings) and not run.judged
    ]
    if names:
        yield f"Accuracy of {', '.join(dict.fromkeys(names))}: word match, a floor by words and not a verdict."


def _runs(rows: Sequence[Row], players: Sequence[Player]) -> Iterator[str]:
    """Open episodes, and rows whose runs are not of the same cases or not by the same judge."""
    held = {run.name: run for player in players for run in player.runs.values()}
    shown = dict.fromkeys(name for row in rows for name in row.runs.values())
    for name in shown:
        if held[name].open:
            yield f"{name}: {counted(held[name].open, 'episode')} still open and in no figure."
    judges = {held[name].judge for name in shown}
    if len(judges) > 1:
        yield "Not all runs here were scored by the same judge."
    for label in dict.fromkeys(row.doctor for row in rows):
        names = dict.fromkeys(name for row in rows if row.doctor == label for name in row.runs.values())
        cases = {frozenset(row.case for row, _ in held[name].taken) for name in names}
        if len(cases) > 1:
            yield f"{label}: its runs are not of the same cases, so its settings cannot be compared."
