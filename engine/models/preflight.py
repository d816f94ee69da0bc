"""Cheap calls to each endpoint before a run: that it answers, and which options it takes."""

import json
from collections.abc import Callable, Mapping
from functools import partial

import anyio

from wardround.engine.errors import PreflightError, ProviderError
from wardround.engine.models.fleet import Fleet
from wardround.engine.models.gates import Limited
from wardround.engine.models.reply import fits
from wardround.engine.models.retry import PASSING, Patience, Retrying
from wardround.engine.models.wrappers import Guarded, Single
from wardround.engine.protocols import Model
from wardround.engine.records import Completion, Message


def bare(model: Model) -> list[tuple[Model, bytes]]:
    """The models that send the bytes, every member of a fleet, each with a digest of its key.

    A trial call before a run has its own, short patience, sends nothing that needs guarding, must be made each time,
    and must not wait for a place.
    """
    while isinstance(model, Retrying | Guarded | Single):
        model = model.model
    if isinstance(model, Fleet):
        return [pair for member in model.members for pair in bare(member.model)]
    if isinstance(model, Limited):
        return [(model.model, model.gate.key)]
    return [(model, b"")]


PROBE = (Message("user", "Reply with the word OK."),)
PATIENCE = Patience(attempts=2, total=10.0, first=1.0)
HARMLESS = frozenset(("rate_limit", "context_overflow", "refused", "refusal", "content_filter", "empty"))
"""The endpoint knows the key and the model; what was wrong will pass, or lies in this one call."""

_TO_DO = {
    "auth": "check the key in the environment variable of its provider",
    "unknown_model": "check the model's name and the base URL",
    "quota": "top up the account or use another",
    "connection": "check the base URL, and that the endpoint runs and can be reached from here",
    "timeout": "see whether the endpoint is up, or still loading its model",
    "malformed": "check the base URL: what answers there is no such endpoint",
    "server": "try again when the endpoint is well",
}


def advice(model: Model, kind: str) -> str:
    """What to do about a failure of this kind, '' where there is nothing but what the error says itself."""
    return f"it is read from {model.key_env}" if kind == "auth" and model.key_env else _TO_DO.get(kind, "")


async def preflight(models: Mapping[str, Model], *, within: float = 120.0) -> None:
    """Call each distinct (endpoint, key, model) once, at the same time; `models` maps a seat or SPEC to its model.

    Every member of a fleet is called; a model that sends nothing (scripted, recorded) is passed over. The probe asks
    for 16 tokens and is content with any reply, cut short or empty; if the request itself is refused, one without
    settings decides. `within` is in seconds. Raises PreflightError naming, for each that failed, who uses it, what was
    wrong and what to do.
    """
    distinct: dict[tuple[str, str, str, bytes], tuple[list[str], Model]] = {}
    for label, model in models.items():
        for inner, key in bare(model):
            if inner.host:
                which = (type(inner).__name__, inner.address, inner.name, key)
                distinct.setdefault(which, ([], inner))[0].append(label)
    problems: dict[int, str] = {}
    async with anyio.create_task_group() as group:
        for number, (labels, model) in enumerate(distinct.values()):
            group.start_soon(_try, ", ".join(labels), model, within, partial(problems.setdefault, number))
    if problems:
        # The order of `models`, not that in which the endpoints answered.
        raise PreflightError("\n".join(problems[number] for number in sorted(problems)))


async def _try(label: str, model: Model, within: float, told: Callable[[str], object]) -> None:
    try:
        with anyio.fail_after(within):
            try:
                await _probe(model)
            except ProviderError as error:
                if error.kind in HARMLESS or error.kind not in PASSING:
                    raise
                await _probe(Retrying(model, PATIENCE))
    except TimeoutError:
        told(f"{label}: {model.name} at {model.address}: no reply within {within:g} s; {advice(model, 'timeout')}")
    except ProviderError as error:
        if error.kind not in HARMLESS:
            to_do = advice(model, error.kind)
            told(f"{label}: {error}" + (f"; {to_do}" if to_do else ""))


async def _probe(model: Model) -> None:
    try:
        await model.complete(PROBE, purpose="preflight", max_tokens=16)
    except ProviderError as error:
        if error.kind != "bad_request":
            raise
        # Some models refuse so few tokens, or the setting by this name.
        await model.complete(PROBE, purpose="preflight")


PURPOSE = "preflight"
SHAPE_PROBE = (Message("user", "Is ice frozen water? Answer with one word."),)
"""Says nothing of JSON: only who takes the shape answers in it."""
SHAPE = {
    "type": "object",
    "properties": {"answer": {"type": "string", "enum": ["yes", "no"]}},
    "required": ["answer"],
    "additionalProperties": False,
}
SHAPE_TOKENS = 64
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
            return await _shape_taken(model, within)
    except TimeoutError:
        return f"{model.name} at {model.address}: no reply within {within:g} s; {advice(model, 'timeout')}"
    except ProviderError as error:
        to_do = advice(model, error.kind) or "try again later"
        return f"{error}; {to_do}"


async def _shape_taken(model: Model, within: float) -> bool:
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
        reply = await model.complete(SHAPE_PROBE, purpose=PURPOSE, shape=SHAPE, max_tokens=SHAPE_TOKENS)
        if reply.text.strip() and reply.finish != "length":
            return reply
    except ProviderError as error:
        if error.kind not in ("bad_request", "empty"):
            raise
    # It thinks longer than that, or refuses so few tokens, or the setting by this name.
    return await model.complete(SHAPE_PROBE, purpose=PURPOSE, shape=SHAPE)


async def _control(model: Model) -> None:
    """Raise what a call without the shape fails with, unless that lies in this one call."""
    try:
        await model.complete(SHAPE_PROBE, purpose=PURPOSE)
    except ProviderError as error:
        if error.kind not in ("empty", "refused", "refusal", "content_filter", "context_overflow"):
            raise


FEW_TOKENS = 16
"""Tokens asked for at first; a model that refuses so few is asked without a limit."""


async def zeroable(models: Mapping[str, Model], *, within: float = 120.0) -> frozenset[str]:
    """Which of the models, by seat, may be asked at temperature 0; all are tried at the same time, within so many s.

    One that refuses the setting, as models do that think, is asked without it, and so is one whose trial failed for
    another reason: that no temperature is sent is never wrong. A model that sends nothing takes any setting.
    """
    found: set[str] = set()

    async def fill(seat: str, model: Model) -> None:
        if all([await _zero_taken(inner, within) for inner, _ in bare(model) if inner.host]):
            found.add(seat)

    async with anyio.create_task_group() as group:
        for seat, model in models.items():
            group.start_soon(fill, seat, model)
    return frozenset(found)


async def _zero_taken(model: Model, within: float) -> bool:
    tried = Retrying(model, PATIENCE)
    for limits in ({"max_tokens": FEW_TOKENS}, {}):
        try:
            with anyio.fail_after(within):
                await tried.complete(PROBE, purpose="preflight", temperature=0.0, **limits)
        except TimeoutError:
            return False
        except ProviderError as error:
            if error.kind == "empty":
                return True
            if error.kind != "bad_request":
                return False
        else:
            return True
    return False
