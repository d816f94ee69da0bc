"""What can go wrong, by what the reader of the message should do about it."""


class WardroundError(Exception):
    """Base of all errors meant for people: the message says what, where, and what to do."""


class UsageError(WardroundError):
    """A wrong argument, file, name or setting: nothing was run. The command line exits with 2."""


class PreflightError(UsageError):
    """An endpoint refused the one cheap call made before a run: a wrong key, model name or address."""


class EgressError(UsageError):
    """A restricted case was about to be sent to a host the user did not name."""


class StoreError(WardroundError):
    """The store cannot be opened, read or written: the run stops, nothing acknowledged is lost."""


class TextLost(StoreError):
    """The store is well, and a text that something in it names is missing or was altered."""


class CaseLost(TextLost):
    """The text of one case is missing or was altered: its episodes are left alone, the others go on."""


class LeaseLost(WardroundError):
    """Another process has taken over an episode that this one was playing: it is left to that one."""


class LogError(WardroundError):
    """A stored episode does not hold together; `seq` is the number of the first event concerned."""

    def __init__(self, message: str, seq: int) -> None:
        super().__init__(message)
        self.seq = seq


class ReplayError(LogError):
    """A re-driven episode came out differently from the stored one at event `seq`."""


class ProviderError(WardroundError):
    """A model could not be reached or would not answer, after all retries.

    `kind` is one of: auth, unknown_model, bad_request, context_overflow, rate_limit, quota, server, timeout,
    connection, malformed, empty; refused (a filter turned the prompt away), refusal (the model formally declined),
    content_filter (a filter took the model's whole reply), unsendable (the messages are no valid text), too_long (it
    never ends). `waited` is the time (s) that the call waited for leave to be made; `elsewhere` says that another
    endpoint stands ready for it, so that a next attempt need not wait; `unheard` that nobody was there to hear the call
    (nothing listens, no such host), so that it cannot lie in what was asked.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        unheard: bool = False,
    ) -> None:
        super().__init__(storable(message))
        self.kind = kind
        self.status = status
        self.retry_after = retry_after
        self.waited = 0.0
        self.elsewhere = False
        self.unheard = unheard


class LimitReached(WardroundError):
    """An episode reached one of its limits; `limit` names it (actions, tokens, cost, wall)."""

    def __init__(self, limit: str, message: str) -> None:
        super().__init__(message)
        self.limit = limit


class Stopped(Exception):
    """The operator interrupted the process: everything stops at once, and open episodes can be resumed."""


class RunStopped(WardroundError):
    """The run was asked to stop: the episode is left open and can be resumed."""


def storable(text: str) -> str:
    """The text with half a surrogate pair, which no store takes, written as an escape."""
    return text.encode("utf-8", "backslashreplace").decode()
