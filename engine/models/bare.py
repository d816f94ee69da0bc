"""The models themselves, out of what is wrapped around them."""

from wardround.engine.models.fleet import Fleet
from wardround.engine.models.guard import Guarded
from wardround.engine.models.limited import Limited
from wardround.engine.models.retry import Retrying
from wardround.engine.models.single import Single
from wardround.engine.protocols import Model


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
