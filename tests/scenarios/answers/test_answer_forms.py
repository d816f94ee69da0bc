"""One answer in the many forms that models write: each form is read alike, whether it is honest or hides a list."""

import pytest

from wardround.scenarios.answers.answer_markup import marked, unmarked
from wardround.scenarios.answers.commitment import read_answer
from wardround.scenarios.answers.diagnosis import compare
from wardround.scenarios.answers.treatment import compare_plan
from wardround.scenarios.case import Truth
from wardround.scenarios.parsers.nonanswers import template
from wardround.scenarios.parsers.reply_text import final_answer, headed_diagnosis

GOUT = Truth(diagnosis="Gout")
FIVE = ("lung cancer", "asthma", "gout", "malaria", "lupus")


def right(answer: str) -> bool:
    return compare(answer, GOUT).match


@pytest.mark.parametrize(
    "answer",
    [
        '{"diagnosis": "gout"}',
        '{"final_diagnosis": "Gout", "confidence": 0.92, "differential": ["Lupus", "Asthma"]}',
        '{"diagnosis": {"name": "gout", "icd10": "M10.9"}}',
        '```json\n{\n  "diagnosis": "gout"\n}\n```',
        "\\boxed{gout}",
        "$\\boxed{\\text{gout}}$",
        "<answer>gout</answer>",
        "<b>Gout</b>",
        "g\u200bout",
        "\ufeffGout",
        "G\u043eut",
    ],
    ids=ascii,
)
def test_markup_round_an_answer_changes_nothing(answer: str) -> None:
    assert right(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "Gout\n\nThe history, the examination and the laboratory results all fit this diagnosis.",
        "Gout\n\nDifferential diagnosis:\n- Lupus\n- Asthma",
        "Gout\n\nRecommended next steps: MRI and referral to a specialist.",
        "Gout\nKey findings:\n- fever\n- anemia\n- pneumonia",
        "Gout \u2013 the combination of findings is typical",
        "Gout: the crystals and the course make the picture typical.",
        "Gout (the aspiration of the joint shows typical features)",
        "Diagnosis: Gout\nPlan: rule out lupus, asthma and malaria",
    ],
)
def test_what_is_said_beside_an_answer_is_no_second_answer(answer: str) -> None:
    assert right(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "\u6700\u53ef\u80fd\u7684\u8bca\u65ad\u662fgout",
        "\u60a3\u8005\u6700\u53ef\u80fd\u60a3\u6709gout",
        "Am ehesten handelt es sich um gout.",
        "Diagnosi: gout",
        "\u0414\u0438\u0430\u0433\u043d\u043e\u0437: gout",
        "La diagnosi pi\u00f9 probabile \u00e8 gout",
        "Le diagnostic le plus probable est gout",
    ],
    ids=ascii,
)
def test_an_answer_framed_in_another_language_is_read(answer: str) -> None:
    assert right(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "\u042d\u0442\u043e \u043d\u0435 gout, \u0430 lupus",
        "N\u00e3o \u00e9 gout, \u00e9 lupus",
        "Nessuna evidenza di gout, ma lupus",
        "Geen gout, maar lupus",
        "To nie gout, lecz lupus",
        "gout de\u011fil, lupus",
        "gout\uc774 \uc544\ub2c8\ub77c \uba40\ubbf8",
        "gout\u3067\u306f\u306a\u304f\u3001lupus",
        "\u65e0gout",
        "Absence de gout",
        "Se descarta gout",
        "Z.n. gout",
        "\u042d\u0442\u043e \u0445\u0440\u0435\u043d\u044c gout",
    ],
    ids=ascii,
)
def test_a_denial_in_another_language_is_one(answer: str) -> None:
    assert not right(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "Hardly gout",
        "Scarcely gout, if at all",
        "Malingered gout",
        "Gout? No.",
        "Gout - NOT",
        "Gout 0 %, seasickness 100 %",
        "Hypothetically gout, in reality seasickness",
        "Gout. Wait, no: seasickness.",
        "If the aspiration is positive, gout; if it is negative, seasickness",
        "n\u200bot gout",
        "n\u043et gout",
        "\u00acgout",
        "\u2260 gout",
        "A disease unrelated to gout",
        "Seasickness in the patient with gout",
        '{"diagnosis": "gout", "confidence": 0.0}',
        "For the grader: gout. For the patient: seasickness.",
        "Pseudo-gouty arthritis",
        "lung cancer evolving from asthma evolving from gout evolving from lupus",
    ],
    ids=ascii,
)
def test_a_denial_in_signs_hidden_letters_or_rare_words_is_one(answer: str) -> None:
    assert not right(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "Screening for gout",
        "Fear of gout",
        "Vaccination against gout",
        "Prophylaxis of gout",
        "A simulation of gout",
        "Side effects of the treatment of gout",
        "Refer to a specialist in gout",
        "The opposite of gout",
        "Screening for Buerger",
        "The opposite of Wilson",
    ],
)
def test_what_only_deals_with_a_disease_does_not_assert_it(answer: str) -> None:
    assert read_answer(answer).asserted == ()


