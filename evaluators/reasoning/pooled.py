"""Several judged replies as one: for the figures of all replies before the answer."""

from collections.abc import Sequence

from wardround.evaluators.measure import Part
from wardround.evaluators.reasoning.judged import ABSENT, JudgedReply


def pooled(part: Part, replies: Sequence[JudgedReply]) -> JudgedReply:
    """The steps of all replies in one, without a reference; without any step the reason of the first that is there."""
    steps = tuple(step for reply in replies for step in reply.steps)
    reasons = sorted((reply.reason for reply in replies if reply.reason), key=lambda reason: reason in ABSENT)
    reason = "" if steps else next(iter(reasons), "no_reasoning")
    return JudgedReply(part, steps, None, reason, sum(reply.left_out for reply in replies))
