"""Numbers in sentences: a noun and a verb agree with the number before them."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.measure_house import modules
from wardround.cli.outcome import open_message
from wardround.engine.batch import Progress
from wardround.engine.text import count_noun, in_number
from wardround.evaluators.reasons import WORDS, ended_by

ROOT = Path(__file__).resolve().parent.parent
PLURALS = {
    "episode": "episodes",
    "reply": "replies",
    "closed episode": "closed episodes",
    "day": "days",
    "process": "processes",
    "search": "searches",
    "criterion": "criteria",
    "is": "are",
    "was": "were",
    "has": "have",
}
NEVER_ONE = {
    "engine/models/wrappers.py": "a reply above the longest",
    "evaluators/levels/level_plots.py": "more than half of several groups",
    "evaluators/report/compare.py": "more pairs than are shown",
    "evaluators/report/intervals.py": "five cases or more",
    "scenarios/level_items/item_writing.py": "several lines",
    "scenarios/loaders/load.py": "all formats",
    "scenarios/reports/reply_parsers.py": "several categories",
    "wardround/scoring/scorings.py": "several scorings",
}
"""Files with a count that cannot be one, and why."""
IN_THE_LOG = (
    *("agents/recorded.py", "evaluators/judges/question.py", "scenarios/encounters/consultation.py"),
    *("scenarios/published/question_tasks.py", "scenarios/reports/checks.py", "scenarios/answers/diagnosis.py"),
)
"""Files whose sentences are stored or sent to a model: another word would change a replay or a verdict."""


@given(st.sampled_from(sorted(PLURALS)), st.integers(0, 2) | st.integers(3, 10**6))
def test_one_thing_is_one_and_all_other_numbers_are_many(word: str, number: int) -> None:
    assert in_number(number, word) == (word if number == 1 else PLURALS[word])
    assert count_noun(number, word) == f"{number:,} {in_number(number, word)}"


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_sentence_on_open_episodes_agrees(number: int) -> None:
    said = open_message(Progress(), number, "episode", "go on")
    assert f"{number} {'episode is' if number == 1 else 'episodes are'} open: go on" in said


def test_how_an_episode_ended_can_follow_any_number() -> None:
    """'2 endpoint failed' is no sentence; '2 completed', '2 still open' and '2 ended by the endpoint' are."""
    causes = ["doctor", "patient", "examiner", "curator", "writer", "checker", "parser", "provider", "rules", "limit"]
    for cause in (*causes, "evaluator", "judge"):
        assert cause in WORDS
        assert ended_by(cause).startswith("ended by ")


def counts(node: ast.JoinedStr) -> Iterator[str]:
    """Counts in an f-string that stand before a plural or a verb without `count_noun` or `in_number`."""
    for part, after in zip(node.values, node.values[1:], strict=False):
        if not isinstance(part, ast.FormattedValue) or not isinstance(after, ast.Constant):
            continue
        called = part.value.func if isinstance(part.value, ast.Call) else None
        grouped = isinstance(part.format_spec, ast.JoinedStr) and ast.unparse(part.format_spec).endswith(":,'")
        if (isinstance(called, ast.Name) and called.id in ("len", "sum")) or grouped:
            yield from re.findall(r"^ (?:[a-z]+ )?(?:[a-z]+[^s]s|are|were|have)\b", str(after.value))


def test_no_sentence_counts_without_agreement() -> None:
    found = {
        str(module.path.relative_to(ROOT)): sorted(counts(node))
        for module in modules(ROOT)
        for node in module.nodes
        if isinstance(node, ast.JoinedStr) and any(counts(node))
    }
    assert {path: what for path, what in found.items() if path not in (*NEVER_ONE, *IN_THE_LOG)} == {}
    assert set(NEVER_ONE) <= set(found)


@pytest.mark.parametrize("room", ["diseases", "answers", "parsers", "orders"])
def test_no_list_has_a_word_twice(room: str) -> None:
    """Neither a list of words nor the alternatives of a group of a pattern."""
    twice = []
    for path in sorted((ROOT / "scenarios" / room).glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                texts = [str(each.value) for each in ast.walk(node) if isinstance(each, ast.Constant)]
                lists = [" ".join(texts).split()] if node.func.id in ("RootWords", "list_words") else []
                if node.func.id == "regex":
                    lists = [words.split("|") for words in re.findall(r"(?<=[(:])[\w' |-]+(?=\))", "".join(texts))]
                counted = [Counter(words) for words in lists]
                twice += [(path.name, word) for words in counted for word in words if word.strip() and words[word] > 1]
    assert twice == []
