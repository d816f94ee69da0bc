"""Whether a model's endpoint takes the shape of a reply: found out by one cheap call, never guessed from a name."""

import json
from collections.abc import Mapping

import anyio

from wardround.engine.errors import PreflightError, ProviderError
from wardround.engine.models.bare import bare
from wardround.engine.models.preflight import PATIENCE, advice
from wardround.engine.models.retry import Patience, Retrying
from wardround.engine.models.shape import fits
from wardround.engine.protocols import Model
from wardround.engine.records import Completion, Message

PURPOSE = "preflight"
PROBE = (Message("user", "Is ice frozen water? Answer with one word."),)
"""Says nothing of JSON: only who takes the shape answers in it."""
SHAPE = {
    "type": "object",
    "properties": {"answer": {"type": "string", "enum": ["yes", "no"]}},
    "required": ["answer"],
    "additionalProperties": False,
}
FEW = 64
"""Tokens for the answer at first; a model that thinks is then asked without a limit."""

_UNTOLD = frozenset(("auth", "quota", "rate_limit", "timeout", "connection"))
"""Kinds of error that say nothing about the shape."""


async def takers(models: Mapping[str, Model], *, within: float = 120.0) -> frozenset[str]:
    """Which of the models, by seat, take a shape; all are asked at the same time.

    Raises PreflightError naming each seat whose endpoint does not answer.
    """
    labels = list(models)
    found: list[bool | str] = [False] * len(labels)

    async def fill(at: int) -> None:
        try:
            found[at] = await takes_shape(models[labels[at]], within=within)
        except PreflightError as error:
            found[at] = f"{labels[at]}: {error}"

    async with anyio.create_task_group() as group:
        for at in range(len(labels)):
            group.start_soon(fill, at)
    if problems := [told for told in found if isinstance(told, str)]:
        raise PreflightError("\n".join(problems))
    return frozenset(label for label, takes in zip(labels, found, strict=True) if takes)


async def takes_shape(model: Model, *, within: float = 120.0) -> bool:
    """Whether calls of `model` may carry the option `shape`; of a fleet, whether all its members take it.

    False if an endpoint refuses the option or passes it over; then leave it out of its calls. Where a call with the
    shape fails and one without it does not, the shape was to blame. A model that sends nothing is not asked: there the
    option does no harm. Calls go past retries, gates and guards, as those of preflight do; `within` is in seconds.
    Raises PreflightError, which says what to do, where an endpoint does not answer at all.
    """
    models = [inner for inner, _ in bare(model) if inner.host]
    found: list[bool | str] = [False] * len(models)

    async def fill(at: int) -> None:
        found[at] = await _asked(models[at], within)

    async with anyio.create_task_group() as group:
        for at in range(len(models)):
            group.start_soon(fill, at)
    if problems := [told for told in found if isinstance(told, str)]:
        raise PreflightError("\n".join(problems))
    return all(found)


async def _asked(model: Model, within: float) -> bool | str:
    """Whether it takes the shape, or what went wrong and what to do."""
    try:
        with anyio.fail_after(within):
            return await _takes(model, within)
    except TimeoutError:
        return f"{model.name} at {model.address}: no reply within {within:g} s; {advice(model, 'timeout')}"
    except ProviderError as error:
        to_do = advice(model, error.kind) or "try again later"
        return f"{error}; {to_do}"


async def _takes(model: Model, within: float) -> bool:
    try:
        return await _fitting(Retrying(model, PATIENCE))
    except ProviderError as error:
        if error.kind != "rate_limit":
            raise
    return await _fitting(Retrying(model, Patience(total=within)))


async def _fitting(model: Model) -> bool:
    try:
        reply = await _answer(model)
    except ProviderError as error:
        if error.kind in _UNTOLD:
            raise
        await _control(model)
        return False
    try:
        return fits(json.loads(reply.text), SHAPE)
    except (ValueError, RecursionError):
        return False


async def _answer(model: Model) -> Completion:
    try:
        reply = await model.complete(PROBE, purpose=PURPOSE, shape=SHAPE, max_tokens=FEW)
        if reply.text.strip() and reply.finish != "length":
            return reply
    except ProviderError as error:
        if error.kind not in ("bad_request", "empty"):
            raise
    # It thinks longer than that, or refuses so few tokens, or the setting by this name.
    return await model.complete(PROBE, purpose=PURPOSE, shape=SHAPE)


async def _control(model: Model) -> None:
    """Raise what a call without the shape fails with, unless that lies in this one call."""
    try:
        await model.complete(PROBE, purpose=PURPOSE)
    except ProviderError as error:
        if error.kind not in ("empty", "refused", "refusal", "content_filter", "context_overflow"):
            raise
