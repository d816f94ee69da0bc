"""What judged steps must hold."""

import msgspec
import pytest

from wardround.evaluators.reasoning.reasoning_record import PartAccount, ReferenceAccount, StepAccount
from wardround.evaluators.reasoning.step_questions import StepClass, StepVerdict


def test_only_reasoning_has_a_verdict() -> None:
    assert StepAccount("a", StepClass.REASONING, StepVerdict.CORRECT).verdict == "correct"
    with pytest.raises(ValueError, match="only reasoning has one"):
        StepAccount("a", StepClass.CITATION, StepVerdict.CORRECT)
    with pytest.raises(ValueError, match="unclassified"):
        StepAccount("a", None, StepVerdict.WRONG, "judge_unreadable/prose")


@pytest.mark.parametrize("kind", [None, StepClass.REASONING])
def test_a_gap_has_a_reason(kind: StepClass | None) -> None:
    with pytest.raises(ValueError, match="says why"):
        StepAccount("a", kind)
    assert StepAccount("a", kind, reason="judge/timeout").verdict is None


def test_a_reference_step_is_found_anywhere() -> None:
    assert ReferenceAccount("a", False, True).hit is True
    assert ReferenceAccount("a", False, False).hit is False
    assert ReferenceAccount("a", False, None).hit is False
    assert ReferenceAccount("a", True, None, reason="judge/timeout").hit is True
    assert ReferenceAccount("a", False, None, reason="judge/timeout").hit is None
    with pytest.raises(ValueError, match="says why"):
        ReferenceAccount("a", None, True)


def test_a_judged_part_is_stored_and_read_back() -> None:
    steps = (StepAccount("a", StepClass.REASONING, StepVerdict.CORRECT), StepAccount("b", None, reason="judge/timeout"))
    reference = (ReferenceAccount("c", True, False, final=True),)
    part = PartAccount("thinking", "conclusion", 2, 7, steps, reference=reference)
    assert msgspec.json.decode(msgspec.json.encode(part), type=PartAccount) == part


def test_a_part_without_steps_says_why() -> None:
    with pytest.raises(ValueError, match="says why"):
        PartAccount("formal", "conclusion", 1, 3)
    assert PartAccount("formal", "conclusion", 1, 3, reason="empty_reply").reference is None
