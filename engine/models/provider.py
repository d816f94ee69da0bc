"""What a provider of models is: how the models that are written `NAME/MODEL` are made."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from wardround.engine.errors import UsageError
from wardround.engine.models.hosts import address as checked
from wardround.engine.models.hosts import host_of
from wardround.engine.models.prices import Price
from wardround.engine.models.transport import Timeouts
from wardround.engine.protocols import Model, Wrapped

PROVIDERS = "wardround.providers"
"""The group of entry points that name providers; each stands for a class that is a Provider."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """One model that is asked for.

    `spec` is all that the user wrote, `name` what stands behind its first slash, `address` where the model is to be
    reached: the user's address, else the provider's usual one, else "". Keys are in `env`.
    """

    spec: str
    name: str
    address: str
    env: Mapping[str, str]
    timeouts: Timeouts | None
    priced: Callable[[bool], Price | None]

    @property
    def provider(self) -> str:
        """What stands before the first slash of `spec`."""
        return self.spec.partition("/")[0]

    @property
    def host(self) -> str:
        """The host of `address`, "" where there is none; raises UsageError for what is no address."""
        return host_of(checked(self.address)) if self.address else ""

    def price(self, *, public: bool) -> Price | None:
        """What a token costs: by the user's own table, else, at the provider's own address (`public`), by its list."""
        return self.priced(public)

    def needed(self, variable: str, hint: str = "") -> str:
        """An environment variable; raises UsageError, with the hint, where it is not set."""
        return needed(self.env, variable, self.spec, hint)


class Provider(Protocol):
    """What an entry point of the group `wardround.providers` stands for: a class that is made without arguments.

    A class of your own derives from it and has `model`; the entry point's name is what users write before the slash.
    """

    def address(self, env: Mapping[str, str], spec: str) -> str:
        """Where its models are reached if the user names no address; "" where there is nothing to name."""
        del env, spec
        return ""

    def key(self, wanted: Wanted) -> str:
        """The key that a model is asked with: calls with one key share the limits of an endpoint."""
        del wanted
        return ""

    def model(self, wanted: Wanted) -> Model:
        """The model, nothing sent yet and without retries of its own; raises UsageError.

        One whose `host` is "" sends nothing anywhere: it gets no limits and no retries.
        """
        ...


def needed(env: Mapping[str, str], variable: str, spec: str, hint: str = "") -> str:
    """An environment variable that `spec` needs; raises UsageError where it is not set."""
    value = env.get(variable, "").strip()
    if not value:
        raise UsageError(f"{spec!r} needs the environment variable {variable}, which is not set{hint}")
    return value


class ForeignModel(Wrapped):
    """A model of another package: nothing shows where its bytes go, so its package counts as one of its hosts.

    Restricted cases are sent to it where that name is allowed, beside the hosts that it names itself.
    """

    @property
    def hosts(self) -> tuple[str, ...]:
        """The model's own hosts, and its package."""
        return (*self.model.hosts, type(self.model).__module__.partition(".")[0])

    def bound(self, role: str, episode: str) -> Model:
        """For one seat and episode."""
        inner = self.model.bound(role, episode)
        return self if inner is self.model else ForeignModel(inner)
