"""What a token costs, from the user's own table: no price is built in, and an unknown one gives no cost."""

import csv
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from wardround.engine.errors import UsageError
from wardround.engine.records import Json


class Price(msgspec.Struct, frozen=True):
    """US dollars per million tokens; `cached` is for what the endpoint had cached of the prompt (None: as `input`)."""

    input: float
    output: float
    cached: float | None = None

    def cost(self, prompt: int, completion: int, cached: int = 0) -> float:
        """US dollars of a call; `cached` tokens are among the `prompt` tokens."""
        kept = min(cached, prompt)
        rate = self.input if self.cached is None else self.cached
        return ((prompt - kept) * self.input + kept * rate + completion * self.output) / 1e6


class Prices:
    """Prices by model, exactly as it is named: no part of a name is ever taken for the whole."""

    def __init__(self, table: Mapping[str, Price] | None = None) -> None:
        self._table = dict(table or {})

    def of(self, spec: str, name: str = "") -> Price | None:
        """The price of `provider/model`, else of the bare model name, else None."""
        return self._table.get(spec) or self._table.get(name)

    def as_json(self) -> dict[str, dict[str, float | None]]:
        """The table for a run's header, in order of name."""
        return {name: msgspec.structs.asdict(price) for name, price in sorted(self._table.items())}


def read_prices(path: Path) -> Prices:
    """Read a user's table of prices.

    CSV: a head line `model,input,output[,cached]`, then a line for each model. TOML: a table for each model,
    `["openai/gpt-4o"]` with `input`, `output` and perhaps `cached`. All in US dollars per million tokens.
    Raises UsageError naming file, line or model, and field.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read as a UTF-8 table of prices ({error})") from error
    rows = _toml(path, text) if path.suffix.lower() == ".toml" else _csv(path, text)
    table: dict[str, Price] = {}
    for place, model, fields in rows:
        if model in table:
            raise UsageError(f"{path}, {place}: {model} has a price already")
        table[model] = _price(f"{path}, {place}", fields)
    return Prices(table)


_Row = tuple[str, str, Mapping[str, Json]]


def _csv(path: Path, text: str) -> Iterable[_Row]:
    reader = csv.DictReader(text.splitlines(), skipinitialspace=True)
    head = [(name or "").strip().lower() for name in reader.fieldnames or ()]
    if not {"model", "input", "output"} <= set(head):
        raise UsageError(f"{path}, line 1: the head must be `model,input,output` (and perhaps `cached`), not {head}")
    reader.fieldnames = head
    for row in reader:
        if None in row:
            raise UsageError(f"{path}, line {reader.line_num}: more fields than the head names")
        model = (row["model"] or "").strip()
        if not model:
            raise UsageError(f"{path}, line {reader.line_num}: the field `model` is empty")
        yield f"line {reader.line_num}", model, {name: value for name, value in row.items() if name != "model"}


def _toml(path: Path, text: str) -> Iterable[_Row]:
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: {error}") from error
    for model, fields in table.items():
        if not isinstance(fields, dict):
            raise UsageError(f'{path}: {model} must be a table: ["{model}"], then `input = ...` and `output = ...`')
        yield f"[{model}]", model, fields


def _price(place: str, fields: Mapping[str, Json]) -> Price:
    if unknown := sorted(set(fields) - {"input", "output", "cached"}):
        raise UsageError(f"{place}: unknown field `{unknown[0]}`; there are input, output, cached")
    numbers = {name: _number(place, name, fields.get(name)) for name in ("input", "output")}
    cached = fields.get("cached")
    return Price(**numbers, cached=None if cached in (None, "") else _number(place, "cached", cached))


def _number(place: str, name: str, value: Json) -> float:
    try:
        number = float(value.strip() if isinstance(value, str) else value)
    except (TypeError, ValueError):
        number = -1.0
    if isinstance(value, bool) or not 0 <= number < float("inf"):
        raise UsageError(f"{place}, field `{name}`: {value!r} is no price in US dollars per million tokens")
    return number
