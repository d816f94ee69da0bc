"""A tree of 50,000 admissions built end to end, within a fixed memory."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.memory import ROOT
from benchmarks.mimic_tree import MimicTree
from wardround.scenarios.loaders.load import load

_BUILD = """
import json, sys
from pathlib import Path
from benchmarks.memory import resident
from wardround.builds import build_mimic
from wardround.scenarios.mimic.mimic_files import MimicOptions
flow = build_mimic(MimicOptions(mimic=Path(sys.argv[1]), without=("draw",)), Path(sys.argv[2]))
steps = [step.json() for step in flow.steps.all]
print(json.dumps({"flow": steps, "cases": flow.cases, "peak": resident("VmHWM")}))
"""


@pytest.mark.records
@pytest.mark.timeout(3600)
def test_fifty_thousand_admissions(tmp_path: Path) -> None:
    tree = MimicTree(tmp_path / "mimic", 50_000, rare=2)
    done = subprocess.run(
        [sys.executable, "-c", _BUILD, str(tree.root), str(tmp_path / "cases.jsonl")],
        check=True, capture_output=True, text=True, timeout=3500, cwd=ROOT,
    )  # fmt: skip
    told = json.loads(done.stdout)
    dropped = {step["rule"]: step["dropped"] for step in told["flow"]}
    kinds = {"coded": "other_code", "note": "no_note", "history": "no_history", "label_first": "second"}
    for rule, kind in {**kinds, "one_disease": "several", "results": "no_results"}.items():
        assert dropped[rule] == len(tree.of(kind))
    assert dropped["history_leak"] == len(tree.of("named", "synonym"))
    assert told["cases"] == len(list(load(tmp_path / "cases.jsonl"))) == 700  # 100 of each of seven diseases
    assert told["peak"] < 900  # MB: the 512 of DuckDB and the rest
