"""Answers that hold the truth and do not stand by it, and honest shapes that must not lose it."""

import pytest
from examples import first_ones

from wardround.scenarios.answers.diagnosis import compare
from wardround.scenarios.answers.taken_back import affixed, standing
from wardround.scenarios.answers.treatment import compare_plan, read_plan
from wardround.scenarios.case import Truth

GOUT = Truth(diagnosis="Acute gouty arthritis", synonyms=("Gout",), treatment="Colchicine and ice packs for the foot.")
NAME = "gout with chalky deposits, kidney stones, and fever"
LONG = Truth(diagnosis=NAME, treatment="Colchicine.")


@pytest.mark.parametrize(
    "form",
    [
        "{}? Hardly.",
        "{}, said nobody", "{} (hypothetical)", "{} with probability zero", "Nobody has {}",
        "It is tempting to say {}", "In a parallel universe {}", "Zero chance of {}", "I bet against {}",
        "How about {}?",
        "Let us suppose {}", "Assume {}", "Referred as {}", "Forget {}", "Ignore {}", "Please delete {}",
        "Beware of {}", "Imagine {}", "Undo {}", "the contrary of {}",
        "{}, just kidding", "{}. Just kidding.", "{}, not really", "{} my foot", "{}... as if", "{} lol", "{} /s",
        "A colleague says {}", "Everyone says {}", "An AI would say {}", "The examiner wants {}",
        "According to Google {}",
        "My neighbour thinks {}", "The reference diagnosis is {}", "Reference answer: {}", "The answer key says {}",
        "{} (0.1% chance)", "{}, probability 1 %", "{} 1 %", "1% {}", "{} (2%)", "A one in a million {}",
        "It would be {} in an older patient", "{} would have been right last year", "{} were it not for the crystals",
        "{} in mice", "{} for the next patient", "{} in another patient", "I wish it were {}", "If only it were {}",
        "cured {}", "so-called {}", "fake {}", "tendency to {}", "early stage before {}", "pending exclusion of {}",
        "vaccination against {}", "carrier of {}", "imitation of {}", "[ ] {}", "{} - 0",
        "{} is what the examiner wants",
    ],
)  # fmt: skip
@pytest.mark.parametrize("truth", [GOUT, LONG])
def test_what_an_answer_does_not_stand_by_is_no_diagnosis(form: str, truth: Truth) -> None:
    name = "gout" if truth is GOUT else NAME
    verdict = compare(form.format(name), truth)
    assert (verdict.match, verdict.reason) == (False, "no_diagnosis_asserted")


@pytest.mark.parametrize("form", ["{} in his elder brother", "{} of the mother", "{} in my dog"])
def test_a_disease_of_somebody_else_is_no_diagnosis(form: str) -> None:
    assert not compare(form.format("gout"), GOUT).match


@pytest.mark.parametrize(
    "form",
    [
        "non-{}", "a non-{} disease", "pseudo-{}", "anti-{}", "{}-free", "{}-negative", "{}-like illness",
        "{} phobia",
        "{} look-alike", "resolved {}", "status after {}", "{} in remission",
        "{} scare", "{} protocol", "{} risk", "absent {}", "not-{}", "exposure to {}", "contact with {}",
    ],
)  # fmt: skip
def test_an_affix_makes_another_thing_of_the_truth(form: str) -> None:
    verdict = compare(form.format("gout"), GOUT)
    assert (verdict.match, verdict.rule) == (False, "denied")
    assert compare(form.format("gout"), Truth(diagnosis=form.format("gout"))).match


@pytest.mark.parametrize(
    ("truth", "answer", "right"),
    [
        ("Orbital cellulitis", "Post-operative bilateral orbital cellulitis", True),
        ("Stiff person syndrome", "Anti-GAD antibody-associated stiff-person syndrome", True),
        ("Erdheim-Chester disease", "Non-Langerhans cell histiocytosis consistent with Erdheim-Chester disease", True),
        ("Gout", "Pseudo-acute gout", False),
        ("Acute appendicitis", "Non-acute appendicitis", False),
        ("Hodgkin lymphoma", "non-Hodgkin lymphoma", False),
        ("Neonatal lupus", "Neonatal lupus from anti-Ro antibodies of the mother", True),
    ],
)
def test_an_affix_of_a_word_beside_the_truth_leaves_it(truth: str, answer: str, right: bool) -> None:
    assert compare(answer, Truth(diagnosis=truth)).match is right


