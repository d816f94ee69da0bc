"""Measures how fast, and in how much memory, a build reads a few admissions' rows of a laboratory table like MIMIC's.

`python -m benchmarks.mimic ROWS [ROWS ...]` measures other sizes; each size is read in a process of its own.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import duckdb
import numpy as np

from benchmarks.figure import Figure
from benchmarks.memory import ROOT, resident
from wardround.scenarios.mimic import mimic_database
from wardround.scenarios.mimic.mimic_database import WorkDatabase
from wardround.scenarios.mimic.mimic_files import find_tables

ROWS = (2_500_000, 10_000_000)
QUICK = (100_000, 200_000)
ADMISSIONS = 430_000
"""All admissions; one in a hundred is chosen, as in MultiCogEval."""
FLAT = 1.25
"""How many times the memory four times the rows may take."""
_SHAPE = """
copy (
  select i as labevent_id, 10000000 + h // 2 as subject_id,
    case when i % 5 = 0 then null else 20000000 + h end as hadm_id,
    hash(i) % 99999999 as specimen_id, 50800 + i % 900 as itemid, 'P03YMR' as order_provider_id,
    timestamp '2150-01-01' + to_seconds(i % 100000000) as charttime,
    timestamp '2150-01-01' + to_seconds(i % 100000000 + 3600) as storetime,
    case when i % 12 = 0 then '___' else ((hash(i) % 1500) / 10)::varchar end as value,
    case when i % 12 = 0 then null else (hash(i) % 1500) / 10 end as valuenum, 'mg/dL' as valueuom,
    4.0 as ref_range_lower, 110.0 as ref_range_upper, case when i % 3 = 0 then 'abnormal' end as flag,
    case when i % 2 = 0 then 'STAT' else 'ROUTINE' end as priority,
    case when i % 12 = 0 then 'NEG.  Reported to floor, read back.' end as comments
  from (select range as i, (range * {admissions} // {rows}) as h from range({rows}))
) to '{path}' (header, compression gzip)
"""


def mimic(quick: bool) -> Sequence[Figure]:
    """Measure the rows read a second in the larger of two tables, its peak memory, and the ratio of the two peaks."""
    sizes = QUICK if quick else ROWS
    by_size = {rows: measured(rows) for rows in sizes}
    few, many = sizes
    most = by_size[many]
    note = f"{many:,} rows, {most['packed']:.0f} MB gzip, {most['seconds']:.0f} s, kept {most['kept']:,}"
    peaks = " and ".join(f"{by_size[rows]['peak']:.0f} MB with {rows:,} rows" for rows in sizes)
    return [
        Figure("MIMIC labevents.csv.gz, read for 1 % of admissions", most["rate"], "rows/s", note=note),
        Figure("the same, peak memory of the process", most["peak"], "MB", at_most=512),
        Figure(
            "the same, beside a table of a quarter",
            most["peak"] / by_size[few]["peak"],
            "times",
            at_most=FLAT,
            note=peaks,
        ),
    ]


def measured(rows: int) -> dict[str, float]:
    """Generate a table of `rows` rows and read it in a fresh process."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "hosp").mkdir()
        path = root / "hosp" / "labevents.csv.gz"
        with duckdb.connect() as db:
            db.execute(_SHAPE.format(rows=rows, admissions=ADMISSIONS, path=path))
        command = [sys.executable, "-m", "benchmarks.mimic", "--read", folder]
        said = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
        figures: dict[str, float] = json.loads(said.splitlines()[-1])
        figures["packed"] = path.stat().st_size / 2**20
    figures["rate"] = rows / figures["seconds"]
    return figures


def _read(root: Path) -> dict[str, float]:
    """Read the table below `root` for one in a hundred admissions."""
    for name, text in {
        "admissions": "subject_id,hadm_id,admittime,dischtime\n",
        "patients": "subject_id,gender,anchor_age,anchor_year\n",
        "diagnoses_icd": "hadm_id,seq_num,icd_code,icd_version\n",
        "d_labitems": "itemid,label\n",
        "microbiologyevents": "subject_id,hadm_id,charttime,test_itemid,test_name,org_name\n",
    }.items():
        (root / "hosp" / f"{name}.csv").write_text(text)
    files = find_tables(root, {})
    chosen = np.random.default_rng(1).choice(ADMISSIONS, ADMISSIONS // 100, replace=False)
    with WorkDatabase(root) as spill:
        mimic_database.load_admissions(spill, files)
        spill.put("chosen", {"hadm_id": list(20_000_000 + chosen), "subject_id": list(10_000_000 + chosen // 2)})
        spill.run(
            "create table kept as select hadm_id, -1 as disease from chosen; "
            "insert into people (hadm_id, subject_id, admitted, left_at) select hadm_id, subject_id, "
            "timestamp '2150-01-01', timestamp '2150-01-05' from chosen"
        )
        began = time.perf_counter()
        mimic_database.load_results(spill, files, published=False)
        seconds = time.perf_counter() - began
        kept = spill.count("labs")
    return {"seconds": seconds, "kept": kept, "peak": resident("VmHWM")}


if __name__ == "__main__":
    if sys.argv[1:2] == ["--read"]:
        print(json.dumps(_read(Path(sys.argv[2]))))
    else:
        for size in map(int, sys.argv[1:]):
            figures = measured(size)
            line = f"{figures['rate']:,.0f} rows/s, peak {figures['peak']:.0f} MB"
            print(f"{size:,} rows, {figures['packed']:.0f} MB gzip: {line}")
