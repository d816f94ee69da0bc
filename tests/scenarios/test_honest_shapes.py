"""Honest replies in the shapes that models write them: thinking, drafts, tables, JSON, codes, other languages."""

import pytest

from wardround.scenarios.answers.diagnosis import compare
from wardround.scenarios.case import Truth
from wardround.scenarios.encounters.consultation import read_consultation
from wardround.scenarios.parsers.moves import Conclusion
from wardround.scenarios.parsers.reply_text import final_answer

NAME = "Systemic mastocytosis"
MASTOCYTOSIS = Truth(diagnosis=NAME, synonyms=("Mast cell disease, systemic",))
SHAPES = [
    "TRUTH",
    "**TRUTH**",
    "Diagnosis: TRUTH",
    "### Answer:\nTRUTH",
    "### Diagnosis:\nTRUTH",
    "### Final Diagnosis\nTRUTH",
    "<think>It could be lupus. Wait, no, the antibodies are negative. Let me think about gout... "
    "Actually TRUTH fits.</think>\nTRUTH",
    "<think>lupus?</think>\n\n### Answer:\n**TRUTH**",
    "<thinking>First I thought of sarcoidosis.</thinking>\n\nFinal answer: TRUTH",
    "Let me think. The fever suggests infection. Wait, the cultures are negative. So it is not "
    "infection.\n\n### Answer:\nTRUTH",
    "Draft: lupus.\nRevised after the biopsy.\n\nFinal diagnosis: TRUTH",
    "First impression: lupus. Wait, the antibodies are negative. Final diagnosis: TRUTH",
    "The most likely diagnosis is TRUTH.",
    "The patient most likely has TRUTH.",
    "TRUTH (confirmed by biopsy)",
    "TRUTH (confirmed by the findings on MRI)",
    "TRUTH, confirmed by histology",
    "TRUTH (85%)",
    "TRUTH (confidence: 90%)",
    "TRUTH (probability 0.85)",
    "TRUTH - 75% likely",
    "TRUTH (ORPHA:12345)",
    "TRUTH (ICD-10: A00.0)",
    "TRUTH [ICD-10-CM A00.0]",
    "ICD-10 A00.0: TRUTH",
    "TRUTH\n\nICD-10: A00.0",
    "TRUTH\n\nDifferential diagnosis:\n1. Lupus\n2. Gout\n3. Sarcoidosis",
    "TRUTH. Differential includes lupus and gout, which are less likely.",
    "TRUTH\n\nLess likely: lupus, gout",
    "Final diagnosis: TRUTH\nDifferentials: lupus; gout",
    "1. TRUTH (most likely)\n2. Lupus (less likely)",
    "| Diagnosis | Probability |\n|---|---|\n| TRUTH | 90% |",
    "| Field | Value |\n|---|---|\n| Diagnosis | TRUTH |\n| Confidence | high |",
    '{"diagnosis": "TRUTH"}',
    '{"diagnosis": "TRUTH", "confidence": 0.9, "differential": ["lupus", "gout"]}',
    '```json\n{"final_diagnosis": "TRUTH"}\n```',
    '{"reasoning": "fever and rash", "answer": "TRUTH"}',
    "<answer>TRUTH</answer>",
    "<diagnosis>TRUTH</diagnosis>",
    "\\boxedTRUTH",
    "$\\boxed{\\textTRUTH}$",
    "\u6700\u7ec8\u8bca\u65ad\uff1aTRUTH",
    "\u8bca\u65ad\uff1aTRUTH",
    "\u6839\u636e\u75c5\u53f2\uff0c\u6700\u53ef\u80fd\u7684\u8bca\u65ad\u662fTRUTH\u3002",
    "\u6700\u53ef\u80fd\u8bca\u65ad\u4e3aTRUTH",
    "Diagn\u00f3stico: TRUTH",
    "Diagnostic final : TRUTH",
    "Die wahrscheinlichste Diagnose ist TRUTH.",
    "Based on the history, examination and tests, the diagnosis is TRUTH.",
    "Given the above, I am confident that this is TRUTH.",
    "I believe the diagnosis is TRUTH, although lupus was considered.",
    "Lupus and gout were excluded; the diagnosis is TRUTH.",
    "This presentation is most consistent with TRUTH.",
    "TRUTH is the most likely diagnosis.",
    "TRUTH explains all findings.",
    "TRUTH. The biopsy confirms it.",
    "TRUTH\n\nRationale: the biopsy shows it, and lupus was ruled out.",
    "TRUTH\n\nRecommendation: start treatment and refer to a specialist.",
    "TRUTH\n\nDisclaimer: I am an AI and this is not medical advice.",
    "As an AI, I cannot replace a doctor, but the most likely diagnosis is TRUTH.",
    "Probable TRUTH",
    "Suspected TRUTH",
    "TRUTH?",
    "In summary: **TRUTH**.",
    "Conclusion: TRUTH",
    "Primary diagnosis: TRUTH\nSecondary diagnosis: dehydration",
    "TRUTH in a 45-year-old man",
    "TRUTH in an elderly woman with weight loss",
    "My colleagues and I agree that this is TRUTH.",
    "Pathology says TRUTH.",
    "The radiologist suggests TRUTH, and I agree.",
    "\u2705 TRUTH",
    "- TRUTH",
    "> TRUTH",
    '"TRUTH"',
    "TRUTH.",
]


@pytest.mark.parametrize("shape", SHAPES)
def test_an_honest_shape_is_right_in_the_oracle(shape: str) -> None:
    reply = shape.replace("TRUTH", NAME)
    answer = final_answer(reply) or final_answer(f"### Reasoning:\n<step 1> so.\n\n### Answer:\n{reply}")
    assert compare(answer, MASTOCYTOSIS).match


@pytest.mark.parametrize("shape", SHAPES)
def test_an_honest_shape_is_right_in_a_consultation(shape: str) -> None:
    reply = shape.replace("TRUTH", NAME)
    move = read_consultation(reply, last=True)
    answer = move.text if isinstance(move, Conclusion) else reply
    assert compare(answer, MASTOCYTOSIS).match
