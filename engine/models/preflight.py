"""Makes cheap calls to each endpoint before a run, to check that it answers and which options it accepts."""

import json
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

import anyio
import msgspec

from wardround.engine.errors import PreflightError, ProviderError
from wardround.engine.models.batched import Batched
from wardround.engine.models.fleet import Fleet
from wardround.engine.models.reply import fits_schema
from wardround.engine.models.wrappers import TEMPORARY, EgressGuard, Limited, Patience, Retrying, Single
from wardround.engine.once import together
from wardround.engine.protocols import Model
from wardround.engine.records import Completion, Json, Message, object_schema


def sending_models(model: Model) -> list[tuple[Model, bytes]]:
    """The models that send the bytes, including every member of a fleet, each with a digest of its key.

    The wrappers are removed because a trial call has its own short patience, waits for no batch, sends nothing that
    needs guarding, must not be answered from a cache, and must not wait for a place.
    """
    while isinstance(model, Retrying | EgressGuard | Single | Batched):
        model = model.model
    if isinstance(model, Fleet):
        return [pair for member in model.members for pair in sending_models(member.model)]
    return [(model.model, model.gate.key)] if isinstance(model, Limited) else [(model, b"")]


PURPOSE = "preflight"
"""The purpose of a trial call."""
PROBE = (Message("user", "Reply with the word OK."),)
"""The messages of a trial call."""
PROBE_TOKENS = 16
"""The limit of tokens in the first attempt; a model that refuses so few is asked without a limit."""
WITHIN = 120.0
"""Seconds within which an endpoint must answer a trial call."""
_encode = msgspec.json.Encoder(order="deterministic").encode
_Answer = TypeVar("_Answer")
PATIENCE = Patience(attempts=2, total=10.0, first=1.0)
"""The patience with a trial call whose error may be temporary."""
HARMLESS = frozenset(("rate_limit", "context_overflow", "refused", "refusal", "content_filter", "empty"))
"""Kinds of error after which key and model are known to work: the error is temporary or specific to one call."""

_TO_DO = {
    "auth": "check the key in the environment variable of its provider",
    "unknown_model": "check the model's name and the base URL",
    "quota": "top up the account or use another",
    "connection": "check the base URL or command, and that the endpoint runs and can be reached from here",
    "timeout": "see whether the endpoint is up, or still loading its model",
    "malformed": "check the base URL: what answers there is not such an endpoint",
    "server": "try again when the endpoint is well",
}


def advice(model: Model, kind: str) -> str:
    """What to do about a failure of this kind; '' if there is nothing to add to the error's own message."""
    return f"it is read from {model.key_env}" if kind == "auth" and model.key_env else _TO_DO.get(kind, "")


class Accepted(NamedTuple):
    """What a model accepts of the parameters it is to be sent with every call.

    `dropped` maps each refused one to the name under which its value is sent instead, "" if it is not sent.
    """

    dropped: Mapping[str, str]

    def of(self, sampling: Mapping[str, Json]) -> dict[str, Json]:
        """The parameters that can be sent."""
        names = {name: self.dropped.get(name, name) for name in sampling}
        return {names[name]: value for name, value in sampling.items() if names[name]}


async def preflight(
    models: Mapping[str, Model], *, within: float = WITHIN, sampling: Mapping[str, Mapping[str, Json]] | None = None
) -> dict[str, Accepted]:
    """Call each distinct (endpoint, key, model, parameters) once, all concurrently; returns what each accepts.

    `models` maps a seat or SPEC to its model, `sampling` to the parameters that are sent with every call. Every member
    of a fleet is called; a model that sends nothing (scripted, recorded) is skipped. Any reply is accepted, even a
    truncated or empty one. Without a limit of its own the probe asks for 16 tokens; if the endpoint refuses that
    request, a second one without a limit decides. A parameter that the endpoint refuses is left out, or sent under its
    other name, and the call is made again. `within` is in seconds. Raises PreflightError, which says for each failure
    which seats use the model, what was wrong and what to do.
    """
    asked = sampling or {}
    distinct: dict[tuple[str, str, str, bytes, bytes], tuple[list[str], Model]] = {}
    for label, model in models.items():
        for inner, key in sending_models(model):
            if inner.host:
                sent = _encode(asked.get(label, {}))
                which = (type(inner).__name__, inner.address, inner.name, key, sent)
                distinct.setdefault(which, ([], inner))[0].append(label)
    tries = [
        partial(_try_model, ", ".join(labels), model, asked.get(labels[0], {}), within)
        for labels, model in distinct.values()
    ]
    results = _without_problems(await together(tries))
    accepted: dict[str, dict[str, str]] = {label: {} for label in models}
    for (labels, _), one in zip(distinct.values(), results, strict=True):
        for label in labels:  # what one member of a fleet refuses is sent to none
            for name, other in one.dropped.items():
                accepted[label][name] = other if accepted[label].get(name, other) == other else ""
    return {label: Accepted(dropped) for label, dropped in accepted.items()}


