"""The scales of LLMEval-Med against its appendix D, written here from the formula, and its printed tables."""

from collections.abc import Mapping, Sequence
from itertools import product

import pytest

from wardround.evaluators.open_answers.checklist_scale import (
    CATEGORIES,
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


PRINTED: Mapping[str, Sequence[float]] = {
    "Deepseek-R1": (64.23, 84.16, 69.64, 63.40, 59.63, 44.33),
    "Qwen-72B": (51.53, 55.56, 47.42, 50.83, 60.55, 43.30),
    "Qwen-32B": (48.87, 52.25, 46.48, 42.24, 61.11, 42.27),
    "Deepseek-V3": (48.03, 51.06, 53.68, 38.24, 47.71, 49.48),
    "Mistral-24B": (46.42, 45.15, 43.35, 28.10, 50.15, 22.68),
    "llama-3.1-8B": (26.65, 16.78, 20.50, 18.63, 25.38, 29.90),
    "o1-preview": (61.23, 65.25, 63.85, 62.75, 64.81, 49.48),
    "GPT-4o": (58.73, 61.23, 56.34, 55.23, 56.27, 64.58),
    "o1-mini": (57.86, 56.03, 60.09, 60.40, 63.30, 49.48),
    "Baichuan-M1": (60.34, 70.69, 63.22, 62.09, 50.76, 54.95),
    "Baichuan-M1-14B": (55.43, 62.88, 40.53, 55.23, 70.03, 48.45),
    "HuatuoGPT-o1-72B": (52.27, 53.43, 49.45, 56.86, 56.27, 45.36),
    "DISC-MedLLM": (11.34, 7.09, 10.02, 7.52, 23.24, 2.06),
}
"""Table 2 in percent: overall, then knowledge, language, reasoning, ethics, generation."""
DENOMINATORS = (423, 639, 306, 327, 97)
"""Items x 3 markings; the generated texts were judged once, by people."""


def test_58_of_65_printed_rates_are_a_count_over_their_items() -> None:
    def counted(rate: float, n: int) -> bool:
        return any(abs(100 * k / n - rate) < 0.005 + 1e-9 for k in (int(rate * n / 100), int(rate * n / 100) + 1))

    found = [counted(rate, n) for row in PRINTED.values() for rate, n in zip(row[1:], DENOMINATORS, strict=True)]
    assert (sum(found), len(found)) == (58, 65)


def test_the_printed_overall_rate_is_the_unweighted_mean_of_five() -> None:
    assert len(CATEGORIES) == 5
    same = [name for name, row in PRINTED.items() if abs(sum(row[1:]) / 5 - row[0]) < 0.01]  # all six are rounded
    assert len(same) == 10, same
