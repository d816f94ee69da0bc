"""Sets up structured logging, and removes keys and other secrets from every line."""

import logging
import os
import re
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from wardround.engine.text import printable

if TYPE_CHECKING:
    from structlog.typing import EventDict

HIDDEN = "[hidden]"
_TRACES = ("exception", "stack")
"""Fields of several lines that structlog itself adds."""
SHORTEST_SECRET = 8
"""The least number of characters in a secret of the environment."""

_NAME = (
    r"(?:(?:api|access|account|private|secret)[-_ ]?key|pass(?:word|wd|phrase)|secret|token|authorization"
    r"|credentials?)"
)
"""How the names of secrets end: OPENAI_API_KEY, x-api-key, PGPASSWORD."""
_NAMED = re.compile(rf"(?i){_NAME}$")
_SECRET = re.compile(
    r"""(?imx)
    (?<=://) (?P<user>[^\s/?\#"'<>]*) (?=@)  # user and password of an address
    | \b (?:bearer\s+)+ (?!tokens?\b) [^\s"']+
    | (?<![A-Za-z0-9]) (?:sk-[\w-]{8,} | xai-\w{16,} | (?:gsk|hf|ghp)_\w{16,} | AIza[\w-]{20,})
    | (?P<name>NAME | (?<=[?&])key) (?P<by>(?:[ ]provided)? \\*["']? [ \t]* [:=]+>? [ \t]* (?:(?:bearer|basic)[ ])?)
      (?: b?(?P<quote>\\*["']) (?:(?!(?P=quote))(?:\\.|[^\n]))+ (?P<end>(?P=quote)|$) | (?P<bare>[^\s&"']+) )
    """.replace("NAME", _NAME)
)
_NUMBER = re.compile(r"[\d.,]+(?:e-?\d+)?[;)\]}]*")


def redact(text: str) -> str:
    """`text` with everything hidden that looks like a key, a bearer token, or a password in an address.

    Values named as secrets are hidden too (`PGPASSWORD=...`, `'api_key': '...'`), even if a harmless word is lost. A
    `token` that is a number stays, because it is a count or a price.
    """
    for value in [value for name, value in os.environ.items() if len(value) >= SHORTEST_SECRET and names_secret(name)]:
        text = text.replace(value, HIDDEN)
    return _SECRET.sub(_hidden, text)


def names_secret(name: str) -> bool:
    """Whether a variable of this name holds a secret."""
    return _NAMED.search(name) is not None


def hide_secrets(_logger: object, _method: str, event: "EventDict") -> "EventDict":
    """A structlog processor that hides secrets at any depth, by the name of a value or by its form."""
    traces = {
        name: printable(redact(event.pop(name)), lines=True) for name in _TRACES if isinstance(event.get(name), str)
    }
    return {**{name: _hidden_or_clean(name, part) for name, part in event.items()}, **traces}


def _hidden_or_clean(name: object, value: object) -> object:
    return HIDDEN if _NAMED.search(str(name)) else _clean(value)


def _clean(value: object) -> object:
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str | BaseException):
        return printable(redact(str(value)))
    if isinstance(value, Mapping):
        return {name: _hidden_or_clean(name, part) for name, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_clean(part) for part in value]
    return printable(redact(repr(value)))  # as it will be shown


def _hidden(match: re.Match[str]) -> str:
    parts = match.groupdict()
    if parts["user"] is not None:
        return HIDDEN if ":" in parts["user"] else redact(parts["user"])
    if parts["name"] is None:
        return HIDDEN
    if parts["name"].casefold() == "token" and _NUMBER.fullmatch(parts["bare"] or ""):
        return match[0]
    return f"{parts['name']}{parts['by']}{parts['quote'] or ''}{HIDDEN}{parts['end'] or ''}"


class Log:
    """The log of this package; structlog is imported for the first line that is shown, since most runs show none.

    Example: `log.warning("endpoint taken out", address=address)`.
    """

    def __init__(self) -> None:
        self._waiting: str | None = None

    def configure(self, level: str) -> None:
        """Set structlog up at `level`: now if it is imported already, else once it is."""
        self._waiting = level
        if "structlog" in sys.modules:
            self.prepare()

    def prepare(self) -> None:
        """Set structlog up as `configure` asked. Call it before code of others runs, since that may write lines too."""
        if self._waiting is not None:
            level, self._waiting = self._waiting, None
            _set_up(level)

    def info(self, event: str, **facts: object) -> None:
        """Write a line of level info."""
        self._write(logging.INFO, event, facts)

    def warning(self, event: str, **facts: object) -> None:
        """Write a line of level warning."""
        self._write(logging.WARNING, event, facts)

    def error(self, event: str, **facts: object) -> None:
        """Write a line of level error."""
        self._write(logging.ERROR, event, facts)

    def _write(self, level: int, event: str, facts: Mapping[str, object]) -> None:
        if self._waiting is None or level >= logging.getLevelNamesMapping()[self._waiting.upper()]:
            import structlog  # noqa: PLC0415 it takes 60 ms

            self.prepare()
            structlog.get_logger("wardround").log(level, event, **facts)


log = Log()
"""The log of this package."""


def configure(level: str = "info") -> None:
    """Send the log to standard error at `level` (debug, info, warning, error); prompts appear at debug only."""
    log.configure(level)


def _set_up(level: str) -> None:
    import structlog  # noqa: PLC0415 see above

    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="%H:%M:%S", utc=False),
            structlog.processors.format_exc_info,
            hide_secrets,
            structlog.dev.ConsoleRenderer(
                colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
            ),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        # Look up standard error for each line, because it may have been replaced since this was set up.
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
        cache_logger_on_first_use=False,
    )