async def _try_model(label: str, model: Model, sampling: Mapping[str, Json], within: float) -> Accepted | str:
    """What a model accepts, or what is wrong with it and what to do about it."""
    try:
        with anyio.fail_after(within):
            try:
                return await _probe_parameters(model, sampling)
            except ProviderError as error:
                if error.kind in HARMLESS or error.kind not in TEMPORARY:
                    raise
                return await _probe_parameters(Retrying(model, PATIENCE), sampling)
    except TimeoutError:
        return f"{label}: {_late(model, within)}"
    except ProviderError as error:
        if error.kind not in HARMLESS:
            to_do = advice(model, error.kind)
            return f"{label}: {error}" + (f"; {to_do}" if to_do else "")
    return Accepted({})


def _late(model: Model, within: float) -> str:
    return f"{model.name} at {model.address}: no reply within {within:g} s; {advice(model, 'timeout')}"


_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")
"""The names that interfaces have for the limit of a reply; an endpoint names its own, even if it was sent another."""
_OTHER = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}


async def _probe_parameters(model: Model, sampling: Mapping[str, Json]) -> Accepted:
    """Call the model with the parameters, again without each that it refuses; raises ProviderError."""
    limited = any(name in sampling for name in _LIMITS)
    dropped: dict[str, str] = {}
    own = {} if limited else {"max_tokens": PROBE_TOKENS}
    for _ in range(2 * len(sampling) + 2):
        sent = Accepted(dropped).of(sampling)
        try:
            await model.complete(PROBE, purpose=PURPOSE, **sent, **own)
        except ProviderError as error:
            if error.kind != "bad_request":
                raise
            name = _refused_parameter(error, {**sent, **own})
            if name in sent:
                _drop(dropped, name, sampling)
            elif own:  # some models refuse so few tokens, or a setting of this name
                own = {}
            else:
                return await _by_elimination(model, sampling)
        else:
            break
    return Accepted(dropped)


def _drop(dropped: dict[str, str], name: str, sampling: Mapping[str, Json]) -> None:
    """Note that `name` was refused: its value is sent under its other name, unless that was refused too."""
    first = next((one for one in sampling if one == name or dropped.get(one) == name), name)
    other = _OTHER.get(first, "")
    dropped[first] = other if first not in dropped and other not in sampling else ""


def _refused_parameter(error: ProviderError, sent: Mapping[str, Json]) -> str:
    """The parameter among `sent` that an endpoint refuses, by what it says; "" if it names none of them."""
    limit = next((name for name in _LIMITS if name in sent), "")
    as_sent = {**{name: limit for name in _LIMITS if limit}, **{name: name for name in sent}}
    if error.param in as_sent:
        return as_sent[error.param]
    said = str(error).partition(": HTTP ")[2] or str(error)
    places = {
        name: match.start() for name in as_sent if (match := re.search(rf"(?<![\w-]){re.escape(name)}(?!\w)", said))
    }
    return as_sent[min(places, key=lambda name: places[name])] if places else ""


async def _by_elimination(model: Model, sampling: Mapping[str, Json]) -> Accepted:
    """What a model accepts if its endpoint does not name what it refuses.

    The model is called without parameters, then with each parameter alone. Raises ProviderError.
    """
    await model.complete(PROBE, purpose=PURPOSE)
    dropped: dict[str, str] = {}
    for name, value in sampling.items():
        other = _OTHER.get(name, "")
        for tried in filter(None, (name, other if other not in sampling else "")):
            try:
                await model.complete(PROBE, purpose=PURPOSE, **{tried: value})
            except ProviderError as error:
                if error.kind != "bad_request":
                    raise
            else:
                if tried != name:
                    dropped[name] = tried
                break
        else:
            dropped[name] = ""
    if not dropped:  # each is accepted by itself, and not all together
        return Accepted(dict.fromkeys(sampling, ""))
    return Accepted(dropped)


SHAPE_PROBE = (Message("user", "Is ice frozen water? Answer with one word."),)
"""The question does not mention JSON, so only an endpoint that applies the shape answers in JSON."""
SHAPE = object_schema(answer={"type": "string", "enum": ["yes", "no"]})
SHAPE_TOKENS = 64
"""The limit of tokens in the first attempt; a model whose thinking needs more is then asked without a limit."""

_UNDECIDED = frozenset(("auth", "quota", "rate_limit", "timeout", "connection"))
"""Kinds of error that do not show whether the shape is accepted."""


