"""The figures of a report on one or several runs, each computed once, whoever shows it: terminal, page, JSON or CSV."""

from collections.abc import Sequence
from functools import cached_property

from wardround.evaluators.report.compare import Comparison, compare_runs
from wardround.evaluators.report.cost_front import CostFront, cost_front
from wardround.evaluators.report.paper_tables import STRATA, extended_tables, rules_in, stratified_tables
from wardround.evaluators.report.ranking import Ranking, ranking
from wardround.evaluators.report.score_rows import RunScores
from wardround.evaluators.report.score_tables import Table
from wardround.evaluators.report.summary import Summary, summarise


class ReportFigures:
    """The figures of `runs`; `seed` is that of the bootstrap.

    ::

        figures = ReportFigures([scores], seed=7)
        figures.summaries[scores.name].score("diagnosis_accuracy").mean
    """

    def __init__(self, runs: Sequence[RunScores], seed: int = 0) -> None:
        self.runs, self.seed = runs, seed

    @cached_property
    def summaries(self) -> dict[str, Summary]:
        """Return the summary of each run."""
        return {run.name: summarise(run.episodes, self.seed, run.answer_judges) for run in self.runs}

    @cached_property
    def comparison(self) -> Comparison | None:
        """Return the paired differences; None for a single run."""
        return compare_runs(self.runs, self.seed) if len(self.runs) > 1 else None

    @cached_property
    def ranking(self) -> Ranking | None:
        """Return the ranking; None for a single run, or without a score to rank by."""
        return ranking(self.runs, self.summaries, self.seed) if len(self.runs) > 1 else None

    @cached_property
    def front(self) -> CostFront | None:
        """Return the accuracy against the cost; None if fewer than two runs have both."""
        return cost_front(self.runs, self.summaries)

    @cached_property
    def tables(self) -> list[tuple[str, Sequence[Table]]]:
        """Return the tables of MedR-Bench by title: for each rule set, over all cases and by stratum."""
        groups: list[tuple[str, Sequence[Table]]] = []
        for rules in rules_in(self.runs):
            groups.append((f"{rules} rules", extended_tables(self.runs, rules, self.seed)))
            for stratum, name in STRATA.items():
                groups.append((f"{rules} rules, by {name}", stratified_tables(self.runs, stratum, rules, self.seed)))
        return [(title, tables) for title, tables in groups if tables]

    @property
    def all_tables(self) -> list[Table]:
        """Return the same tables in one list."""
        return [table for _, tables in self.tables for table in tables]
