"""Which steps of a long encounter are judged: all, or those drawn by a seed, the last turn whole."""

import random
from collections.abc import Sequence

from wardround.evaluators.reasoning.steps import MANY


def sampled(counts: Sequence[int], seed: int, most: int = MANY) -> list[list[int]]:
    """The places of the steps to judge, turn by turn, of turns with so many steps each.

    Up to `most` all of them. Above, the last turn stays whole and the rest is drawn from the earlier turns, each step
    with the same chance; of a last turn that is longer by itself `most` are drawn, and none of the others.
    """
    if sum(counts) <= most:
        return [list(range(count)) for count in counts]
    draw = random.Random(seed)
    last = counts[-1]
    if last >= most:
        return [[] for _ in counts[:-1]] + [sorted(draw.sample(range(last), most))]
    steps = [(turn, place) for turn, count in enumerate(counts[:-1]) for place in range(count)]
    kept: list[list[int]] = [[] for _ in counts]
    for turn, place in sorted(draw.sample(steps, most - last)):
        kept[turn].append(place)
    kept[-1] = list(range(last))
    return kept
