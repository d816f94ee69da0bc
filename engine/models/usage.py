"""Reads what an endpoint says it counted: no figure that is none reaches an account."""

from typing import Any

from wardround.engine.models.prices import Price
from wardround.engine.records import Usage

_MOST = 2**53
"""A count beyond it is no count: no model reads so much, and not every reader of JSON tells it from its neighbour."""


def read_usage(told: Any, price: Price | None, *, into: str = "prompt", out: str = "completion") -> Usage:
    """The tokens in a reply's `usage`; `into` and `out` are what its API calls them.

    What is not told counts as 0, and a call of which either side is not told has no known cost.
    """
    prompt, completion = _count(told, f"{into}_tokens"), _count(told, f"{out}_tokens")
    cached = _count(_part(told, f"{into}_tokens_details"), "cached_tokens") or 0
    reasoning = _count(_part(told, f"{out}_tokens_details"), "reasoning_tokens") or 0
    cost = None
    if price is not None and prompt is not None and completion is not None:
        cost = price.cost(prompt, completion, cached)
    return Usage(prompt or 0, completion or 0, reasoning, cached, cost)


def told_by(usage: Any) -> bool:
    """Whether both sides are told, in the words of chat completions."""
    return _count(usage, "prompt_tokens") is not None and _count(usage, "completion_tokens") is not None


def _part(told: Any, name: str) -> Any:
    return told.get(name) if isinstance(told, dict) else None


def _count(told: Any, name: str) -> int | None:
    """A number of tokens; None where it is not told, or is no number from 0 to 2**53."""
    value = _part(told, name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MOST:
        return None
    return int(value)
