"""What is wrong with a file of cases, said so that its author can mend it: file, line, case, field, message."""

from collections.abc import Iterable
from dataclasses import dataclass

from pydantic import ValidationError

from wardround.engine.text import printable


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault of a file. `line` counts from 1; 0 means the file as a whole. `case` and `field` may be empty.

    With `warning` it is no fault but something odd: the case is read and played all the same.
    """

    path: str
    line: int
    field: str
    message: str
    case: str = ""
    warning: bool = False

    def __str__(self) -> str:
        where = [printable(self.path)]
        if self.line:
            where.append(f"line {self.line}")
        if self.case:
            where.append(f"case {printable(self.case)}")
        if self.field:
            where.append(f"field {printable(self.field)}")
        return f"{'warning: ' * self.warning}{', '.join(where)}: {self.message}"


class Refused(Exception):
    """A record that is no case; `faults` are all its (field, message) pairs. Never leaves the loaders."""

    def __init__(self, faults: Iterable[tuple[str, str]]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(f"{field}: {message}" for field, message in self.faults))


def faults(error: ValidationError) -> tuple[tuple[str, str], ...]:
    """All (field, message) pairs of a schema error; fields as in 'labs[0].value'."""
    return tuple((_field(part["loc"]), _message(part["type"], part["msg"])) for part in error.errors())


def _field(location: tuple[int | str, ...]) -> str:
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _message(kind: str, message: str) -> str:
    if kind == "missing":
        return "is missing"
    if kind == "extra_forbidden":
        return "is no field of a case (docs/case.schema.json lists them)"
    if kind == "string_too_short":
        return "must not be empty"
    return message[:1].lower() + message[1:]
