"""Single names of diseases: exact, in other order, abbreviated, misspelt, and what is no disease at all."""

import csv
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest

from wardround.engine.errors import UsageError
from wardround.scenarios.diseases.knowledge import OWN, Knowledge
from wardround.scenarios.diseases.lexical_linker import LexicalLinker, linker
from wardround.scenarios.diseases.linker import Concept
from wardround.scenarios.diseases.ontologies import covers
from wardround.scenarios.diseases.scispacy_linker import ScispacyLinker

LABELLED = Path(__file__).with_name("disease_mentions.csv")


@pytest.fixture(scope="module")
def full() -> LexicalLinker:
    return linker()


def right(concept: Concept | None, families: str) -> bool:
    """Whether the concept has a code within the labelled families; '' is labelled 'no disease'."""
    if not families:
        return concept is None
    return concept is not None and any(covers(one, code) for one in families.split("|") for code in concept.icd10)


@pytest.mark.long
def test_the_labelled_mentions_are_linked(full: LexicalLinker) -> None:
    with LABELLED.open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    seen, hit = Counter(row["kind"] for row in rows), Counter[str]()
    for row in rows:
        found = full.link(row["mention"])
        hit[row["kind"]] += right(found.concept if found else None, row["icd10"])
    assert len(rows) >= 150
    least = {
        "plain": 1.0,
        "synonym": 0.96,
        "abbreviation": 0.98,
        "misspelt": 0.97,
        "order": 1.0,
        "hard": 0.95,
        "none": 1,
    }
    assert {kind: hit[kind] / seen[kind] >= least[kind] for kind in seen} == dict.fromkeys(least, True), hit


@pytest.mark.parametrize(
    ("said", "name", "rule"),
    [
        ("Heart attack", "Myocardial infarction", "exact"),
        ("MI", "Myocardial infarction", "abbreviation"),
        ("copd", "Chronic obstructive pulmonary disease", "abbreviation"),
        ("leukemia, acute myeloid", "Acute myeloid leukemia", "exact"),
        ("pulmonary cancer", "Lung cancer", "words"),
        ("severe Crohn's", "Crohn disease", "core"),
        ("rhuematoid artritis", "Rheumatoid arthritis", "fuzzy"),
        ("heartfailure", "Heart failure", "fuzzy"),
        ("Chrons disease", "Crohn disease", "fuzzy"),
        ("acute exacerbation of COPD", "Chronic obstructive pulmonary disease", "part"),
    ],
)
def test_a_link_says_how_it_was_found(full: LexicalLinker, said: str, name: str, rule: str) -> None:
    found = full.link(said)
    assert found is not None
    assert (found.concept.name, found.rule, found.text) == (name, rule, said)
    assert 0.5 < found.score <= 1


@pytest.mark.parametrize(
    ("said", "not_this"),
    [
        ("hypothyroidsm", "Hyperthyroidism"),
        ("hemophilia B", "Hemophilia A"),
        ("hepatitus C", "Hepatitis B"),
        ("type 1 diabetes", "Type 2 diabetes mellitus"),
        ("pulmonary hypertension", "Hypertension"),
        ("non-Hodgkin lymphoma", "Hodgkin lymphoma"),
        ("HCV", "HIV infection"),
        ("diabetes insipidus", "Diabetes mellitus"),
        ("macrocephaly", "Microcephaly"),
        ("nontropical sprue", "Tropical sprue"),
    ],
)
def test_what_looks_alike_is_kept_apart(full: LexicalLinker, said: str, not_this: str) -> None:
    found = full.link(said)
    assert found is not None
    assert found.concept.name != not_this


@pytest.mark.parametrize(
    "said", ["", "   ", "?!", "x", "infection", "ulcer", "well", "Baker", "\x00", "9" * 500, "e" * 5000]
)
def test_what_names_no_disease_links_to_none(full: LexicalLinker, said: str) -> None:
    assert full.link(said) is None


def test_a_name_of_several_diseases_says_so(full: LexicalLinker) -> None:
    found = full.link("DM")
    assert found is not None
    assert found.concept.name == "Diabetes mellitus"
    assert [other.name for other in found.others] == ["Dermatomyositis"]
    clear = full.link("PE")
    assert clear is not None
    assert clear.others == ()


def test_an_abbreviation_in_a_bracket_is_the_name_before_it(full: LexicalLinker) -> None:
    """GCA is giant cell arteritis elsewhere; here it is a cancer that the table does not know."""
    found = full.link("Appendiceal goblet cell adenocarcinoma (GCA)")
    assert found is None or found.concept.name != "Giant cell arteritis"


def linker_of(concepts: list[Concept]) -> LexicalLinker:
    return LexicalLinker(Knowledge(tuple(concepts), (OWN,) * len(concepts), {}))


def test_the_same_name_gives_the_same_answer_whatever_was_asked_before() -> None:
    concepts = [Concept("A:1", "Morbus primus", ("prime disease",)), Concept("A:2", "Morbus secundus")]
    one, other = linker_of(concepts), linker_of(concepts)
    for said in ("morbus secundas", "Morbus primus", "morbus"):
        one.link(said)
    assert one.link("morbus secundas") == other.link("morbus secundas")
    assert one.link("nothing of the kind") is None


def test_an_empty_knowledge_knows_nothing() -> None:
    empty = linker_of([])
    assert empty.link("appendicitis") is None
    assert empty.mentions("appendicitis") == []


@pytest.mark.skipif(find_spec("scispacy") is not None, reason="the extra is installed here")
def test_the_extra_says_what_to_do_where_it_is_missing() -> None:
    with pytest.raises(UsageError, match=r"wardround\[scispacy\]"):
        ScispacyLinker(Knowledge((), (), {}))
