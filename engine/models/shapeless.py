"""A model that cannot be asked for replies of a given shape: the option is left out of its calls."""

from collections.abc import Sequence

from wardround.engine.models.bound import bound
from wardround.engine.models.hosts import hosts_of
from wardround.engine.models.shape import OPTION
from wardround.engine.protocols import Model
from wardround.engine.records import Completion, Json, Message


class Shapeless:
    """`model` without the option `shape`. What is recorded above it holds the option: the question was the same."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.name, self.host, self.hosts = model.name, model.host, hosts_of(model)

    def bound(self, role: str, episode: str) -> "Shapeless":
        """For one seat and episode."""
        inner = bound(self.model, role, episode)
        return self if inner is self.model else Shapeless(inner)

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        """The model's completion; raises ProviderError."""
        options.pop(OPTION, None)
        return await self.model.complete(messages, purpose=purpose, **options)

    async def aclose(self) -> None:
        """Close the model."""
        await self.model.aclose()
