"""The concepts: how sources come together, what a user's files add, what a run without a linker pays."""

import subprocess
import sys
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from wardround.engine.errors import UsageError
from wardround.scenarios.diseases import ontologies
from wardround.scenarios.diseases.knowledge import assembled, conditions, knowledge, read_concepts
from wardround.scenarios.diseases.lexical_linker import LexicalLinker
from wardround.scenarios.diseases.linker import Concept
from wardround.scenarios.diseases.ontologies import covers, within_families
from wardround.scenarios.mimic.codes import classification

OWN = Concept("WR:gout", "Gout", ("podagra",), (), ("M10",), ("274",))
COUNT_AT_LEAST = 20_000


def test_concepts_of_one_name_become_one() -> None:
    sources = [
        [Concept("ICD10CM:M10", "Gout", ("gouty arthritis",), icd10=("M10",))],
        [Concept("ORPHA:1", "Rara avis", rare=("1",))],
        [Concept("OMIM:2", "avis, rara", omim=("2",)), Concept("OMIM:3", "GOUT", omim=("3",))],
    ]
    held = assembled(([OWN], {}), [], sources)
    assert [concept.id for concept in held.concepts][:2] == ["WR:gout", "ORPHA:1"]
    gout, rara = held.concepts[:2]
    assert gout.icd10 == ("M10",)
    assert gout.omim == ("3",)
    assert "gouty arthritis" in gout.synonyms
    assert (rara.rare, rara.omim) == (("1",), ("2",))


def test_the_full_knowledge_names_each_disease_once() -> None:
    held = knowledge()
    ids = [concept.id for concept in held.concepts]
    assert len(ids) == len(set(ids)) > COUNT_AT_LEAST
    assert all(concept.name for concept in held.concepts)
    (infarction,) = [concept for concept in held.concepts if concept.id == "WR:myocardial-infarction"]
    assert infarction.icd10 == ("I21", "I22")
    assert "MI" in infarction.abbreviations


@pytest.mark.long
def test_the_codes_of_the_project_s_table_exist_and_its_wider_diseases_too() -> None:
    table, broader = conditions()
    wrong = [(one.name, code) for one in table for code in one.icd10 if code not in ontologies.codes()]
    assert wrong == []
    ids = {one.id for one in table}
    assert len(ids) == len(table) >= 500
    assert {*broader, *broader.values()} <= ids
    assert all(covers(code[:3], code) for one in table for code in one.icd10)


@pytest.mark.long
def test_the_codes_are_those_of_the_package_without_the_seventh_character() -> None:
    official, ours = classification(), ontologies.codes()
    listed = dict.fromkeys(code for code in official.get_all_codes(True) if not official.is_extended_subcategory(code))
    assert list(ours) == list(listed)
    for name, code in ours.items():
        assert code == (official.get_description(name), official.get_inclusion_term(name), official.get_parent(name))


@pytest.mark.parametrize(
    ("title", "names"),
    [
        ("Zoster [herpes zoster]", ["Zoster", "herpes zoster"]),
        (
            "Nonrheumatic aortic (valve) stenosis",
            ["Nonrheumatic aortic stenosis", "Nonrheumatic aortic valve stenosis"],
        ),
        ("Cholera, unspecified", ["Cholera"]),
        ("Selective deficiency of immunoglobulin A [IgA]", ["Selective deficiency of immunoglobulin A"]),
        ("Other specified sphingolipidosis", []),
    ],
)
def test_what_a_title_is_called(title: str, names: list[str]) -> None:
    assert list(ontologies.title_forms(title)) == names


def test_growths_are_called_cancers() -> None:
    assert "bladder cancer" in ontologies.grown("Malignant neoplasm of bladder")
    assert ontologies.grown("Malignant neoplasm of bronchus and lung") == ()


def test_families_of_codes() -> None:
    assert covers("K35", "k35.80")
    assert not covers("K35.8", "K35")
    assert within_families(["E11.9"], ["E10", "E11"])
    assert not within_families([], ["E10"])


