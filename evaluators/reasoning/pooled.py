"""Several judged replies as one: for the figures of all replies before the answer."""

from collections.abc import Sequence

from wardround.evaluators.reasoning.judged import JudgedReply, Part


def pooled(part: Part, replies: Sequence[JudgedReply]) -> JudgedReply:
    """The steps of all replies in one; without any step the reason of the first, without a reference."""
    steps = tuple(step for reply in replies for step in reply.steps)
    reason = "" if steps else next((reply.reason for reply in replies if reply.reason), "no_reasoning")
    return JudgedReply(part, steps, None, reason, sum(reply.left_out for reply in replies))
