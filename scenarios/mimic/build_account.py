"""The account of a build of cases from MIMIC-IV: what each rule did, as a table for readers and as JSON."""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from wardround.engine.records import Json
from wardround.engine.text import count_noun
from wardround.scenarios.build_steps import steps_table, why_no_case
from wardround.scenarios.mimic.mimic_files import BadRow, MimicCopy, MimicOptions, repeated_headers_first, sha256_of
from wardround.scenarios.mimic.pool import DiseasePool, diseases_by_name
from wardround.scenarios.mimic.rules import RuleSteps

_MOST_ROWS = 20


@dataclass(frozen=True, eq=False)
class MimicAccount:
    """The account of a build.

    `tree` are the files that were read, `source` names the release, and `admissions` is their number in the tables.
    `diseases` maps each disease to its number of cases, `bad` each table to its faults. `absent` are the admissions of
    `--admissions` that the tables do not have; `strays` tells of rows of the tables that do not fit together.
    """

    options: MimicOptions
    tree: MimicCopy
    source: str
    pool: DiseasePool
    admissions: int
    steps: RuleSteps
    bad: Mapping[str, Sequence[BadRow]]
    diseases: Mapping[str, int]
    absent: tuple[int, ...] = ()
    strays: tuple[str, ...] = ()

    @property
    def cases(self) -> int:
        """The number of cases built."""
        return sum(self.diseases.values())

    @property
    def without_case(self) -> tuple[str, ...]:
        """The wanted diseases, or all of the pool if none are named, of which no case was built."""
        return tuple(
            disease.name
            for disease in diseases_by_name(self.pool, self.options.diseases) or self.pool.diseases
            if disease.name not in self.diseases
        )

    def json(self) -> dict[str, Json]:
        """The whole account as JSON, with versions, seed, options and checksums."""
        read = [file.path for file in self.tree.files.values()]
        named = [path for path in (self.options.gem, self.options.admissions, self._pool_path()) if path]
        return {
            "source": self.source,
            "admissions": self.admissions,
            "cases": self.cases,
            "rules": self.options.rules,
            "seed": self.options.seed,
            "flow": [step.json() for step in self.steps.all],
            "diseases": dict(self.diseases),
            "pool": {"source": self.pool.source, "diseases": len(self.pool.diseases)},
            "absent": list(self.absent),
            "strays": list(self.strays),
            "without_case": list(self.without_case),
            "missing": dict(self.tree.missing),
            "bad_rows": {name: _bad_rows(rows) for name, rows in self.bad.items()},
            "options": self.options.model_dump(mode="json"),
            "files": {
                file.table.name: {"path": str(file.path), "sha256": sha256_of(file.path)}
                for file in self.tree.files.values()
            },
            "also": {str(path): sha256_of(path) for path in named if path not in read},
            "versions": {
                "wardround": version("wardround"),
                "duckdb": version("duckdb"),
                "simple-icd-10-cm": version("simple-icd-10-cm"),
                "python": platform.python_version(),
            },
        }

    def _pool_path(self) -> Path | None:
        path = Path(self.options.pool) if self.options.pool else None
        return path if path and path.is_file() else None

    def text(self) -> str:
        """The table for readers, with missing tables and unreadable rows."""
        said = [
            f"{self.source}, rules: {self.options.rules}; {count_noun(self.admissions, 'admission')}, "
            f"pool: {self.pool.source}"
        ]
        said += steps_table(self.steps.all)
        said.append(f"{count_noun(self.cases, 'case')} of {count_noun(len(self.diseases), 'disease')}")
        if not self.cases:
            said.append(f"no case was built: {why_no_case(self.steps.all, 'the tables hold no admissions')}")
        elif self.without_case:
            said.append(
                f"no case of {count_noun(len(self.without_case), 'wanted disease')}: "
                f"{', '.join(self.without_case[:10])}"
            )
        if self.absent:
            listed = ", ".join(map(str, self.absent[:10]))
            said.append(f"absent: of --admissions the tables lack {len(self.absent):,}: {listed}")
        said += self.strays
        said += [f"missing: {name} ({lost})" for name, lost in self.tree.missing.items()]
        for name, bad in self.bad.items():
            lost = sum(not row.latin for row in bad)
            latin = len(bad) - lost
            said.append(f"{name}: {count_noun(lost, 'row')} could not be read, {latin:,} read as Latin-1")
            said += [f"  {row}" for row in repeated_headers_first(bad)[:5]]
        return "\n".join(said)


def _bad_rows(rows: Sequence[BadRow]) -> dict[str, Json]:
    latin = sum(row.latin for row in rows)
    return {
        "lost": len(rows) - latin,
        "latin1": latin,
        "rows": [str(row) for row in repeated_headers_first(rows)[:_MOST_ROWS]],
    }
