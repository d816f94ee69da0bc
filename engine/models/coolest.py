"""Whether a model's endpoint takes a temperature of 0: found out by one cheap call, never guessed from a name."""

from collections.abc import Mapping

import anyio

from wardround.engine.errors import ProviderError
from wardround.engine.models.bare import bare
from wardround.engine.models.preflight import PATIENCE, PROBE
from wardround.engine.models.retry import Retrying
from wardround.engine.protocols import Model

FEW = 16
"""Tokens asked for at first; a model that refuses so few is asked without a limit."""


async def zeroable(models: Mapping[str, Model], *, within: float = 120.0) -> frozenset[str]:
    """Which of the models, by seat, may be asked at temperature 0; all are tried at the same time, within so many s.

    One that refuses the setting, as models do that think, is asked without it, and so is one whose trial failed for
    another reason: that no temperature is sent is never wrong. A model that sends nothing takes any setting.
    """
    found: set[str] = set()

    async def fill(seat: str, model: Model) -> None:
        if all([await _takes(inner, within) for inner, _ in bare(model) if inner.host]):
            found.add(seat)

    async with anyio.create_task_group() as group:
        for seat, model in models.items():
            group.start_soon(fill, seat, model)
    return frozenset(found)


async def _takes(model: Model, within: float) -> bool:
    tried = Retrying(model, PATIENCE)
    for limits in ({"max_tokens": FEW}, {}):
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
