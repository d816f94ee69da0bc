"""Reasoning that is longer than a judge is shown at once, as texts that each are shown whole."""

from collections.abc import Sequence

import msgspec

from wardround.evaluators.judging.fence import left_out
from wardround.evaluators.judging.question import LONGEST

TOO_LONG = "too_long"
"""Reason: a step, or an answer, of more characters than a judge is shown; what is in it was not looked at."""


class Windows(msgspec.Struct, frozen=True):
    """The `texts` in which something is looked for; `whole` if there is nothing beside them."""

    texts: tuple[str, ...]
    whole: bool = True


def windows(steps: Sequence[str], longest: int = LONGEST) -> Windows:
    """As few texts as hold these steps in their order, none of them cut; one that is too long by itself is in none."""
    together = "\n".join(steps)
    if not left_out(together, longest):
        return Windows((together,))
    short = [step for step in steps if not left_out(step, longest)]
    texts: list[list[str]] = []
    held = longest
    for step in short:
        if held + 1 + len(step) > longest:
            texts.append([])
            held = -1
        texts[-1].append(step)
        held += 1 + len(step)
    return Windows(tuple("\n".join(text) for text in texts), len(short) == len(steps))
