"""Looks up the price of a token, in the user's own table or else in litellm's list; an unknown price gives no cost."""

import csv
import importlib.metadata
import importlib.util
import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path

import msgspec

from wardround.engine.errors import UsageError
from wardround.engine.records import Json
from wardround.engine.text import file_text, toml_file


class Price(msgspec.Struct, frozen=True, omit_defaults=True):
    """US dollars per million tokens; `cached` is the price of prompt tokens that the endpoint had cached.

    If `cached` is None, these cost as much as `input`. A call with more than `above` prompt tokens has another price,
    which is not known here. `source` says where the price comes from.
    """

    input: float
    output: float
    cached: float | None = None
    above: int | None = None
    source: str = ""

    def cost(self, prompt: int, completion: int, cached: int = 0) -> float | None:
        """The cost of a call in US dollars, None if unknown; the `prompt` tokens include the `cached` tokens."""
        if self.above is not None and prompt > self.above:
            return None
        kept = min(cached, prompt)
        rate = self.input if self.cached is None else self.cached
        return ((prompt - kept) * self.input + kept * rate + completion * self.output) / 1e6


class PriceList:
    """litellm's list of public prices, a file in its package that is read at the first use.

    If `path` is None there is no list, and no price is known. litellm itself is not imported.
    """

    def __init__(self, path: Path | None, source: str = "litellm") -> None:
        self._path, self._source = path, source

    @classmethod
    def installed(cls) -> "PriceList":
        """The list of the installed litellm, or an empty list."""
        package = importlib.util.find_spec("litellm")
        folders = (package.submodule_search_locations if package else None) or ()
        for folder in folders:
            path = Path(folder) / "model_prices_and_context_window_backup.json"
            if path.is_file():
                return cls(path, f"litellm {_version()}".strip())
        return cls(None)

    def of(self, spec: str) -> Price | None:
        """The list price of `provider/model`, listed under that whole name or under the provider's name for it."""
        spec = spec.removeprefix("litellm/")
        provider, _, name = spec.partition("/")
        provider = provider.removesuffix("-responses")
        for key in (f"{provider}/{name}", name):
            entry = self._entry(key)
            if _provider(entry) == provider:
                return _price_of(name, entry, self._source)
        return None

    @cached_property
    def _entries(self) -> dict[str, msgspec.Raw]:
        if self._path is None:
            return {}
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=dict[str, msgspec.Raw])
        except (OSError, msgspec.DecodeError):
            return {}  # another version's format, so that no price is known

    def _entry(self, key: str) -> Mapping[str, Json]:
        entry = msgspec.json.decode(self._entries[key]) if key in self._entries else {}
        return entry if isinstance(entry, dict) else {}


class Prices:
    """Prices by the exact name of a model; partial names never match.

    `table` has the user's own prices, `listed` the public ones (default: the list of the installed litellm).
    """

    def __init__(self, table: Mapping[str, Price] | None = None, listed: PriceList | None = None) -> None:
        self._table = dict(table or {})
        self._price_of = listed or PriceList.installed()
        self._asked: dict[tuple[str, bool], Price | None] = {}

    def of(self, spec: str, name: str = "", *, public: bool = False) -> Price | None:
        """The user's price of `provider/model`, else of the bare model name, else the list price, else None.

        `public` says that the model is reached at its provider's own address; the list applies only then. Another
        endpoint may give its model any name, and its owner sets the price.
        """
        price = self._table.get(spec) or self._table.get(name)
        if price is None and public:
            price = self._price_of.of(spec)
        self._asked[spec, public] = price
        return price

    def as_json(self) -> list[dict[str, Json]]:
        """For a run's header: each model that was looked up, in order of name, with its price or null."""
        return [
            {"model": spec, "public": public, "price": msgspec.to_builtins(price)}
            for (spec, public), price in sorted(self._asked.items(), key=lambda item: item[0])
        ]


