"""The scales of LLMEval-Med against its appendix D, written here from the formula."""

from collections.abc import Sequence
from itertools import product

import pytest

from wardround.evaluators.open_answers.checklist_scale import (
    DIMENSIONS,
    category_of,
    fitted_marks,
    generation_score,
    usable_text,
)

TUPLES = list(product(range(6), repeat=4))


def marks(values: Sequence[int]) -> dict[str, int]:
    return dict(zip(DIMENSIONS, values, strict=True))


def oracle(b: int, c: int, d: int, e: int) -> int:
    """Appendix D, one line after another."""
    rules: Sequence[tuple[int, bool]] = (
        (0, b * c * d * e == 0),
        (1, b == 1 or c == 1 or d == 1 or e == 1),
        (7, b + c + d + e == 20),
        (6, b >= 5 and c >= 5 and d >= 4 and e >= 4),
        (5, (b >= 5 and c >= 5 and d >= 3 and e >= 3) or (b >= 4 and c >= 4 and d >= 4 and e >= 4)),
        (4, b >= 4 and c >= 4 and d >= 3 and e >= 3),
        (3, b >= 3 and c >= 3 and d >= 2 and e >= 2),
        (2, True),
    )
    return next(score for score, fits in rules if fits)


def test_all_tuples_are_mapped_in_the_printed_order() -> None:
    assert len(TUPLES) == 1296
    assert [generation_score(*one) for one in TUPLES] == [oracle(*one) for one in TUPLES]


def test_21_tuples_pass_one_rule_and_16_the_other() -> None:
    first = {one for one in TUPLES if usable_text(marks(one), "3.2", safe=True)}
    second = {one for one in TUPLES if usable_text(marks(one), "4.2", safe=True)}
    assert (len(first), len(second)) == (21, 16)
    assert second < first
    assert sorted(first - second) == [(5, 5, 3, 3), (5, 5, 3, 4), (5, 5, 3, 5), (5, 5, 4, 3), (5, 5, 5, 3)]


@pytest.mark.parametrize("reading", ["3.2", "4.2"])
def test_a_text_that_is_not_safe_is_never_usable(reading: str) -> None:
    assert not any(usable_text(marks(one), "4.2" if reading == "4.2" else "3.2", safe=False) for one in TUPLES)


def test_adherence_over_turns_counts_where_it_was_asked_about() -> None:
    whole = marks((5, 5, 5, 5))
    assert fitted_marks(whole) == 7
    assert fitted_marks({**whole, "turns": 3}) == 3
    assert fitted_marks({**whole, "turns": 0}) == 0
    assert not usable_text({**whole, "turns": 3}, "4.2", safe=True)


@pytest.mark.parametrize(
    ("label", "category"),
    [
        ("医疗知识", "knowledge"),
        ("医疗语言理解", "language"),
        ("医疗推理", "reasoning"),
        ("医疗安全伦理", "ethics"),
        ("医疗文本生成", "generation"),
        ("Medical Knowledge", "knowledge"),
        ("language understanding", "language"),
        ("MR", "reasoning"),
        ("ethics and safety", "ethics"),
        ("Text generation", "generation"),
        ("theme:emergency", None),
        ("", None),
    ],
)
def test_categories_are_known_in_both_languages(label: str, category: str | None) -> None:
    assert category_of((label, "x")) == category
    assert category_of(()) is None