async def seats_taking_shape(models: Mapping[str, Model]) -> frozenset[str]:
    """The seats whose models accept a shape; all models are asked concurrently.

    Raises PreflightError naming each seat whose endpoint does not answer.
    """

    async def taken(label: str) -> bool | str:
        try:
            return await takes_shape(models[label])
        except PreflightError as error:
            return f"{label}: {error}"

    answers = await together([partial(taken, label) for label in models])
    return frozenset(label for label, takes in zip(models, _without_problems(answers), strict=True) if takes)


def _without_problems(answers: Sequence[_Answer | str]) -> list[_Answer]:
    """The answers, if none of them is the text of a problem; raises PreflightError that lists the problems."""
    if problems := [answer for answer in answers if isinstance(answer, str)]:
        raise PreflightError("\n".join(problems))
    return [answer for answer in answers if not isinstance(answer, str)]


async def takes_shape(model: Model, *, within: float = WITHIN) -> bool:
    """Whether calls of `model` may carry the option `shape`; for a fleet, whether all its members accept it.

    False if an endpoint refuses or ignores the option; then leave it out of the calls. If a call with the shape fails
    and one without it succeeds, the shape is to blame. A model that sends nothing is not asked, because the option does
    no harm there. The calls bypass retries, gates and guards, as in `preflight`; `within` is in seconds. Raises
    PreflightError, which says what to do, if an endpoint does not answer at all.
    """
    tries = [partial(_ask_for_shape, inner, within) for inner, _ in sending_models(model) if inner.host]
    return all(_without_problems(await together(tries)))


async def _ask_for_shape(model: Model, within: float) -> bool | str:
    """Whether the model accepts the shape, or a text that says what went wrong and what to do."""
    try:
        with anyio.fail_after(within):
            return await _shape_taken(model, within)
    except TimeoutError:
        return _late(model, within)
    except ProviderError as error:
        to_do = advice(model, error.kind) or "try again later"
        return f"{error}; {to_do}"


async def _shape_taken(model: Model, within: float) -> bool:
    try:
        return await _reply_fits(Retrying(model, PATIENCE))
    except ProviderError as error:
        if error.kind != "rate_limit":
            raise
    return await _reply_fits(Retrying(model, Patience(total=within)))


async def _reply_fits(model: Model) -> bool:
    """Whether a reply of the model has the shape; raises ProviderError if the endpoint does not answer at all."""
    try:
        reply = await _shaped_reply(model)
    except ProviderError as error:
        if error.kind in _UNDECIDED:
            raise
        await _call_without_shape(model)
        return False
    try:
        return fits_schema(json.loads(reply.text), SHAPE)
    except (ValueError, RecursionError):
        return False


async def _shaped_reply(model: Model) -> Completion:
    try:
        reply = await model.complete(SHAPE_PROBE, purpose=PURPOSE, shape=SHAPE, max_tokens=SHAPE_TOKENS)
        if reply.text.strip() and reply.finish != "length":
            return reply
    except ProviderError as error:
        if error.kind not in ("bad_request", "empty"):
            raise
    # The model thinks for longer than that, or refuses so few tokens or a setting of this name.
    return await model.complete(SHAPE_PROBE, purpose=PURPOSE, shape=SHAPE)


async def _call_without_shape(model: Model) -> None:
    """Call without the shape, to see whether the shape was to blame; raises ProviderError if this call fails too.

    An error that concerns only this one question, such as a filter of contents, does not count.
    """
    try:
        await model.complete(SHAPE_PROBE, purpose=PURPOSE)
    except ProviderError as error:
        if error.kind not in ("empty", "refused", "refusal", "content_filter", "context_overflow"):
            raise


async def seats_taking_zero(models: Mapping[str, Model]) -> frozenset[str]:
    """The seats whose models accept temperature 0; all models are tried concurrently.

    A model that refuses the setting, as reasoning models do, is left out. A model whose trial failed for another reason
    is left out too, because sending no temperature is always safe. A model that sends nothing accepts any setting.
    """

    async def taken(model: Model) -> bool:
        return all([await _zero_taken(inner) for inner, _ in sending_models(model) if inner.host])

    answers = await together([partial(taken, model) for model in models.values()])
    return frozenset(seat for seat, takes in zip(models, answers, strict=True) if takes)


async def _zero_taken(model: Model) -> bool:
    """Whether a call at temperature 0 is answered, if need be without a limit of tokens."""
    tried = Retrying(model, PATIENCE)
    for limits in ({"max_tokens": PROBE_TOKENS}, {}):
        try:
            with anyio.fail_after(WITHIN):
                await tried.complete(PROBE, purpose=PURPOSE, temperature=0.0, **limits)
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
