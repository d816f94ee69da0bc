"""Structured logging: one call sets it up, and no key ever gets through it."""

import logging
import re
import sys
from collections.abc import Mapping, MutableMapping
from typing import Any

import structlog

_SECRET_NAME = re.compile(r"(?i)(api[-_]?key|authorization|password|secret|token)$")
_SECRET_VALUE = re.compile(
    r"(?i)\b(?:bearer\s+\S+|sk-[\w-]{8,}|(?<=://)[^/\s:@]+:[^/\s@]+(?=@)|(?:api[-_]?key|password)=[^\s&]+)"
)


def redact(text: str) -> str:
    """`text` without what looks like a key, a bearer token, or a password in an address."""
    return _SECRET_VALUE.sub("[hidden]", text)


def hide_secrets(_logger: object, _method: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
    """A structlog processor: hides values by their name and by their look."""
    for name, value in event.items():
        if _SECRET_NAME.search(name):
            event[name] = "[hidden]"
        elif isinstance(value, str):
            event[name] = redact(value)
    return event


def configure(level: str = "info", *, as_json: bool = False) -> None:
    """Send the log to standard error at `level` (debug, info, warning, error); prompts appear at debug only."""
    renderer: Any = (
        structlog.processors.JSONRenderer()
        if as_json
        else structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
        )
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="%H:%M:%S", utc=False),
            structlog.processors.format_exc_info,
            hide_secrets,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        # Standard error as it is when something is said, not as it was when this was set up.
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
        cache_logger_on_first_use=False,
    )
