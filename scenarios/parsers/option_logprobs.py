"""Reads which answer a model finds most likely from the log-probabilities of the first token of its reply."""

import math
from collections.abc import Mapping, Sequence

from wardround.engine.records import Action, Json

LOGPROBS = "logprobs"
"""The argument of an action that has the alternatives for the first token, as (token, log-probability); None if the
endpoint gave none."""
NO_LOGPROBS = "no_logprobs"
NO_OPTION = "no_option_in_logprobs"
TIED = "tied_options"
_AROUND = " \t\r\n*_`\"'([{\u2581\u0120\u010a"
"""What may stand before a letter in a token, with the marks of a space in some vocabularies."""


def is_scored(action: Action) -> bool:
    """Whether the agent asked for log-probabilities, whether or not it got any."""
    return LOGPROBS in action.args


def option_logprobs(action: Action, candidates: Mapping[str, str]) -> dict[str, float] | str:
    """The log-probability of each candidate among the alternatives, or the reason why there is none.

    `candidates` maps names to the words by which an answer begins. A token stands for a candidate if it is the
    beginning of its word and of no other's, whatever its case, where no candidate is a single letter. Probabilities of
    several such tokens are added. A candidate beyond the alternatives that the endpoint gives has none.
    """
    rows = action.args.get(LOGPROBS)
    if not isinstance(rows, list | tuple) or not rows:
        return NO_LOGPROBS
    mass: dict[str, float] = {}
    for row in rows:
        token, value = _pair(row)
        name = _candidate(token.strip(_AROUND).rstrip(".:,)]}"), candidates)
        if name and value <= 0:
            mass[name] = mass.get(name, 0.0) + math.exp(value)
    kept = {name: round(math.log(mass[name]), 9) for name in candidates if mass.get(name)}
    return kept or NO_OPTION


def likeliest(scores: Mapping[str, float]) -> str | None:
    """The candidate with the largest log-probability; None if two share it."""
    first = max(scores, key=lambda name: scores[name])
    return first if sum(value == scores[first] for value in scores.values()) == 1 else None


def probability(scores: Mapping[str, float], name: str) -> float:
    """The probability of a candidate among all that have one; 0 if it has none."""
    return math.exp(scores[name]) / sum(math.exp(value) for value in scores.values()) if name in scores else 0.0


def _pair(row: Json) -> tuple[str, float]:
    if not isinstance(row, Sequence) or len(row) != 2 or isinstance(row, str):
        return "", 1.0
    token, value = row
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and value == value  # noqa: PLR0124 NaN
    return (token, float(value)) if isinstance(token, str) and is_number else ("", 1.0)


def _candidate(token: str, candidates: Mapping[str, str]) -> str:
    if not token:
        return ""
    if all(len(word) == 1 for word in candidates.values()):
        return next((name for name, word in candidates.items() if token == word), "")
    begun = [name for name, word in candidates.items() if word.casefold().startswith(token.casefold())]
    return begun[0] if len(begun) == 1 else ""
