"""Classes of differences that make another disease, and of wordings that do not: names here are no case's label."""

import pytest

from wardround.scenarios.answers.diagnosis import compare
from wardround.scenarios.case import Truth

APART = [
    ("Pneumonia caused by Nocardia farcinica", "Pneumonia caused by Klebsiella oxytoca", "another organism"),
    ("Infective endocarditis caused by Gemella morbillorum", "Infective endocarditis", "a bare syndrome, no organism"),
    ("Pneumonia secondary to Nocardia farcinica infection", "Lipoid pneumonia", "a kind with a cause of its own"),
    ("Methemoglobinemia due to benzocaine", "Methemoglobinemia due to dapsone", "another drug"),
    ("Spontaneous bacterial peritonitis", "Secondary bacterial peritonitis", "another origin"),
    ("Primary optic atrophy", "Hereditary optic atrophy", "an origin on another axis"),
    ("Childhood absence epilepsy", "Early onset absence epilepsy", "an age on another axis"),
    ("Clear cell carcinoma of the ovary", "Serous carcinoma of the ovary", "a tissue on another axis"),
    ("Seminoma stage IIA grade 2", "Seminoma stage IIIB, grade 2", "another stage, the same grade"),
    ("Cecal volvulus", "Sigmoid volvulus", "siblings by the table of kinds"),
    ("Tuberculosis of the kidney", "Spinal tuberculosis", "siblings by the table of kinds, by site"),
    ("Bladder leiomyoma", "Uterine leiomyoma", "another organ, hidden by a plain name"),
    ("Squamous cell carcinoma of the colon", "Squamous cell carcinoma of the rectum", "neighbouring organs"),
    ("Small cell carcinoma of the bladder", "Small cell carcinoma with metastases", "a growth without its site"),
    ("Granulomatosis with polyangiitis", "Eosinophilic granulomatosis with polyangiitis", "siblings by ICD-10-CM"),
    ("Systemic lupus erythematosus", "Discoid lupus erythematosus", "siblings by ICD-10-CM"),
    ("Lepromatous leprosy", "Leprosy", "a wider disease by the tables"),
    ("Staphylococcal endocarditis with splenic abscess", "Splenic abscess due to staphylococcal infection", "the head"),
    ("Turner syndrome and celiac disease", "Celiac disease", "the second of two diseases alone"),
    ("Oral inverted papilloma", "Oral squamous papilloma with inverted papilloma", "two siblings joined by 'with'"),
    ("Parkinson disease", "Parkinson-plus syndrome", "a joining word inside a compound"),
    ("Chronic lymphocytic leukemia", "Gout with chronic lymphocytic leukemia", "unrelated, joined by 'with'"),
    ("Sarcoidosis", "Migraine due to sarcoidosis", "unrelated, joined by 'due to'"),
    ("Septic shock", "Migraine with septic shock", "a final state beside an unrelated disease"),
    ("Guillain-Barre syndrome", "Chronic inflammatory demyelinating polyneuropathy", "siblings that MONDO mixes up"),
]
ONE = [
    ("Diaphragmatic rupture", "Rupture of the diaphragm", "a site and its adjective"),
    ("Retinal dialysis", "Dialysis of the retina", "a site and its adjective"),
    ("Sternal osteomyelitis", "Osteomyelitis of the sternum", "a site and its adjective"),
    ("Malarial nephropathy", "Nephropathy due to malaria", "a disease and its adjective"),
    ("Calcific tendinitis of the shoulder", "Calcific tendinosis of the shoulder", "two words for one change"),
    ("Primary lymphoma of the stomach", "Poorly differentiated lymphoma of the stomach", "a growth is primary anyway"),
    ("Colorectal cancer", "Rectal cancer", "a site within the other"),
    ("Appendicitis", "Perforated appendicitis with peritonitis", "a kind that the table names otherwise"),
    (
        "Carcinoid of the ileum (neuroendocrine tumor)",
        "Neuroendocrine tumor of the ileum",
        "the truth's own other name",
    ),
    (
        "Bullous emphysema with lung adenocarcinoma",
        "Lung adenocarcinoma with bullous emphysema",
        "parts in another order",
    ),
    (
        "Primary adrenal lymphoma",
        "Adrenal insufficiency secondary to primary adrenal lymphoma",
        "what an effect is due to",
    ),
    ("Hemolytic disease due to anti-Kell antibodies", "Hemolytic disease due to anti-Kell sensitization", "one cause"),
    (
        "Splenic vein occlusion",
        "Carcinoma of the pancreatic tail with splenic vein occlusion",
        "the cause first, then the state that the truth names",
    ),
    ("Zika encephalitis", "Zika virus infection with Zika encephalitis", "the wider disease first"),
    (
        "Sarcoidosis-associated uveitis with band keratopathy",
        "Sarcoidosis with uveitis",
        "the cause that the truth names, first",
    ),
    ("Cystic hygroma of the omental bursa", "Cystic hygroma", "the site is not said"),
    ("Interosseous ganglion of the right wrist", "Ganglion of the wrist", "a site with a prefix"),
    ("Severe COVID-19 myocarditis", "SARS-CoV-2 myocarditis", "two names of one virus"),
    (
        "Cowden syndrome with follicular thyroid carcinoma",
        "Follicular thyroid carcinoma, WHO grade 2, in association with Cowden syndrome",
        "the letters WHO",
    ),
    ("Thrombus of the basilar artery", "Partially recanalized thrombus of the basilar artery", "an adverb"),
    ("Pulpitis", "Inflammation of the dental pulp", "a synonym of MONDO"),
    (
        "Endocarditis due to a congenital valve anomaly",
        "Infective endocarditis with splenic infarction",
        "a cause that is no organism",
    ),
]


@pytest.mark.parametrize(("truth", "answer", "what"), APART, ids=[f"{what}: {said}" for _, said, what in APART])
def test_another_disease(truth: str, answer: str, what: str) -> None:
    verdict = compare(answer, Truth(diagnosis=truth))
    assert not verdict.match, (what, verdict)


@pytest.mark.parametrize(("truth", "answer", "what"), ONE, ids=[f"{what}: {said}" for _, said, what in ONE])
def test_one_disease(truth: str, answer: str, what: str) -> None:
    verdict = compare(answer, Truth(diagnosis=truth))
    assert verdict.match, (what, verdict)


@pytest.mark.parametrize("form", ["{} ({}) ({})", "{}, also called {}, also called {}"])
def test_brackets_with_other_diseases_are_further_answers(form: str) -> None:
    verdict = compare(form.format("Gout", "Psoriatic arthritis", "Lyme disease"), Truth(diagnosis="Gout"))
    assert (verdict.match, verdict.rule, verdict.reason) == (False, "several", "several_answers")
    assert verdict.beside == ("Psoriatic arthritis", "Lyme disease")
