"""Keeps a restricted conversation on this machine and on the hosts the user named."""

import copy
from collections.abc import Sequence

from wardround.engine.errors import EgressError
from wardround.engine.models.bound import Wrapped
from wardround.engine.models.hosts import is_loopback, normal
from wardround.engine.protocols import Model
from wardround.engine.records import Completion, Json, Message


def allowed(host: str, hosts: Sequence[str]) -> bool:
    """Whether restricted text may go to `host`: nowhere (""), literally this machine, or one of `hosts`.

    A host is allowed by its whole name: not by a suffix, and not by what it resolves to. Raises UsageError if an entry
    of `hosts` is no host.
    """
    named = {normal(entry) for entry in hosts}
    return not host or is_loopback(host) or host in named


class Guarded(Wrapped):
    """A model that, if `restricted`, refuses before the first byte leaves for a host that is not allowed.

    Of a fleet every host must be allowed: which of them a call goes to is not known before.
    """

    def __init__(self, model: Model, allowed_hosts: Sequence[str] = (), *, restricted: bool) -> None:
        super().__init__(model)
        self._closed = tuple(host for host in self.hosts if restricted and not allowed(host, allowed_hosts))

    def bound(self, role: str, episode: str) -> "Guarded":
        """For one seat and episode."""
        made = copy.copy(self)
        made.model = self.model.bound(role, episode)
        return made

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        """The model's completion; raises EgressError."""
        if self._closed:
            host = self._closed[0]
            raise EgressError(
                f"restricted text was about to be sent to {host} ({self.name}), which is neither this machine nor "
                f"named: if your agreement on the data permits it, add --allow-host {host}"
            )
        return await self.model.complete(messages, purpose=purpose, **options)
