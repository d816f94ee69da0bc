"""Plants a mark into every text of a case, so that what a seat sees can be traced to its fields."""

import re
from typing import Any

from wardround.scenarios.case import Case

_MARK = re.compile(r"\u00ab([^\u00ab\u00bb]+)\u00bb")
_NO_TEXT = ("data_class", "opening_source", "flag", "dated")


def plant(case: Case) -> Case:
    """The case with its own path behind every text: 'labs.3.value' behind the value of the fourth result.

    An opening's mark stands before it: the withheld tests may follow in the same text.
    """
    return Case.model_validate(_planted(case.model_dump(), ""))


def fields(text: str) -> set[str]:
    """The fields whose marks are in `text`."""
    return set(_MARK.findall(text))


def _planted(value: Any, path: str) -> Any:
    if isinstance(value, dict):
        return {
            name: _planted(part, f"{path}.{name}".strip(".")) if name not in _NO_TEXT else part
            for name, part in value.items()
        }
    if isinstance(value, list | tuple):
        return [_planted(part, f"{path}.{index}") for index, part in enumerate(value)]
    if isinstance(value, str) and value:
        return f"\u00ab{path}\u00bb {value}" if path == "opening" else f"{value} \u00ab{path}\u00bb"
    return value
