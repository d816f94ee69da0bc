"""Refusals in five languages: clauses that decline, what is left beside them, and what only looks like one."""

import pytest
from examples import first_ones
from hypothesis import given
from hypothesis import strategies as st

from wardround.scenarios.parsers.nonanswers import has_refusal, refusal_clauses, refuses, remainder, self_as_model

REFUSALS = [
    "As an AI language model I cannot diagnose",
    "As an AI language model, I cannot diagnose scurvy.",
    "I'm sorry, but I can't help with that.",
    "I can\u2019t provide medical advice, diagnosis, or treatment. Please consult a healthcare professional.",
    "Unable to determine",
    "No diagnosis can be made without further testing.",
    "The diagnosis cannot be established.",
    "I must decline to answer this question.",
    "I'm not a doctor, so I can't diagnose you.",
    "I will not provide a diagnosis.",
    "We are not able to name a disease.",
    "Sorry, I won't do that.",
    "Als KI kann ich keine Diagnose stellen.",
    "Ich kann Ihnen leider keine medizinische Diagnose geben. Bitte wenden Sie sich an einen Arzt.",
    "Es tut mir leid, ich darf nicht antworten.",
    "En tant qu'IA, je ne peux pas poser de diagnostic.",
    "Je ne suis pas en mesure d'établir un diagnostic.",
    "Lo siento, como modelo de lenguaje no puedo dar un diagnóstico.",
    "No puedo ayudarle con eso.",
    "作为人工智能语言模型\uff0c我无法提供诊断\u3002",
    "抱歉\uff0c我不能给出诊断建议\uff0c请咨询医生\u3002",
]
ANSWERS = [
    "Scurvy",
    "I cannot rule out scurvy",
    "Unable to walk: Guillain-Barré syndrome",
    "Fever of unknown origin",
    "The patient cannot give a history; Wernicke encephalopathy",
    "Inability to swallow due to achalasia",
    "Intolerance to gluten (coeliac disease)",
    "Ich denke, es ist Skorbut.",
    "Je pense au scorbut.",
    "痛风",
    "Still's disease",
]
BOTH = [
    ("I cannot diagnose anything but gout", "gout"),
    ("As an AI, I cannot provide a diagnosis. However, this is most likely scurvy.", "scurvy"),
    ("I am unable to provide a definitive diagnosis; the findings fit sarcoidosis", "sarcoidosis"),
    ("Als KI kann ich keine Diagnose stellen, aber es ist Skorbut.", "Skorbut"),
    ("Je ne peux pas poser de diagnostic, mais c'est le scorbut.", "scorbut"),
    ("No puedo dar un diagnóstico, pero parece escorbuto.", "escorbuto"),
    ("作为AI\uff0c我无法诊断\uff0c但最可能是痛风", "痛风"),
]


@pytest.mark.parametrize("text", REFUSALS)
def test_a_refusal_answers_nothing(text: str) -> None:
    assert refuses(text)


@pytest.mark.parametrize("text", ANSWERS)
def test_an_answer_is_no_refusal(text: str) -> None:
    assert not has_refusal(text)
    assert not refuses(text)


@pytest.mark.parametrize(("text", "said"), BOTH)
def test_after_a_clause_of_refusal_the_rest_is_read(text: str, said: str) -> None:
    assert has_refusal(text)
    assert not refuses(text)
    assert said in remainder(text)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("I am just a language model.", True),
        ("I'm an AI assistant and have no body.", True),
        ("Ich bin ein Sprachmodell.", True),
        ("Je suis une intelligence artificielle.", True),
        ("我是一个人工智能助手", True),
        ("I am a carpenter with a model railway.", False),
        ("I have been assisted by my wife.", False),
    ],
)
def test_speaking_of_itself_as_a_model(text: str, is_one: bool) -> None:
    assert self_as_model(text) is is_one


@given(st.sampled_from(REFUSALS), st.sampled_from(["Gout", "Acute appendicitis", "Scurvy", "痛风病"]))
def test_an_answer_after_any_refusal_is_left(refusal: str, disease: str) -> None:
    assert disease in remainder(f"{refusal}\n{disease}")


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    assert isinstance(refuses(text), bool)
    assert all(clause.strip() == clause for clause in refusal_clauses(text))


@pytest.mark.parametrize("piece", first_ones(["a", " ", "I cannot ", "no ", "je ne peux ", "ich kann ", "不能", ", "]))
def test_a_megabyte_is_read_at_once(piece: str) -> None:
    refuses(piece * (1_000_000 // len(piece)))
