"""MONDO: names of one disease, kinds, siblings; and the table in step with the words that its forms are made of."""

import gzip
from importlib.resources import files

import pytest

from wardround.scenarios.diseases import mondo
from wardround.scenarios.diseases.same_disease import same_disease

TABLE = files("wardround.scenarios.terms") / "data" / "mondo.tsv.gz"


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("Leprosy", "Hansen's disease", "same"),
        ("Pulpitis", "inflammation of the dental pulp", "same"),
        ("Myeloproliferative disorder", "Polycythemia vera", "wider"),
        ("Polycythemia vera", "Myeloproliferative disorder", "narrower"),
        ("Gout", "Scurvy", "apart"),
        ("Gout", "a name that nobody gave", None),
        ("Human disease", "Gout", None),
    ],
)
def test_the_relation_of_two_names(one: str, other: str, expected: str | None) -> None:
    assert mondo.kinship(one, other) == expected


@pytest.mark.parametrize(
    ("truth", "said"),
    [("COFS syndrome", "Cerebrooculofacioskeletal syndrome"), ("Pulpitis", "Dental pulp inflammation")],
)
def test_synonyms_mean_one_disease(truth: str, said: str) -> None:
    assert same_disease(truth, said).same


def test_siblings_of_mondo_stay_apart() -> None:
    assert not same_disease("Granulomatosis with polyangiitis", "Eosinophilic granulomatosis with polyangiitis").same
    assert not same_disease("Non-papillary renal cell carcinoma", "Papillary renal cell carcinoma").same


def test_the_forms_are_those_of_the_present_words() -> None:
    """If this fails, `words.csv` or the rules of roots have changed: write the table again (`scripts.write_mondo`)."""
    lines = gzip.decompress(TABLE.read_bytes()).decode().splitlines()
    assert len(lines) > 20_000
    for line in lines[::10]:
        _, _, label, forms = line.split("\t")
        assert mondo.form(label) in forms.split("|"), label