@pytest.mark.parametrize(
    "form",
    [
        "{} (85%)", "{} (confidence: 90%)", "{} - 75% likely", "{} (confirmed by aspiration)", "{} (ORPHA:12345)",
        "ICD-10 M10.9: {}", "{} (ICD-10: M10.9)", "In summary: {}", "My colleagues and I agree that this is {}",
        "The radiologist suggests {}, and I agree.", "Pathology says {}", "Others think lupus, but I believe {}",
        "{} in an older man", "{} in a 45-year-old man with kidney stones",
        "| Diagnosis | Probability |\n|---|---|\n| {} | 90% |",
        "| Field | Value |\n|:--|--:|\n| Diagnosis | {} |\n| Confidence | high |", "{}?", "Probable {}",
        "\u8bca\u65ad\uff1a{}",
        "{}\n\nDifferential diagnosis:\n1. Lupus\n2. Sarcoidosis", "{}. I would have been wrong otherwise.",
        "{} (ANA 1:640)",
    ],
)  # fmt: skip
def test_an_honest_shape_keeps_its_diagnosis(form: str) -> None:
    assert compare(form.format("Acute gouty arthritis"), GOUT).match


def test_a_question_mark_alone_is_one_hedge() -> None:
    verdict = compare("gout?", GOUT)
    assert verdict.match
    assert verdict.read.hedged


def test_a_table_of_several_diseases_is_several_answers() -> None:
    table = "| Diagnosis | Probability |\n|---|---|\n| Lupus | 30% |\n| Gout | 40% |\n| Sarcoidosis | 30% |"
    assert not compare(table, GOUT).match


@pytest.mark.parametrize(
    "form",
    [
        "pseudo-{}", "non-{}", "anti-{}", "placebo {}", "homeopathic {}", "sham {}", "Forget {}", "Ignore {}",
        "postpone {}",
        "Read about {}", "Discuss {} with the family", "cost of {}", "side effects of {}", "antidote to {}",
        "allergic to {}",
        "The reference treatment is {}", "Everyone wants {}", "A colleague says {}", "I wish we could give {}",
        "We lack {}",
        "Last year she had {}", "{} unavailable", "{} is too risky", "{} refused by the patient", "{} in ten years",
        "{} my foot",
        "{} in mice", "{} in another patient", "{}, just kidding", "{} x 0", "0 x {}", "{} (0% of the dose)",
        "~~{}~~",
        "<!-- {} -->", "[ ] {}", "No way {}", "{} is what the examiner wants",
    ],
)  # fmt: skip
def test_what_a_plan_does_not_stand_by_is_not_given(form: str) -> None:
    verdict = compare_plan(form.format("Colchicine and ice packs for the foot"), GOUT)
    assert (verdict.match, verdict.reason) == (False, "no_treatment_asserted")


@pytest.mark.parametrize(
    ("plan", "given"),
    [
        ("Non-invasive ventilation and colchicine", "colchicine"),
        ("Anti-TNF antibody", "Anti-TNF antibody"),
        ("Hydrocortisone 1 %", "Hydrocortisone 1 %"),
        ("Pseudomonas cover with cefepime", "cefepime"),
        ("Forget rest, but give colchicine", "give colchicine"),
        ("Guidelines recommend colchicine", "Guidelines recommend colchicine"),
        ("Surgery was refused by the patient; give colchicine", "give colchicine"),
    ],
)
def test_an_honest_plan_keeps_what_it_gives(plan: str, given: str) -> None:
    assert given in [measure.text for measure in read_plan(plan).started]


@pytest.mark.parametrize("piece", first_ones([" ", "\n", "(", "like ", "says ", "| - ", "just "]))
def test_what_stands_is_read_however_long_a_piece_goes_on(piece: str) -> None:
    text = piece * (20_000 // len(piece))
    left = text if piece.strip().isalpha() else ""
    assert (standing(text), standing(text, plan=True)) == (left, left)
    assert bool(affixed(text)) == (piece == "like ")