def test_a_user_s_list_of_synonyms(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("concept,name,icd10\nmine,Zorbs disease,Q99.9\nmine,morbus Zorb,\nGout,the king's evil toe,\n")
    found = LexicalLinker(assembled(([OWN], {}), list(read_concepts(path)), []))
    mine, gout = found.link("Morbus Zorb"), found.link("the king's evil toe")
    assert mine is not None
    assert gout is not None
    assert (mine.concept.id, mine.concept.icd10) == ("mine", ("Q99.9",))
    assert gout.concept.id == "WR:gout"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("concept,label\nx,y\n", "column name is missing"),
        ("concept,name\nx,\n", "row 2"),
        ("", "column concept, name is missing"),
        ('concept,name\nx,"y\n', "line 2: .*is a quotation mark not closed"),
    ],
)
def test_a_list_that_is_wrong_is_named_with_its_row(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(text)
    with pytest.raises(UsageError, match=rf"mine\.csv.*{told}"):
        list(read_concepts(path))


@pytest.mark.parametrize("sides", [("A", "B"), ("Gout", "Pneumonia")])
def test_names_that_go_round_in_a_loop_are_named_and_the_rest_goes_on(tmp_path: Path, sides: tuple[str, str]) -> None:
    path = tmp_path / "mine.csv"
    one, other = sides
    path.write_text(f"concept,name\n{one},{other}\n{other},{one}\n{other},C\n")
    with capture_logs() as logs:
        concepts = list(read_concepts(path))
    assert [(concept.id, concept.name) for concept in concepts] == [(one, other), (other, "C")]
    assert [(line["at"], line["concept"], line["name"]) for line in logs] == [(f"{path}, row 3", other, one)]


def test_a_file_that_is_not_there_or_not_text_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.csv: cannot be read"):
        list(read_concepts(tmp_path / "none.csv"))
    (tmp_path / "bin.csv").write_bytes(b"concept,name\n\xff\xfe,x\n")
    with pytest.raises(UsageError, match=r"bin\.csv, line 2: byte .* is not UTF-8"):
        list(read_concepts(tmp_path / "bin.csv"))


def atom(cui: str, name: str, source: str = "SNOMEDCT_US", code: str = "1", **more: str) -> str:
    """A row of MRCONSO.RRF."""
    told = {"lat": "ENG", "ts": "P", "stt": "PF", "pref": "Y", "sup": "N", **more}
    cells = [
        cui,
        told["lat"],
        told["ts"],
        "L",
        told["stt"],
        "S",
        told["pref"],
        "A",
        "",
        "",
        "",
        source,
        "PT",
        code,
        name,
    ]
    return "|".join([*cells, "0", told["sup"], "", ""])


ATOMS = (
    atom("C1", "Gout (disorder)"),
    atom("C1", "Gicht", lat="GER"),
    atom("C1", "gout, unspecified", "ICD10CM", "M10.9", ts="S"),
    atom("C1", "old name", sup="O"),
    atom("C2", "Aspirin", "RXNORM"),
    atom("C3", "Rara avis", "ORPHANET", "ORPHA77"),
)


def test_umls_gives_the_diseases_among_its_concepts(tmp_path: Path) -> None:
    path = tmp_path / "MRCONSO.RRF"
    path.write_text("\n".join(ATOMS) + "\n", encoding="utf-8")
    found = {concept.id: concept for concept in read_concepts(path)}
    assert list(found) == ["UMLS:C1", "UMLS:C3"]
    assert (found["UMLS:C1"].name, found["UMLS:C1"].synonyms) == ("Gout", ("gout, unspecified",))
    assert found["UMLS:C1"].icd10 == ("M10.9",)
    assert found["UMLS:C3"].rare == ("77",)


def test_umls_semantic_types_decide_where_they_lie_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "MRCONSO.RRF"
    path.write_text("\n".join(ATOMS) + "\n", encoding="utf-8")
    (tmp_path / "MRSTY.RRF").write_text("C1|T047|B2|Disease|A|1|\nC3|T121|A1|Substance|A|1|\n", encoding="utf-8")
    assert [concept.id for concept in read_concepts(path)] == ["UMLS:C1"]


def test_a_short_row_of_umls_is_named(tmp_path: Path) -> None:
    path = tmp_path / "MRCONSO.RRF"
    path.write_text(ATOMS[0] + "\nC9|ENG|P\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"MRCONSO\.RRF, row 2: has 3 columns"):
        list(read_concepts(path))


@pytest.mark.long
def test_a_run_that_needs_no_linker_reads_no_terminology() -> None:
    code = "import sys, wardround.api, wardround.scenarios.encounters.workup; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "wardround.scenarios.encounters.workup" in loaded
    assert not loaded & {"simple_icd_10_cm", "networkx", "spacy", "wardround.scenarios.diseases.lexical_linker"}
