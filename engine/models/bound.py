"""A model around a model, and what an older class of a user's lacks of the contract."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from wardround.engine.protocols import Model
from wardround.engine.records import Completion, Json, Message


class Wrapped(Model):
    """A model that asks another one, `model`, and is it in name and place; a subclass says what it does besides."""

    def __init__(self, model: Model) -> None:
        self.model, self.name, self.host, self.key_env = model, model.name, model.host, model.key_env

    @property
    def hosts(self) -> Sequence[str]:
        """Every host that the model's bytes may go to."""
        return self.model.hosts

    @property
    def address(self) -> str:
        """Where the model is reached."""
        return self.model.address

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        """The model's completion; raises ProviderError."""
        return await self.model.complete(messages, purpose=purpose, **options)

    async def aclose(self) -> None:
        """Close the model."""
        await self.model.aclose()


@runtime_checkable
class _Binding(Protocol):
    """An older model that has a `bound` of its own."""

    def bound(self, role: str, episode: str) -> Model: ...


class _Older(Wrapped):
    """A class of a user's as the contract was before it had `hosts`, `address`, `key_env` and `bound`.

    What it has of them is used. Read for one version.
    """

    def __init__(self, model: Model) -> None:
        self.model, self.name, self.host = model, model.name, model.host
        self.key_env = str(getattr(model, "key_env", ""))
        self._hosts: Sequence[str] = tuple(getattr(model, "hosts", (model.host,)))
        self._address = str(getattr(model, "address", model.host))

    @property
    def hosts(self) -> Sequence[str]:
        """Its hosts, or its one host."""
        return self._hosts

    @property
    def address(self) -> str:
        """Its address, or its host."""
        return self._address

    def bound(self, role: str, episode: str) -> Model:
        """Its own for one seat and episode, if it makes a difference."""
        return whole(self.model.bound(role, episode)) if isinstance(self.model, _Binding) else self


_MEMBERS = ("key_env", "hosts", "address", "bound")


def whole(model: Model) -> Model:
    """`model` with the whole contract: itself, unless it is of a class that was written before the contract grew."""
    return model if all(hasattr(model, name) for name in _MEMBERS) else _Older(model)