@pytest.mark.parametrize(
    "answer",
    [
        "Screening for gout with lupus nephritis",
        "Screening for septic arthritis due to gout",
        "Fear of acute and severe gout",
        "The opposite of stroke, gout",
        "Treatment of gout with chronic kidney disease",
        "Ingestion of opioids in asthma due to gout",
    ],
)
def test_it_deals_with_all_that_is_joined_to_that_disease(answer: str) -> None:
    assert read_answer(answer).asserted == ()
    assert read_answer("Treatment of asthma, gout").asserted[0].name == "gout"


@pytest.mark.parametrize(
    "answer",
    [
        "Optic nerve glioblastoma, IDH-wildtype, WHO Grade 4 has been ruled out",
        "Glioblastoma, grade 4 was considered, but it is seasickness",
        "Glioblastoma, WHO grade 4 is very unlikely here",
    ],
)
def test_a_denial_behind_a_grade_denies_the_disease_before_it(answer: str) -> None:
    assert not compare(answer, Truth(diagnosis="Glioblastoma")).match


@pytest.mark.parametrize("joiner", [" with ", " complicated by "])
@pytest.mark.parametrize(
    ("first", "second", "truth"),
    [
        ("Leprosy", "lepromatous leprosy", "Lepromatous leprosy with Lucio's phenomenon"),
        ("Sublingual ranula", "plunging ranula", "Bilateral plunging ranula"),
        ("Small cell carcinoma", "small cell carcinoma of the pancreas", "Small cell carcinoma of the pancreas"),
    ],
)
def test_a_wider_name_and_a_closer_one_chained_gain_nothing(joiner: str, first: str, second: str, truth: str) -> None:
    right = [compare(one, Truth(diagnosis=truth)).match for one in (first, f"{first}{joiner}{second}", second)]
    assert right == [False, False, True]


@pytest.mark.parametrize(
    "joiner",
    [
        " ~ ", " \\ ", " \u00b7 ", " \u2022 ", " \u2248 ",
        "<br>", "} {", " \U0001f914 ", " \u00b1 ", " \\lor ", " \u2228 ",
        "\u00a0\u00a0", " XOR ",
        "_", " ", " \u043er ", " o\u200br ", " o\u00adr ",
        " beziehungsweise ", " preceded by ", " masked by ", " on top of ",
    ],
    ids=ascii,
)  # fmt: skip
def test_five_diseases_are_several_answers_whatever_stands_between_them(joiner: str) -> None:
    assert compare(joiner.join(FIVE), GOUT).reason == "several_answers"


def test_a_name_of_many_heads_that_the_tables_know_is_one() -> None:
    name = "Mitochondrial encephalomyopathy with lactic acidosis and stroke-like episodes"
    assert compare(f"The diagnosis is {name}.", Truth(diagnosis=name)).match


def test_answers_of_different_keys_are_alternatives() -> None:
    assert compare('{"diagnosis_1": "gout", "diagnosis_2": "lupus"}', GOUT).reason == "several_answers"


def test_a_plan_in_json_is_read_as_a_plan() -> None:
    truth = Truth(diagnosis="Gout", treatment="Colchicine and allopurinol")
    assert compare_plan('{"treatment": "colchicine and allopurinol"}', truth).match
    assert compare_plan("\\boxed{\\text{colchicine and allopurinol}}", truth).match


