"""The errors that people see, sorted by what the reader can do about them."""

from typing import Self


class WardroundError(Exception):
    """Base of all errors meant for people: the message says what, where, and what to do."""


class UsageError(WardroundError):
    """A wrong argument, file, name or setting: nothing was run. The command line exits with 2."""


class PreflightError(UsageError):
    """An endpoint refused the one cheap call made before a run: a wrong key, model name or address."""


class EgressError(UsageError):
    """A restricted case was about to be sent to a host that the user did not name, or to code of the user's own."""

    @classmethod
    def to_host(cls, restricted: str, sender: str, host: str) -> Self:
        """The error for a `sender` that would send texts to `host`; `restricted` says which cases are restricted."""
        return cls(
            f"{restricted} restricted, and {sender} would send what they say to {host}, which is neither this machine "
            f"nor named: if your agreement on the data permits it, add --allow-host {host}"
        )

    @classmethod
    def to_plugin(cls, restricted: str, plugin: str, agent: str = "") -> Self:
        """The error for a `plugin` that would see restricted cases; `restricted` says which cases are restricted.

        `agent` is its SPEC if it is an agent: the message then says how to seal or to permit it.
        """
        more = f", run it sealed (sealed:COMMAND), or if your agreement permits it add --allow-agent {agent!r}"
        return cls(
            f"{restricted} restricted, and {plugin} is code of your own, which nothing keeps from sending on what it "
            f"is told; play it on public cases (--where data_class=public){more if agent else ''}"
        )


class MissingVariable(UsageError):
    """An environment variable that a model needs is not set; `variable` is its name."""

    def __init__(self, message: str, variable: str) -> None:
        super().__init__(message)
        self.variable = variable


class StoreError(WardroundError):
    """The store cannot be opened, read or written: the run stops, and no acknowledged write is lost."""


class TextLost(StoreError):
    """A text that the store refers to is missing or was altered; the store itself works."""


class CaseLost(TextLost):
    """The text of one case is missing or was altered: its episodes are skipped, the others go on."""


class LeaseLost(WardroundError):
    """Another process has taken over an episode that this process was playing; this one gives it up."""


class LogError(WardroundError):
    """A stored episode is inconsistent; `seq` is the number of the first event concerned."""

    def __init__(self, message: str, seq: int) -> None:
        super().__init__(message)
        self.seq = seq


class ReplayError(LogError):
    """A replayed episode differs from the stored one at event `seq`."""


class ProviderError(WardroundError):
    """A model could not be reached or would not answer, after all retries.

    `kind` is one of: auth, unknown_model, bad_request, context_overflow, rate_limit, quota, server, timeout,
    connection, malformed, empty; refused (a filter turned the prompt away), refusal (the model formally declined),
    content_filter (a filter removed the model's whole reply), unsendable (the messages are not valid text), too_long
    (the reply never ends), cancelled (the agent gave the call up). `waited` is the time (s) that the call waited before
    it was allowed. `elsewhere` says that another endpoint is ready, so that the next attempt need not wait. `unheard`
    says that the call reached nobody (nothing listens, no such host), so that its content cannot be the cause. `param`
    is the parameter of the request that the endpoint says it refuses, "" if it names none.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        unheard: bool = False,
        param: str = "",
    ) -> None:
        super().__init__(storable(message))
        self.param = param
        self.kind = kind
        self.status = status
        self.retry_after = retry_after
        self.waited = 0.0
        self.elsewhere = False
        self.unheard = unheard


class LimitReached(WardroundError):
    """An episode reached one of its limits; `limit` names it, as a field of `Limits`."""

    def __init__(self, limit: str, message: str) -> None:
        super().__init__(message)
        self.limit = limit


class Stopped(Exception):
    """The operator interrupted the process: everything stops at once, and open episodes can be resumed."""


class RunStopped(WardroundError):
    """The run was asked to stop: the episode is left open and can be resumed."""


def storable(text: str) -> str:
    """The text with lone surrogates, which no store accepts, written as escapes."""
    return text.encode("utf-8", "backslashreplace").decode()
