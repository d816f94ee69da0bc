"""Defines the protocol of a provider, which makes the models that are written `NAME/MODEL`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from wardround.engine.errors import MissingVariable
from wardround.engine.models.hosts import endpoint_url, host_of
from wardround.engine.models.prices import Price
from wardround.engine.models.transport import Timeouts
from wardround.engine.protocols import Model, Wrapped

MODEL_KEY = "WARDROUND_MODEL_KEY"
"""The variable of a request's environment that holds the key, if the user named another variable to take it from."""
PROVIDERS = "wardround.providers"
"""The group of entry points that name providers; each target is a class that implements Provider."""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A request for one model.

    `spec` is all that the user wrote, `name` the part after its first slash. `address` is the user's address for the
    model, else the provider's default, else "". Keys are in `env`. `timeouts` is None for the default ones, and
    `priced` looks the price up (`price`). `session_header` is the header by which calls name their conversation, "" for
    none.
    """

    spec: str
    name: str
    address: str
    env: Mapping[str, str]
    timeouts: Timeouts | None
    priced: Callable[[bool], Price | None]
    session_header: str = ""

    @property
    def provider(self) -> str:
        """The part of `spec` before its first slash."""
        return self.spec.partition("/")[0]

    @property
    def host(self) -> str:
        """The host of `address`, "" if there is no address; raises UsageError if it is not valid."""
        return host_of(endpoint_url(self.address)) if self.address else ""

    def price(self, *, public: bool) -> Price | None:
        """The price from the user's own table, or, at the provider's own address (`public`), from litellm's list."""
        return self.priced(public)

    def needed(self, variable: str, hint: str = "") -> str:
        """The value of an environment variable; raises UsageError, with the hint, if it is not set."""
        return required_variable(self.env, variable, self.spec, hint)


class Provider(Protocol):
    """The target of an entry point of the group `wardround.providers`: a class that is made without arguments.

    ::

        class Ours(Provider):
            def model(self, wanted: ModelRequest) -> Model:
                return OurModel(wanted.name, wanted.host)

    Derive your own class from it and define `model`. Users write the entry point's name before the slash.
    """

    def address(self, env: Mapping[str, str], spec: str) -> str:
        """The default address of its models, used if the user names none; "" if there is none."""
        return ""

    def key(self, wanted: ModelRequest) -> str:
        """The key for calls of a model; calls with the same key share the limits of an endpoint."""
        return ""

    def model(self, wanted: ModelRequest) -> Model:
        """Make the model, which sends nothing yet and does not retry; raises UsageError.

        A model whose `host` is "" sends nothing at all, and gets no limits and no retries.
        """


def required_variable(env: Mapping[str, str], variable: str, spec: str, hint: str = "") -> str:
    """The value of an environment variable that `spec` needs; raises UsageError if it is not set."""
    value = env.get(variable, "").strip()
    if not value:
        message = f"{spec!r} needs the environment variable {variable}, which is not set{hint}"
        raise MissingVariable(message, variable)
    return value


class ForeignModel(Wrapped):
    """A model of another package. We cannot see where its bytes go, so its package counts as one of its hosts.

    Restricted cases are sent to it only if the package's name is allowed, as well as the hosts that it names itself.
    """

    @property
    def hosts(self) -> tuple[str, ...]:
        """The model's own hosts, and its package."""
        return (*self.model.hosts, type(self.model).__module__.partition(".")[0])
