"""A light model for one seat and one episode, of one that many share."""

from wardround.engine.protocols import Model


def bound(model: Model, role: str, episode: str) -> Model:
    """`model` for this seat and episode; itself where it makes no difference. Only what was not bound is closed.

    A model that treats its callers differently has a method `bound(role, episode)`: the same model for one of them,
    with `role`'s share, which keeps to one endpoint for `episode`.
    """
    binding = getattr(model, "bound", None)
    return binding(role, episode) if binding else model
