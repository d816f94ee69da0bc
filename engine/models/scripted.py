"""Defines models without an endpoint: one that answers from a script, and one that is never called."""

import re
from collections.abc import Callable, Sequence

from wardround.engine.errors import ProviderError, UsageError
from wardround.engine.models.provider import ModelRequest, Provider
from wardround.engine.models.reply import split_thinking
from wardround.engine.plugins import import_path
from wardround.engine.protocols import Model
from wardround.engine.records import Completion, Json, Message

_OBJECT = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
KEPT = 1000
"""The least number of recent calls that are kept; a long run must not keep them all in memory."""
Reply = str | Completion | ProviderError
"""A reply of a script: a text, a whole completion, or an error to raise."""
Script = Sequence[Reply] | Callable[[Sequence[Message], str], Reply]
"""A list of replies, or a function from (messages, purpose) to a reply."""


class Scripted(Model):
    """A model that answers from a list, one reply a call, or from a function of (messages, purpose).

    ::

        Scripted(["Since Monday.", "<think>Nothing else?</think>No."])
        Scripted(lambda messages, purpose: messages[-1].content, name="echo")

    Use a list for sequential calls. For concurrent calls use a function, whose answers do not depend on the order of
    the calls. A text may begin with a `<think>` block, which becomes the thinking part. A ProviderError in the script
    is raised. After the end of a list each call raises ProviderError of kind `empty`. `count` is the number of calls,
    and `calls` keeps the last of them.
    """

    host = ""

    def __init__(self, replies: Script, name: str = "scripted") -> None:
        if isinstance(replies, str):
            raise TypeError("replies must be a list of replies, or a function: ['...'], not '...'")
        self.name = name
        self._replies: Script = replies if callable(replies) else tuple(replies)
        self.count = 0
        self.calls: list[tuple[tuple[Message, ...], str, dict[str, Json]]] = []

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        """The script's next reply; raises a ProviderError of the script, or one of kind `empty` after its end."""
        nth = self.count
        self.count += 1
        if len(self.calls) == 2 * KEPT:
            del self.calls[:KEPT]
        self.calls.append((tuple(messages), purpose, options))
        if callable(self._replies):
            reply = self._replies(messages, purpose)
        elif nth < len(self._replies):
            reply = self._replies[nth]
        else:
            raise ProviderError(
                "empty", f"{self.name}: the script has {nth} replies and this is call {nth + 1} (purpose {purpose!r})"
            )
        if isinstance(reply, ProviderError):
            raise reply
        if isinstance(reply, Completion):
            return reply
        text, thinking = split_thinking(reply)
        return Completion(text, thinking, finish="stop", model=self.name)


class Scripts(Provider):
    """Models that send nothing: `scripted/TEXT` and `scripted/package.module:NAME`."""

    def model(self, wanted: ModelRequest) -> Model:
        """The script that `package.module:NAME` names, or one that gives the text to every call.

        Raises UsageError if NAME is neither a list of replies nor a function of (messages, purpose).
        """
        text = wanted.name
        if not _OBJECT.fullmatch(text):
            return Scripted(lambda messages, purpose: text)
        script = import_path(text)
        if not callable(script) and (isinstance(script, str) or not hasattr(script, "__getitem__")):
            raise UsageError(f"scripted/{text} must be a list of replies or a function of (messages, purpose)")
        return Scripted(script, name=text)


class Unreachable(Model):
    """Stands in for the model `spec` when every call is answered from the log."""

    host = ""

    def __init__(self, spec: str) -> None:
        self.name = spec.partition("/")[2] or spec

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        """Raises ProviderError of kind `connection`."""
        raise ProviderError("connection", f"{self.name} is not reached here: its calls are answered from the log")
