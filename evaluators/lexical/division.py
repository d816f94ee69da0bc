"""Texts taken apart: a reference into steps, an unmarked reply into steps, a page into what bears on a step."""

import re
from collections.abc import Sequence
from itertools import pairwise

from wardround.evaluators.lexical.content import known, sentences, share
from wardround.evaluators.reasoning.reference import MOST

OPENING = 8
"""Words by which the beginning of a step is told."""
TOGETHER = 3
"""Sentences of a step at most, where none opens with a word that begins a new one."""
QUOTES, SHARED, LONG = 5, 2, 500
"""Sentences copied out of a page at most; words that each shares with the step at least; its characters at most."""

_MARK = re.compile(
    r"^[ \t>]*(?:[-*+\u2022\u00b7]+|\(?\d{1,3}[.)])[ \t]+|^[ \t]*#{1,6}[ \t]*|^[ \t]*<step \d+>[ \t]*", re.I
)
_CONNECTIVE = re.compile(
    r"(?:first|second|third|next|then|now|finally|lastly|however|but|given|therefore|thus|hence|so|also|additionally|moreover"
    r"|furthermore|in addition|on the other hand|alternatively|another|looking|considering|regarding|overall|in summary"
    r"|in conclusion|taken together|putting|wait|hmm|okay|let me|let's)\b",
    re.IGNORECASE,
)


def reference_steps(text: str) -> list[str]:
    """The lines of a reference as steps in its own words, at most ten; the last line is the last step.

    A heading stands with the line below it. Of more than ten the shortest neighbours are put together.
    """
    pieces: list[str] = []
    heading = ""
    for line in text.splitlines():
        said = " ".join(_MARK.sub("", line).replace("**", "").split())
        if not any(map(str.isalnum, said)):
            continue
        if said.endswith(":"):
            heading = f"{heading} {said}".strip()
        else:
            pieces.append(f"{heading} {said}".strip())
            heading = ""
    if heading:
        pieces.append(heading)
    if len(pieces) == 2 and len(pieces[0]) > 300:  # one paragraph and the answer
        pieces = [*sentences(pieces[0]), pieces[1]]
    return _merged(pieces)


def _merged(pieces: list[str]) -> list[str]:
    while len(pieces) > MOST:
        lengths = [len(one) + len(other) for one, other in pairwise(pieces[:-1])]  # the last step is the answer
        at = lengths.index(min(lengths))
        pieces = [*pieces[:at], f"{pieces[at]} {pieces[at + 1]}", *pieces[at + 2 :]]
    return pieces


def step_starts(text: str) -> list[str]:
    """The first words of each step of a text without marks: at a sentence that turns to something else."""
    starts: list[str] = []
    held = TOGETHER
    for said in sentences(text):
        if not any(map(str.isalnum, said)):
            continue
        if held >= TOGETHER or _CONNECTIVE.match(said):
            starts.append(_opening(said))
            held = 0
        held += 1
    return starts


def _opening(said: str) -> str:
    words = list(re.finditer(r"\S+", said))
    return said[: words[min(OPENING, len(words)) - 1].end()][:200]


def bearing(page: str, step: str) -> list[str]:
    """The sentences of a page that share most with a step, word for word, in the page's order."""
    wanted = known(step)
    told = [said for said in sentences(page) if len(said) <= LONG]
    scored = [(share(wanted, known(said)), -place) for place, said in enumerate(told)]
    best = sorted(scored, reverse=True)[:QUOTES]
    return _in_order(told, [-place for _, place in best], wanted)


def _in_order(told: Sequence[str], places: Sequence[int], wanted: frozenset[str]) -> list[str]:
    return [told[place] for place in sorted(places) if len(wanted & known(told[place])) >= SHARED]
