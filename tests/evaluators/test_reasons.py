"""Every reason that the code can give has words for people; one of a plug-in is shown as it is."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.engine.limits import Limits
from wardround.evaluators.evaluation import UNANSWERED, ZERO
from wardround.evaluators.judges.strict_reply import Why
from wardround.evaluators.measures import UNDEFINED
from wardround.evaluators.metrics.grade import WORTH
from wardround.evaluators.reasons import (
    ANY_SCORE,
    CAUSES,
    EXACT,
    OF_SCORE,
    WORDS,
    ended_by,
    list_left_out,
    list_reasons,
    phrase,
    spaced,
)
from wardround.evaluators.search.results import KINDS
from wardround.scenarios.papers import PAPERS

ROOT = Path(__file__).resolve().parents[2]
CODE = re.compile(r"[a-z]+(?:_[a-z]+)+|[a-z_]+/[a-z_]+")
TAKEN = {"Score": (2,), "Ending": (0, 1), "failed": (0, 1), "ProviderError": (0,), "SearchError": (0,), "Ended": ()}
"""Where a call takes a reason, by the name of what is called."""
NO_REASON = {"final_diagnosis", "treatment_planning_analysis"}
"""Strings beside the word `reason` that are none: keys of a file."""


def strings(node: ast.AST) -> Iterator[str]:
    for found in ast.walk(node):
        if isinstance(found, ast.Constant) and isinstance(found.value, str):
            yield found.value


def given_by(path: Path) -> Iterator[str]:
    """The reasons that a module gives: in the calls that take one, in `reason=`, and returned where one is asked."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            for place in TAKEN.get(name, ()):
                if place < len(node.args):
                    yield from strings(node.args[place])
            for keyword in node.keywords:
                if keyword.arg in ("reason", "macro_reason", "ci95_reason", "basis_reason"):
                    yield from (text for text in strings(keyword.value) if CODE.fullmatch(text))
        if isinstance(node, ast.FunctionDef) and re.search(r"reason|missed|unscored|why|untaken", node.name):
            for inner in ast.walk(node):
                if isinstance(inner, ast.Return) and inner.value is not None:
                    yield from (text for text in strings(inner.value) if CODE.fullmatch(text))


