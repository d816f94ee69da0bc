"""A light model for one seat and one episode, of one that many share."""

from typing import Protocol, runtime_checkable

from wardround.engine.protocols import Model


@runtime_checkable
class Bindable(Protocol):
    """A model that treats its callers differently."""

    def bound(self, role: str, episode: str) -> Model:
        """The same model for one of them: its share is `role`'s, and it keeps to one endpoint for `episode`."""
        ...


def bound(model: Model, role: str, episode: str) -> Model:
    """`model` for this seat and episode; itself where it makes no difference. Only what was not bound is closed."""
    binding = getattr(model, "bound", None)  # isinstance of a protocol costs 10 us
    return binding(role, episode) if binding else model
