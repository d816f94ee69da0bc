"""Other names of one disease that the names themselves tell: abbreviations, genes, names that MONDO has."""

import pytest

from wardround.scenarios.answers.commitment import read_answer
from wardround.scenarios.answers.diagnosis import compare
from wardround.scenarios.case import Truth
from wardround.scenarios.diseases.mondo import diseases_named, form
from wardround.scenarios.diseases.other_names import abbreviated, gene_named, unabbreviated
from wardround.scenarios.diseases.same_disease import same_disease


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("focal dermal hypoplasia", "FODH"),
        ("oculopharyngeal muscular dystrophy", "OPMD"),
        ("Potocki-Lupski syndrome", "PTLS"),
        ("hereditary motor neuropathy type 5A", "HMN5A"),
    ],
)
def test_an_abbreviation_takes_letters_of_each_word_in_order(name: str, short: str) -> None:
    assert abbreviated(name, short)


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("focal dermal hypoplasia", "FDX"),
        ("hereditary motor neuropathy type 5A", "HMN5B"),
        ("gout", "GOT"),
        ("Crohn disease", "CHD"),
        ("Smith-Magenis syndrome", "MSS"),
    ],
)
def test_no_word_is_left_out_and_no_letter_is_foreign(name: str, short: str) -> None:
    assert not abbreviated(name, short)


def test_an_abbreviation_of_another_disease_is_not_read_as_one_of_the_truth() -> None:
    assert not same_disease("Miller Fisher syndrome", "MFS").same  # MONDO: Marfan syndrome


def test_an_abbreviation_inside_a_name_is_written_out() -> None:
    written = unabbreviated("pantothenate kinase deficiency", "PANK2 deficiency")
    assert written == "pantothenate kinase deficiency"
    assert same_disease("pantothenate kinase deficiency", "PANK2 deficiency").same
    assert not same_disease("pantothenate kinase deficiency", "PKD deficiency").same


def test_a_syndrome_of_a_gene_is_the_disorder_named_by_that_gene_alone() -> None:
    syndrome = "KMT2D-related Kabuki syndrome"
    assert gene_named(syndrome, "KMT2D-related neurodevelopmental disorder") == "KMT2D"
    assert not gene_named(syndrome, "KDM6A-related neurodevelopmental disorder")
    assert not gene_named(syndrome, "KMT2D-mutated bladder cancer")
    assert not gene_named("BRCA1-related breast cancer", "BRCA1-related disease")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("HMSN IB", "HMSN1B"),
        ("X-linked sideroblastic anemia", "sex-linked sideroblastic anemia"),
        ("mosaic trisomy 9", "trisomy 9 mosaicism"),
        ("22q11.2 microdeletion", "22q11.2 deletion syndrome"),
        ("isovaleryl-CoA dehydrogenase deficiency", "isovaleryl-coenzyme A dehydrogenase deficiency"),
    ],
)
def test_spellings_of_types_bands_and_inheritance_have_one_form(one: str, other: str) -> None:
    assert form(one) == form(other)


def test_a_typing_error_in_a_long_word_still_finds_the_disease() -> None:
    assert diseases_named("oculopharyngael muscular dystrophy") == diseases_named("oculopharyngeal muscular dystrophy")
    assert not set(diseases_named("hypercalcemia")) & set(diseases_named("hypocalcemia"))


def test_a_number_tells_the_type_without_its_inheritance_but_not_with_another() -> None:
    assert diseases_named("spastic paraplegia 11") == diseases_named("autosomal recessive spastic paraplegia 11")
    assert not diseases_named("X-linked spastic paraplegia 11")


def test_a_name_with_a_joining_word_that_mondo_has_is_one_disease() -> None:
    name = "parkinsonism with alveolar hypoventilation and mental depression"
    assert [item.name for item in read_answer(name).asserted] == [name]
    assert len(read_answer("gout with pneumonia").asserted) == 2


def test_a_slash_inside_the_name_of_one_disease_leaves_nothing_open() -> None:
    answer = "Chronic lymphocytic leukemia/small lymphocytic lymphoma (CLL/SLL)"
    assert compare(answer, Truth(diagnosis="Chronic lymphocytic leukemia")).match
    assert read_answer("gout/lupus nephritis").undecided


def test_a_name_of_parts_is_said_by_the_same_parts_in_other_words() -> None:
    truth = Truth(diagnosis="Tetralogy of Fallot and glaucoma")
    assert compare("Familial tetralogy of Fallot and glaucoma", truth).match
    assert not compare("Tetralogy of Fallot and cataract", truth).all_parts


@pytest.mark.parametrize(
    "ground",
    [
        "The diagnosis was confirmed by biopsy, serology, and exclusion of tuberculosis.",
        "This was based on imaging findings, renal failure, and the absence of lymphoma.",
        "Diagnosis was established through endoscopy and culture.",
        "Key findings supporting the diagnosis:\n- fever\n- anemia\n- renal abscess",
    ],
)
def test_what_founds_a_diagnosis_asserts_nothing(ground: str) -> None:
    read = read_answer(f"The patient was diagnosed with sarcoidosis. {ground}")
    assert [item.name for item in read.asserted] == ["sarcoidosis"]


def test_a_diagnosis_behind_its_grounds_is_still_read() -> None:
    assert [item.name for item in read_answer("Based on the biopsy, the diagnosis is sarcoidosis.").asserted] == [
        "sarcoidosis"
    ]


def test_a_description_leads_to_the_disease_that_it_is_said_with() -> None:
    truth = Truth(diagnosis="Basilar invagination")
    assert compare("Craniocervical junction anomaly with basilar invagination", truth).match
    assert not compare("Gout with basilar invagination", truth).match


def test_cause_and_spread_exchanged_are_another_disease() -> None:
    truth = Truth(diagnosis="Lung carcinoma with metastatic involvement of the breast")
    assert not compare("Ductal carcinoma of the breast with metastases to the lung", truth).match
    assert compare("Carcinoma of the lung with metastases to the breast", truth).match


def test_a_place_that_the_disease_implies_may_be_left_out_but_not_another_cause() -> None:
    assert same_disease("subhepatic appendicitis", "perforated appendicitis").same
    assert not same_disease("duodenal tuberculosis", "miliary tuberculosis").same
    assert not same_disease("plexopathy due to ischemic injury", "plexopathy due to nerve injury").same


@pytest.mark.parametrize("short", ["45,X", "47,XXY"])
def test_a_karyotype_beside_the_name_is_no_type(short: str) -> None:
    assert same_disease(f"{short} Turner syndrome", "Turner syndrome").same
    assert not same_disease("46,XY gonadal dysgenesis", "46,XX gonadal dysgenesis").same