def every() -> dict[str, str]:
    """Each reason of the house's own code with the module that gives it."""
    found: dict[str, str] = {}
    for folder in ("engine", "scenarios", "agents", "evaluators"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for reason in given_by(path):
                if re.fullmatch(r"[a-z][a-z_]*(?:/[a-z_]+)?", reason) and reason not in NO_REASON:
                    found.setdefault(reason, str(path.relative_to(ROOT)))
    named = {
        "judges/strict_reply.py": get_args(Why),
        "search/results.py": KINDS,
        "engine/limits.py": Limits.__struct_fields__,
        "evaluators/evaluation.py": UNANSWERED,
        "evaluators/measures.py": UNDEFINED,
    }
    return found | {reason: path for path, reasons in named.items() for reason in reasons}


def is_known(reason: str) -> bool:
    """Whether there are words for a reason, or for its cause and the rest."""
    cause, slash, rest = reason.partition("/")
    return reason in {*WORDS, *EXACT} or (bool(slash) and cause in CAUSES and is_known(rest))


@pytest.mark.long
def test_every_reason_of_the_code_has_words() -> None:
    found = every()
    assert {"no_thinking", "no_answer", "nothing_recorded", "timeout", "prose", "bad_action", "no_truth"} <= set(found)
    missing = {reason: path for reason, path in found.items() if not is_known(reason)}
    assert missing == {}, "give them a phrase in evaluators/reasons.py"


def test_a_cause_with_its_reason_has_words_in_every_pair() -> None:
    for cause in CAUSES:
        for reason in ("timeout", "no_answer", "error", "leak", "tokens", "prose"):
            said = phrase(f"{cause}/{reason}")
            assert "_" not in said
            assert "/" not in said
            assert len(said) > len(reason) - 3


def test_words_are_plain_english_and_short() -> None:
    for reason in sorted({*WORDS, *EXACT}):
        said = phrase(reason)
        assert "_" not in said, reason
        assert len(said) <= 48, said
        assert not said.endswith("."), reason


def test_an_unknown_reason_is_shown_as_it_is_without_underscores() -> None:
    assert phrase("stars_not_aligned") == "stars not aligned"
    assert phrase("oracle_of/bad_day") == "oracle of: bad day"
    assert phrase("") == ""
    assert not is_known("stars_not_aligned")
    assert not is_known("oracle_of/bad_day")


def test_a_score_has_the_words_of_its_own_reasons_alone() -> None:
    """A plug-in may give its own score any code of the house, and means something else by it."""
    own = {*ANY_SCORE, *ZERO, *UNANSWERED, *EXACT}
    for reason in sorted({*WORDS, *OF_SCORE["diagnosis_grade"]} - own):
        assert phrase(reason, "bedside_manner") == spaced(reason)
        assert list_reasons({reason: 2}, "bedside_manner") == f"{spaced(reason)}\u00a0(2)"
    assert own - ANY_SCORE.keys() <= EXACT.keys()
    assert phrase("no_answer", "bedside_manner") == "no answer"
    assert phrase("provider/timeout, no_truth", "bedside_manner") == (
        "the endpoint gave no reply in time, the case has no reference answer"
    )
    assert phrase("no_thinking", "factuality_formal") == "no separate thinking part"
    assert phrase("other", "factuality_formal") == "other"
    assert phrase("truth_unknown", "diagnosis_grade") == "true disease not in the tables"
    assert set(WORTH) <= OF_SCORE["diagnosis_grade"].keys()
    assert phrase("child", "diagnosis_grade") == "a kind of the true disease"


@given(st.text(max_size=40))
def test_any_text_has_words(reason: str) -> None:
    assert "_" not in phrase(reason)


def test_endings_and_lists_of_reasons() -> None:
    assert ended_by(None) == "still open"
    assert ended_by("completed") == "completed"
    assert ended_by("provider", "timeout") == "the endpoint gave no reply in time"
    assert list_reasons({"no_thinking": 1, "nothing_verified": 7}) == (
        "no step could be verified\u00a0(7); no separate thinking part\u00a0(1)"
    )


def test_papers_have_titles_and_addresses() -> None:
    assert len({paper.url for paper in PAPERS}) == len(PAPERS) >= 5
    for paper in PAPERS:
        assert paper.url.startswith("https://")
        assert len(paper.title) > len(paper.short)


@pytest.mark.shared
def test_the_titles_are_those_of_the_texts() -> None:
    folder = ROOT.parent / "shared" / "papers"
    if not folder.is_dir():
        pytest.skip("the folder of papers is not beside the project")
    plain = {"".join(re.findall(r"\w+", path.read_text(encoding="utf-8")[:400].lower())) for path in folder.iterdir()}
    for text in plain:
        assert any("".join(re.findall(r"\w+", paper.title.lower())) in text for paper in PAPERS), text[:80]


def test_cases_left_out_are_listed_by_reason_with_the_number_that_is_not_named() -> None:
    silent = [(f"c{number}", "replies:r.json has nothing for it") for number in range(5)]
    assert list_left_out(silent, 5) == "replies:r.json has nothing for it (c0, c1, c2 and 2 more)"
    assert list_left_out(silent, 1005) == "replies:r.json has nothing for it (c0, c1, c2 and 1,002 more)"
    two = list_left_out([("a", "no truth"), *silent[:2]], 3)
    assert two == "no truth (a); replies:r.json has nothing for it (c0, c1)"
    many = list_left_out([("a", "1"), ("b", "2"), ("c", "3"), ("d", "4")], 4)
    assert many == "1 (a); 2 (b); 3 (c); and 1 other reason"
