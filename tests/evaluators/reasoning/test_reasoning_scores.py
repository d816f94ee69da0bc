"""Equations 4 to 6 under both rule sets, by worked examples and by what must hold for any labels."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.evaluators.measures import Part
from wardround.evaluators.reasoning.reasoning_record import (
    PartAccount,
    ReferenceAccount,
    StepAccount,
    StepCounts,
    combined_part,
    count,
    scores,
)
from wardround.evaluators.reasoning.step_questions import Rules, StepClass, StepVerdict

LABELS = {
    "c": StepAccount("c", StepClass.CITATION),
    "p": StepAccount("p", StepClass.REPETITION),
    "d": StepAccount("d", StepClass.REDUNDANCY),
    "R": StepAccount("R", StepClass.REASONING, StepVerdict.CORRECT),
    "W": StepAccount("W", StepClass.REASONING, StepVerdict.WRONG),
    "U": StepAccount("U", StepClass.REASONING, StepVerdict.UNVERIFIABLE, "unresolved"),
    "S": StepAccount("S", StepClass.REASONING, StepVerdict.UNVERIFIABLE, "search/connection"),
    "?": StepAccount("?", None, reason="judge_unreadable/prose"),
    "x": StepAccount("x", StepClass.REASONING, None, "judge/timeout"),
}


def reply(labels: str, hits: str | None = None, part: Part = "formal") -> PartAccount:
    """Steps by letter; reference steps: r found in the reasoning, a in the answer, - nowhere, ? not known."""
    reference = None
    if hits is not None:
        reference = tuple(
            ReferenceAccount(
                sign,
                None if sign == "?" else sign == "r",
                sign == "a",
                place == len(hits) - 1,
                "judge/timeout" if sign == "?" else "",
            )
            for place, sign in enumerate(hits)
        )
    return combined_part(part, tuple(LABELS[label] for label in labels), "" if labels else "no_reasoning", reference)


def told(judged: PartAccount, rules: Rules = "default") -> dict[str, float | str | None]:
    """Each figure, or its reason."""
    return {score.name: score.reason if score.value is None else score.value for score in scores(judged, rules)}


def test_a_worked_example() -> None:
    """Of 6 steps 4 reason; of these 2 hold, 1 does not and 1 is open. Of 4 reference steps 1 stands in the answer."""
    judged = reply("cRRWUd", "r-ra")
    assert told(judged) == {
        "steps_formal": 6,
        "efficiency_formal": 4 / 6,
        "efficiency_low_formal": 4 / 6,
        "efficiency_high_formal": 4 / 6,
        "factuality_formal": 2 / 3,
        "factuality_low_formal": 2 / 4,
        "factuality_high_formal": 3 / 4,
        "unverifiable_formal": 1 / 4,
        "completeness_formal": 3 / 4,
        "completeness_without_answer_formal": 2 / 3,
    }
    assert told(judged, "published") == {
        "published_efficiency_formal": 4 / 6,
        "published_factuality_formal": 2 / 4,
        "published_completeness_formal": 2 / 4,
    }
    assert count(judged.steps) == StepCounts(steps=6, unclassified=0, reasoning=4, correct=2, wrong=1, unverifiable=1)


def test_where_nothing_is_defined_there_is_a_reason_and_published_has_a_zero() -> None:
    assert told(reply("cd"))["factuality_formal"] == "no_reasoning_step"
    assert told(reply("cd"))["efficiency_formal"] == 0
    assert told(reply("cd"), "published")["published_factuality_formal"] == 0
    assert told(reply("UU"))["factuality_formal"] == "nothing_verified"
    assert told(reply("UU"))["factuality_high_formal"] == 1
    assert told(reply("UU"), "published")["published_factuality_formal"] == 0
    assert set(told(reply("")).values()) == {"no_reasoning", "no_reference"}
    assert told(reply("", ""), "published") == dict.fromkeys(
        ("published_efficiency_formal", "published_factuality_formal", "published_completeness_formal"), 0
    )


def test_a_step_for_which_the_search_failed_is_not_wrong() -> None:
    published = told(reply("RSc", "r"), "published")
    assert published["published_factuality_formal"] == "search/connection"
    assert published["published_efficiency_formal"] == 2 / 3
    assert published["published_completeness_formal"] == 1
    assert told(reply("RSc"))["factuality_formal"] == 1
    assert told(reply("RSc"))["factuality_low_formal"] == 1 / 2


def test_completeness_without_a_reference_is_none_under_both() -> None:
    assert told(reply("R"))["completeness_formal"] == "no_reference"
    assert told(reply("R"), "published")["published_completeness_formal"] == "no_reference"
    assert told(reply("R", "a"))["completeness_without_answer_formal"] == "only_the_answer"


def test_a_part_that_the_model_does_not_have_is_no_zero() -> None:
    judged = combined_part("thinking", reason="no_thinking", reference=(ReferenceAccount("a", False),))
    assert told(judged, "published") == dict.fromkeys(
        ("published_efficiency_thinking", "published_factuality_thinking", "published_completeness_thinking"),
        "no_thinking",
    )
    assert told(judged)["completeness_thinking"] == "no_thinking"


@pytest.mark.parametrize("rules", ["default", "published"])
def test_a_judge_that_failed_is_never_a_score(rules: Rules) -> None:
    prefix = "published_" if rules == "published" else ""
    unclassified, unverified = told(reply("R?W"), rules), told(reply("RxW"), rules)
    assert unclassified[f"{prefix}efficiency_formal"] == "judge_unreadable/prose"
    assert unclassified[f"{prefix}factuality_formal"] == "judge_unreadable/prose"
    assert unverified[f"{prefix}factuality_formal"] == "judge/timeout"
    assert told(reply("R", "r?"), rules)[f"{prefix}completeness_formal"] == "judge/timeout"


def test_what_a_failed_judge_leaves_open_has_bounds() -> None:
    found = told(reply("R?Wx"))
    # the step without a class may be no reasoning at all, or right, or wrong
    assert (found["efficiency_low_formal"], found["efficiency_high_formal"]) == (3 / 4, 1)
    assert (found["factuality_low_formal"], found["factuality_high_formal"]) == (1 / 4, 3 / 4)
    assert told(reply("RxW"))["efficiency_formal"] == 1


def test_steps_that_were_left_out_are_not_known() -> None:
    found = told(combined_part("formal", tuple(LABELS[label] for label in "RRWd"), left_out=4))
    assert (found["steps_formal"], found["efficiency_formal"], found["factuality_formal"]) == (
        8,
        "too_many_steps",
        "too_many_steps",
    )
    assert (found["efficiency_low_formal"], found["efficiency_high_formal"]) == (3 / 8, 7 / 8)
    assert (found["factuality_low_formal"], found["factuality_high_formal"]) == (2 / 7, 6 / 7)


def test_published_looks_at_ten_steps() -> None:
    judged = reply("R" * 10 + "d" * 10)
    assert told(judged, "published")["published_efficiency_formal"] == 1
    assert told(judged)["efficiency_formal"] == 0.5


def test_each_part_has_names_of_its_own() -> None:
    formal, thinking = ({score.name for score in scores(reply("R", part=part))} for part in ("formal", "thinking"))
    assert not formal & thinking
    assert {name.replace("formal", "thinking") for name in formal} == thinking


REPLIES = st.builds(
    reply,
    st.text("cpdRWU?x", max_size=14),
    st.none() | st.text("ra-?", max_size=6),
    st.sampled_from(["formal", "thinking"]),
)


@given(REPLIES)
def test_every_figure_is_a_share_within_its_bounds(judged: PartAccount) -> None:
    for rules in ("default", "published"):
        found = scores(judged, "published" if rules == "published" else "default")
        assert all((score.value is None) == bool(score.reason) for score in found)
        assert all(0 <= score.value <= 1 for score in found if score.value is not None and "steps" not in score.name)
    by_name = {score.name.removesuffix(f"_{judged.part}"): score.value for score in scores(judged)}
    for name in ("efficiency", "factuality"):
        low, value, high = by_name[f"{name}_low"], by_name[name], by_name[f"{name}_high"]
        if value is not None:
            assert low is not None
            assert high is not None
            assert low <= value <= high


@given(st.text("cpdRWU?x", min_size=1, max_size=8), st.lists(st.sampled_from("cpdRWU"), min_size=8, max_size=8))
def test_the_bounds_hold_whatever_the_judge_would_have_said(labels: str, said: list[str]) -> None:
    settled = "".join(
        one if label == "?" else (one if one in "RWU" else "R") if label == "x" else label
        for label, one in zip(labels, said, strict=False)
    )
    open_, closed = told(reply(labels)), told(reply(settled))
    for name in ("efficiency", "factuality"):
        value, low, high = closed[f"{name}_formal"], open_[f"{name}_low_formal"], open_[f"{name}_high_formal"]
        if isinstance(value, float):
            assert isinstance(low, float)
            assert isinstance(high, float)
            assert low <= value + 1e-12
            assert closed[f"{name}_high_formal"] <= high + 1e-12  # type: ignore[operator]


@given(st.text("cpdRWU", min_size=1, max_size=10), st.randoms(use_true_random=False))
def test_the_order_of_steps_changes_nothing(labels: str, chance: object) -> None:
    shuffled = list(labels)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    for rules in ("default", "published"):
        one, other = (
            scores(reply(text), "published" if rules == "published" else "default")
            for text in (labels, "".join(shuffled))
        )
        assert one == other