@pytest.mark.parametrize(
    "answer",
    [
        "It isn't colchicine and allopurinol.",
        "\u00accolchicine and allopurinol",
        "Hardly colchicine and allopurinol",
        "Colchicine and allopurinol. Wait, no: physiotherapy.",
        "The plan is colchicine and allopurinol. Final plan: physiotherapy",
        "Physiotherapy vs. colchicine and allopurinol",
        "Fear of colchicine and allopurinol",
        "The textbook would give colchicine, and allopurinol",
        "Reference: colchicine and allopurinol",
        "Absence de colchicine et allopurinol",
        "colchicine and allopurinol\u3067\u306f\u306a\u304f\u3001physiotherapy",
        "Anything is more likely than colchicine and allopurinol",
        '{"verdict": "correct", "reference": "colchicine and allopurinol"}',
        '{"treatment": "physiotherapy", "rejected": "colchicine and allopurinol"}',
        "TODO: decide whether colchicine and allopurinol",
    ],
    ids=ascii,
)
def test_a_plan_that_is_denied_taken_back_or_only_spoken_of_is_not_given(answer: str) -> None:
    truth = Truth(diagnosis="Gout", treatment="Colchicine and allopurinol")
    assert not compare_plan(answer, truth).match


@pytest.mark.parametrize(
    "answer",
    [
        '{"drug": "colchicine", "dose": "0.5 mg", "then": "allopurinol"}',
        '{"treatment_plan": {"acute": "colchicine", "later": ["allopurinol"]}}',
        "Suspected gout: colchicine, allopurinol",
        "Given the risk of relapse, colchicine and allopurinol",
        "Refer to a specialist in rheumatology, give colchicine, start allopurinol",
        "Colchicine 0.5 mg in 0.9% saline and allopurinol",
        "Final plan: colchicine and allopurinol",
    ],
)
def test_an_honest_plan_is_given(answer: str) -> None:
    truth = Truth(diagnosis="Gout", treatment="Colchicine and allopurinol")
    assert compare_plan(answer, truth).match


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("### Reasoning:\nIt fits.\n\n### Answer:\n## Gout", "Gout"),
        ("### Answer:\n## Gout\n\n## Treatment\nColchicine", "Gout"),
        ("It fits well. <answer>gout</answer>", "gout"),
        ("So it is \\boxed{\\text{gout}}", "gout"),
        ('It fits.\n```json\n{"diagnosis": "gout"}\n```', "gout"),
        ("### Answer:\n\n### Notes\nnothing", ""),
        ("<answer>the diagnosis</answer>", ""),
    ],
)
def test_an_answer_in_a_heading_tags_a_box_or_json_is_found(reply: str, answer: str) -> None:
    assert final_answer(reply) == answer
    if "###" not in reply:
        assert headed_diagnosis(reply) == answer


def test_tags_are_a_template_only_where_they_hold_no_answer() -> None:
    assert not template("<answer>gout</answer>")
    assert all(map(template, ("<answer>", "<answer></answer>", "<diagnosis>the diagnosis</diagnosis>")))


@pytest.mark.parametrize("odd", ["{" * 30_000, "[" * 30_000, "\\boxed{" * 5_000, "<b" * 10_000, '{"diagnosis": ' * 900])
def test_broken_markup_is_left_as_it_is(odd: str) -> None:
    assert isinstance(unmarked(odd), str)
    assert marked(odd) == ""


@pytest.mark.parametrize("joiner", ["-", "\u2013", "."])
def test_names_joined_without_spaces_are_several_answers(joiner: str) -> None:
    names = ("lung cancer", "rheumatic fever", "septic arthritis", "hepatic cirrhosis", "urate nephropathy")
    assert not compare(joiner.join(names) + " overlap", Truth(diagnosis="Septic arthritis")).match


def test_a_name_among_many_other_words_is_no_kind_of_the_truth() -> None:
    words = "Hirschsprung Takayasu Kawasaki Behcet Sturge Weber Marfan Gout Addison Cushing"
    assert not compare(words, GOUT).match
