"""Names of the Disease Ontology that must not pass for each other, and names that different cases share."""

import csv
import gzip
import itertools
from pathlib import Path

import pytest

from benchmarks.paraphrases import read_labels
from wardround.scenarios.case import Case
from wardround.scenarios.diseases.same_disease import same_disease
from wardround.scenarios.loaders.load import load

HERE = Path(__file__).resolve().parent


@pytest.mark.shared
def test_siblings_of_the_disease_ontology_do_not_pass(shared: Path) -> None:
    path = shared / "data" / "vocab-disease-ontology" / "HumanDO.tsv.gz"
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        labels = {row["id"]: row["label"] for row in csv.DictReader(stream, delimiter="\t")}
    with (HERE / "opposites_doid.csv").open(encoding="utf-8") as stream:
        listed = [(labels[row["one"]], labels[row["other"]]) for row in csv.DictReader(stream)]
    passed = [pair for pair in listed if same_disease(*pair).same]
    assert len(listed) == 200
    assert len(passed) <= 0.03 * len(listed), passed


@pytest.mark.shared
@pytest.mark.long
def test_the_truth_of_one_case_is_hardly_ever_that_of_another(shared: Path) -> None:
    data = shared / "data"
    paths = [data / "medrbench" / "diagnosis_cases.json", *sorted((data / "agentclinic").glob("*.jsonl"))]
    names = sorted({case.truth.diagnosis for path in paths for case in load(path) if isinstance(case, Case)})
    found = sum(same_disease(one, other).same for one, other in itertools.permutations(names, 2))
    assert len(names) > 400
    assert found / (len(names) * (len(names) - 1)) < 0.001


@pytest.mark.shared
@pytest.mark.long
def test_the_rules_accept_most_of_what_two_readers_call_the_same(shared: Path) -> None:
    """84 of the 102 that both call the same, 13 of the 56 that are not: `docs/measurements.md` has the figures."""
    read = read_labels(shared / "data" / "medrbench")
    assert sum(read.counts.values()) == 185
    assert read.kappa == pytest.approx(0.69, abs=0.005)
    assert read.both[1] == 102
    assert read.both[0] >= 80
    assert read.accepted["no"][0] <= 15
