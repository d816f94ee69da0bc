"""Which models are asked at temperature 0: those whose endpoints take it."""

from collections.abc import Sequence

from wardround.engine.errors import ProviderError
from wardround.engine.models.preflight import seats_taking_zero
from wardround.engine.models.scripted import Scripted
from wardround.engine.protocols import Model
from wardround.engine.records import Completion, Json, Message


class Endpoint(Model):
    """A model behind an endpoint that refuses some settings, as those do that think."""

    name, host = "m", "api.test"

    def __init__(self, *refused: str, kind: str = "bad_request") -> None:
        self._refused, self._kind = refused, kind
        self.asked: list[set[str]] = []

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        self.asked.append(set(options))
        if self._refused and set(self._refused) & set(options):
            raise ProviderError(self._kind, "not supported")
        return Completion("OK", model=self.name)

    async def aclose(self) -> None:
        """Nothing to give back."""


async def test_one_that_refuses_the_setting_is_asked_without_it() -> None:
    models: dict[str, Model] = {
        "judge": Endpoint(),
        "judge-2": Endpoint("temperature"),
        "judge-3": Endpoint("max_tokens"),
        "judge-4": Endpoint("temperature", kind="auth"),
        "judge-5": Scripted(["yes"]),
    }
    assert await seats_taking_zero(models) == {"judge", "judge-3", "judge-5"}
    first, second = models["judge"], models["judge-2"]
    assert isinstance(first, Endpoint)
    assert first.asked == [{"temperature", "max_tokens"}]
    assert isinstance(second, Endpoint)
    assert second.asked == [{"temperature", "max_tokens"}, {"temperature"}]


async def test_an_empty_reply_to_so_few_tokens_shows_that_it_takes_it() -> None:
    assert await seats_taking_zero({"judge": Endpoint("max_tokens", kind="empty")}) == {"judge"}
