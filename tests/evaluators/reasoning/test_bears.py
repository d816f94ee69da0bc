"""Which quotations speak of what a step claims."""

import pytest

from wardround.evaluators.reasoning.evidence import bears, named_concepts

GOUT = "Gout causes joint swelling in the big toe at night."


@pytest.mark.parametrize(
    ("step", "quote", "context"),
    [
        ("Hyperthyroidism explains the weight loss.", "Weight loss is common in hyperthyroidism.", ""),
        ("Hyperthyroidism explains the weight loss.", "Weight loss is found in nine of ten.", "Hyperthyroidism"),
        ("The wrist drop fits lead poisoning.", "Lead neuropathy shows as wrist drop.", "Lead poisoning in adults"),
        ("BRAF V600E is found in nearly all hairy cell leukemia.", "BRAF V600E is found in nearly all.", "Leukemia"),
        ("Fluoroquinolones worsen weakness.", "Weakness is made worse by fluoroquinolones.", ""),
        ("It hurts. Hyperthyroidism explains the weight loss.", "In hyperthyroidism weight loss is usual.", ""),
    ],
)
def test_words_that_hold_subject_and_object_bear(step: str, quote: str, context: str) -> None:
    assert bears(step, quote, context)


@pytest.mark.parametrize(
    ("step", "quote", "context"),
    [
        ("Hyperthyroidism explains the weight loss.", "Weight loss is common in cancer.", "Lung cancer"),
        ("Hyperthyroidism explains the weight loss.", "Most patients recover within weeks.", "Hyperthyroidism"),
        ("Hyperthyroidism explains the weight loss.", "Hyperthyroidism is more common in women.", ""),
        ("Fluoroquinolones worsen weakness.", "Rest improves strength.", "Myasthenia gravis"),
        (GOUT, "Asthma makes one wheeze at night.", ""),
        ("", "Gout causes swelling.", ""),
        (GOUT, "", "Gout"),
    ],
)
def test_words_that_speak_of_something_else_do_not(step: str, quote: str, context: str) -> None:
    assert not bears(step, quote, context)


def test_modifiers_of_the_ontology_are_no_concepts() -> None:
    assert named_concepts("On the right it is severe and chronic.") == {}
