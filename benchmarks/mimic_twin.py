"""Measures a build from a tree of MIMIC-IV's size.

`make bench-mimic` runs it, and so does `python -m benchmarks.mimic_twin [--scale SHARE]`. The tree is made up
(benchmarks/mimic_tree.py), and DuckDB writes most of its laboratory rows. Its counts are those that PhysioNet states
for MIMIC-IV 3.1 and MIMIC-IV-Note 2.2, rounded. The build runs in a process of its own.
"""

import argparse
import gzip
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

from benchmarks.figure import Figure, table
from benchmarks.memory import ROOT, resident
from benchmarks.mimic_tree import MimicTree
from wardround.builds import build_mimic
from wardround.scenarios.mimic.mimic_files import MimicOptions

ADMISSIONS, LAB_ROWS, REPORTS, COURSE = 546_000, 158_000_000, 4, 8_000
"""Admissions, laboratory rows, radiology reports of each admission, and characters of a note's hospital course."""
_MORE_LABS = """
copy (
  select i as labevent_id, 10000000 + n // 2 as subject_id, 20000000 + n * 7 as hadm_id, i as specimen_id,
    50800 + i % 900 as itemid, 'P03YMR' as order_provider_id, taken as charttime, taken as storetime,
    case when i % 12 = 0 then '___' else ((hash(i) % 1500) / 10)::varchar end as value,
    case when i % 12 = 0 then null else (hash(i) % 1500) / 10 end as valuenum, 'mg/dL' as valueuom,
    4.0 as ref_range_lower, 110.0 as ref_range_upper, case when i % 3 = 0 then 'abnormal' end as flag,
    'ROUTINE' as priority, case when i % 12 = 0 then 'NEG.  Reported to floor, read back.' end as comments
  from (
    select i, n, timestamp '2150-01-01 08:00' + to_days((n % 9000)::int) + to_hours(n % 2 * 960 + i % 96) as taken
    from (select range as i, range * {admissions} // {rows} as n from range({start}, {stop}))
  )
) to '{path}' (format csv, header false)
"""
_AT_ONCE = 5_000_000
"""Rows that DuckDB writes at once and Python packs: Python's quickest gzip takes less than half of DuckDB's time."""


def write_twin(root: Path, scale: float) -> None:
    """Write the tree below `root`; `scale` 1 is the full size."""
    admissions, rows = int(ADMISSIONS * scale), int(LAB_ROWS * scale)
    packed = ("labevents", "discharge", "radiology", "microbiologyevents", "diagnoses_icd", "admissions")
    tree = MimicTree(root, admissions, rare=2, labs=1, reports=REPORTS, course=COURSE, packed=packed)
    more = root / "more.csv"
    with (
        duckdb.connect(config={"memory_limit": "2GB"}) as database,
        gzip.open(tree.written["labevents"], "ab", compresslevel=1) as whole,
    ):
        for start in range(0, rows, _AT_ONCE):
            part = _MORE_LABS.format(
                rows=rows, admissions=admissions, start=start, stop=min(start + _AT_ONCE, rows), path=more
            )
            database.execute(part)
            with more.open("rb") as rest:
                shutil.copyfileobj(rest, whole, 2**20)
    more.unlink()
    with tree.written["d_labitems"].open("a", encoding="utf-8") as items:
        items.writelines(f"{50800 + item},Analyte {item},Blood,Chemistry\n" for item in range(900))


def twin(scale: float) -> list[Figure]:
    """Measure one build: its peak memory, its time, and the number of its cases."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "mimic"
        began = time.perf_counter()
        write_twin(root, scale)
        made = time.perf_counter() - began
        size = sum(path.stat().st_size for path in root.rglob("*") if path.is_file()) / 2**30
        command = [sys.executable, "-m", "benchmarks.mimic_twin", "--build", folder]
        said = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
        result = json.loads(said.splitlines()[-1])
    what = f"{int(ADMISSIONS * scale):,} admissions, {int(LAB_ROWS * scale):,} laboratory rows"
    note = f"{what}, {size:.1f} GB on disk, made in {made / 60:.1f} min; {result['cases']:,} cases"
    return [
        Figure("a build from a tree of MIMIC-IV's size, peak memory", result["peak"], "MB", at_most=512, note=note),
        Figure("the same, time", result["seconds"] / 60, "min"),
    ]


def _build(folder: Path) -> dict[str, float]:
    """Build the cases of the tree below `folder` in this process."""
    began = time.perf_counter()
    flow = build_mimic(MimicOptions(mimic=folder / "mimic"), folder / "cases.jsonl")
    return {"cases": flow.cases, "seconds": time.perf_counter() - began, "peak": resident("VmHWM")}


def main() -> None:
    """Measure, or build in the measured process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="the share of the full size")
    parser.add_argument("--build", type=Path, metavar="FOLDER", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.build is not None:
        print(json.dumps(_build(options.build)))
        return
    figures = twin(options.scale)
    print(table(figures))
    sys.exit(any(figure.met is False for figure in figures))


if __name__ == "__main__":
    main()
