"""One cheap call to each endpoint before a run starts, so that a wrong key or name stops it at once."""

from collections.abc import Callable, Mapping
from functools import partial

import anyio

from wardround.engine.errors import PreflightError, ProviderError
from wardround.engine.models.bare import bare
from wardround.engine.models.retry import PASSING, Patience, Retrying
from wardround.engine.protocols import Model
from wardround.engine.records import Message

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
