"""A model that is never called: its place in a replay, which needs neither key nor network."""

from collections.abc import Sequence

from wardround.engine.errors import ProviderError
from wardround.engine.protocols import Model
from wardround.engine.records import Completion, Json, Message


class Unreachable(Model):
    """Stands for the model `spec` where every call is answered from the log."""

    host = ""

    def __init__(self, spec: str) -> None:
        self.name = spec.partition("/")[2] or spec

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        """Raises ProviderError of kind `connection`."""
        raise ProviderError("connection", f"{self.name} is not reached here: its calls are answered from the log")

    async def aclose(self) -> None:
        """Nothing to give back."""
