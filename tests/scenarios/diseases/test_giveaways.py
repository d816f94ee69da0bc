"""Words that give a diagnosis away without its name."""

import csv
from pathlib import Path

import pytest
from examples import first_rows

from wardround.scenarios.answers.truth import opening_contains
from wardround.scenarios.case import Case, Finding, Provenance, Truth
from wardround.scenarios.diseases.giveaway import giveaways, revealed
from wardround.scenarios.mimic.pool import own

SENTENCES = Path(__file__).with_name("leaks_related.csv")
HARMLESS = Path(__file__).with_name("harmless_histories.csv")
"""Histories of the pool diseases that give none away, written by the author of the rules before they were run."""
KNOWN = {disease.name: disease for disease in own().diseases}


@pytest.mark.long
def test_sentences_that_give_a_diagnosis_away_are_found_and_harmless_ones_are_not() -> None:
    found, false, leaking, harmless = 0, 0, 0, 0
    with SENTENCES.open(encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            disease = KNOWN[row["disease"]]
            truth = Truth(diagnosis=disease.name, synonyms=disease.synonyms)
            flagged = bool(giveaways(disease.names).hits(row["text"]) or opening_contains(truth, row["text"]))
            leaking, harmless = leaking + (row["leaks"] == "yes"), harmless + (row["leaks"] == "no")
            found, false = found + (flagged and row["leaks"] == "yes"), false + (flagged and row["leaks"] == "no")
    assert found >= 0.95 * leaking
    assert false <= 0.05 * harmless


@pytest.mark.parametrize(
    ("disease", "text", "words"),
    [
        ("Appendicitis", "taken to the OR for appendectomy", ["appendectomy"]),
        ("Appendicitis", "s/p appendectomy in 1998", []),
        ("Appendicitis", "s/p appendectomy today", ["appendectomy"]),
        ("Appendicitis", "acute appendicits", ["appendicits"]),
        ("Tuberculosis", "denies isoniazid; a ripe fruit", []),
        ("Tuberculosis", "on RIPE", ["RIPE"]),
        ("Mastoiditis", "after mastoidectomy", ["mastoidectomy"]),
        ("Diabetic ketoacidosis", "came as a D.K.A.", ["D.K.A"]),
        ("Septic arthritis", "E. coli grew from his knee", ["E. coli grew from his knee"]),
        ("Septic arthritis", "the knee grew no bacteria", []),
        ("Myasthenia gravis", "thymectomy years ago", ["thymectomy"]),
        ("Small bowel obstruction", "small bowl obstruction", ["small bowl obstruction"]),
        ("Malaria", "malariia", ["malariia"]),
        ("Malaria", "malarial country", []),
    ],
)
def test_what_is_denied_or_long_past_gives_nothing_away(disease: str, text: str, words: list[str]) -> None:
    assert [hit.words for hit in giveaways((disease,)).hits(text)] == words


def test_a_case_tells_the_field_and_the_words() -> None:
    case = Case(
        id="c",
        opening="Given colchicine.",
        history={"Past Surgical History": "hernia mesh repair", "Family History": "father takes allopurinol"},
        examination=(Finding(section="Joints", text="better after colchicine"),),
        truth=Truth(diagnosis="Gout"),
        provenance=Provenance(source="here"),
        data_class="public",
    )
    said = [(field, hit.words, hit.relation) for field, hit in revealed(case)]
    assert said == [("opening", "colchicine", "drug"), ("examination[0]", "colchicine", "drug")]


def test_a_finding_stays_where_the_doctor_finds_it() -> None:
    known = giveaways(("Cholecystitis",))
    said = "Murphy sign positive, put on the list for a lap chole"
    assert known.masked(said, "___") == "___ positive, put on the list for a ___"
    assert known.masked(said, "___", examined=True) == "Murphy sign positive, put on the list for a ___"


@pytest.mark.long
def test_harmless_histories_give_nothing_away() -> None:
    with HARMLESS.open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    names = {
        row["disease"]: KNOWN[row["disease"]].names if row["disease"] in KNOWN else (row["disease"],) for row in rows
    }
    false = [(row["disease"], hit.words) for row in rows for hit in giveaways(names[row["disease"]]).hits(row["text"])]
    assert len(rows) >= 150
    assert len(false) <= 0.05 * len(rows), false


@pytest.mark.parametrize(
    ("disease", "text", "words"),
    first_rows(
        [
            (
                "Pulmonary embolism",
                "a large clot, they said, in both lung arteries",
                ["clot, they said, in both lung arteries"],
            ),
            ("Pulmonary embolism", "no clot was seen in the lungs", []),
            ("Pericarditis", "the sac round his heart is inflamed", ["sac round his heart is inflamed"]),
            ("Pancreatitis", "lipase came back at 1,842", ["lipase came back at 1,842"]),
            ("Diabetic ketoacidosis", "in dka again", ["dka"]),
            ("Pneumonia", "he wore a cap", []),
            ("Heart failure", "weeks without her sacubitril", ["sacubitril"]),
            ("COVID-19", "before the COVID-19 vaccination", []),
            ("Bacterial meningitis", "called across as a meningitis", ["meningitis"]),
            ("Malaria", "put on artesunat", ["artesunat"]),
            ("Tuberculosis", "no fever, cough or close TB contact", []),
            ("Mesothelioma", "he worked with asbestos", []),
        ],
        6,
    ),
)
def test_processes_at_a_place_classes_of_drugs_and_numbers(disease: str, text: str, words: list[str]) -> None:
    assert [hit.words for hit in giveaways((disease,)).hits(text)] == words


@pytest.mark.parametrize(
    ("disease", "text", "words"),
    first_rows(
        [
            ("Pyelonephritis", "this is pylonefritis on the left", ["pylonefritis"]),
            ("Myocardial infarction", "an interaction of drugs", []),
            ("Crohn disease", "job centre form: cronhs", ["cronhs"]),
            ("Crohn disease", "a gold crown on a tooth", []),
            ("Subarachnoid hemorrhage", "a sub-arachnoid bleed", ["sub-arachnoid"]),
            ("COPD exacerbation", "third IECOPD since May", ["IECOPD"]),
            ("Giant cell arteritis", "what he has is Horton's disease", ["Horton's disease"]),
            ("Hyponatremia", "sodium came back at 118", ["sodium came back at 118"]),
            ("Hyponatremia", "sodium came back at 138", []),
            ("Hypoglycemia", "glucose of 38", ["glucose of 38"]),
            ("Cholecystitis", "HIDA: liver and duct seen, gallbladder never fills", ["gallbladder never fills"]),
            ("Cholecystitis", "normal gallbladder. Pancreas thickened", []),
            ("Small bowel obstruction", "bowel sounds absent", []),
            ("Dravet syndrome", "takes clobazam", ["clobazam"]),
            ("Infective endocarditis", "Enterococcus faecalis from the catheter bag", []),
            ("Infective endocarditis", "coag-neg staph in one of four bottles", []),
            ("Type 1 diabetes mellitus", "no Novorapid since noon", ["Novorapid"]),
            ("Heart failure", "EF 62 %", []),
            ("Heart failure", "EF 22 %", ["EF 22"]),
        ],
        9,
    ),
)
def test_sounds_results_groups_and_two_words_of_a_sentence(disease: str, text: str, words: list[str]) -> None:
    assert [hit.words for hit in giveaways((disease,)).hits(text)] == words


def test_a_hostile_text_is_read_to_its_end() -> None:
    text = "lung opacity CT mm, " * 600
    assert all(hit.words in text for hit in giveaways(("Pneumonia",)).hits(text))