def read_prices(path: Path) -> Prices:
    """Read a user's table of prices.

    CSV: a header line `model,input,output[,cached]`, then a line for each model. TOML: a table for each model,
    `["openai/gpt-4o"]` with `input`, `output` and optionally `cached`. All prices are in US dollars per million tokens.
    Raises UsageError naming the file, the line or model, and the field.
    """
    rows = _toml(path) if path.suffix.lower() == ".toml" else _csv(path, file_text(path, "prices"))
    table: dict[str, Price] = {}
    for place, model, fields in rows:
        if model in table:
            raise UsageError(f"{path}, {place}: {model} has a price already")
        table[model] = _price(f"{path}, {place}", fields, f"file {path.name}")
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


def _toml(path: Path) -> Iterable[_Row]:
    for model, fields in toml_file(path, "prices").items():
        if not isinstance(fields, dict):
            raise UsageError(f'{path}: {model} must be a table: ["{model}"], then `input = ...` and `output = ...`')
        yield f"[{model}]", model, fields


def _price(place: str, fields: Mapping[str, Json], source: str) -> Price:
    if unknown := sorted(set(fields) - {"input", "output", "cached"}):
        raise UsageError(f"{place}: unknown field `{unknown[0]}`; there are input, output, cached")
    numbers = {name: _number(place, name, fields.get(name)) for name in ("input", "output")}
    cached = fields.get("cached")
    kept = None if cached in (None, "") else _number(place, "cached", cached)
    return Price(numbers["input"], numbers["output"], kept, source=source)


def _number(place: str, name: str, value: Json) -> float:
    try:
        number = float(value.strip() if isinstance(value, str) else value)
    except (TypeError, ValueError):
        number = -1.0
    if isinstance(value, bool) or not 0 <= number < float("inf"):
        raise UsageError(f"{place}, field `{name}`: {value!r} is not a price in US dollars per million tokens")
    return number


def _version() -> str:
    try:
        return importlib.metadata.version("litellm")
    except importlib.metadata.PackageNotFoundError:
        return ""  # a copy on the path that is not installed


_FAMILIES = {"bedrock_converse": "bedrock", "cohere_chat": "cohere"}
_TIER = re.compile(r"(?:input|output)_cost_per_token_above_(\d+)k_tokens")
_BESIDE = ("input_cost_per_request", "citation_cost_per_token")


def _provider(entry: Mapping[str, Json]) -> str:
    """The provider's name as in a SPEC; the list adds a branch to some names (`vertex_ai-language-models`)."""
    named = str(entry.get("litellm_provider", ""))
    return _FAMILIES.get(named, named.partition("-")[0] if named.startswith("vertex_ai-") else named)


def _price_of(name: str, entry: Mapping[str, Json], source: str) -> Price | None:
    """An entry's price; None if the tokens of a plain call do not determine it, or if it is 0.

    A 0 in the list mostly means that nobody entered the price. Users with a free model can say so in their own table.
    """
    if entry.get("mode") not in ("chat", "responses", "completion") or any(entry.get(charge) for charge in _BESIDE):
        return None
    # These models search the web at each call, for a fee that the tokens do not show.
    if "search" in re.split("[-/]", name) or (
        "perplexity" in entry.values() and "search_context_cost_per_query" in entry
    ):
        return None
    into, out = _dollars(entry, "input_cost_per_token"), _dollars(entry, "output_cost_per_token")
    thinking = _dollars(entry, "output_cost_per_reasoning_token")
    if into is None or out is None or thinking not in (None, out):
        return None
    tiers = [int(tier[1]) * 1000 for key in entry if (tier := _TIER.fullmatch(key))]
    cached = _dollars(entry, "cache_read_input_token_cost")
    return Price(into, out, cached, min(tiers, default=None), source)


def _dollars(entry: Mapping[str, Json], field: str) -> float | None:
    """US dollars per million tokens; None if the field is missing, not a number, or 0."""
    value = entry.get(field)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
        return None
    return round(value * 1e6, 9)
