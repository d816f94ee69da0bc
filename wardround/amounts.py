"""Budgets as people write them: `50usd`, `doctor=2Mtokens,3h`."""

import re
from collections.abc import Collection, Mapping, Sequence

import msgspec

from wardround.engine.budget import Budget, Caps
from wardround.engine.errors import UsageError
from wardround.engine.records import Json

_AMOUNT = re.compile(r"\$?(?P<number>\d+(?:[_.]\d+)*)\s*(?P<power>[kM]?)\s*(?P<unit>[A-Za-z]*)")
_POWERS = {"": 1, "k": 1_000, "M": 1_000_000}
_UNITS = {
    "usd": ("cost", 1.0),
    "token": ("tokens", 1),
    "tokens": ("tokens", 1),
    "call": ("calls", 1),
    "calls": ("calls", 1),
    "s": ("wall", 1.0),
    "min": ("wall", 60.0),
    "h": ("wall", 3600.0),
}
_FORM = "write amounts such as 50usd, 2Mtokens, 10000calls, 30min or 3h"


def budget_of(texts: Sequence[str], seats: Collection[str], models: Collection[str]) -> Budget:
    """The budget that `texts` say together: each `[SEAT|MODEL=]AMOUNT[,AMOUNT ...]`.

    Raises UsageError: an amount that cannot be read, an unknown seat or model, a cap given twice.
    """
    scopes: dict[str, Caps] = {}
    models = [model for model in models if "/" in model]
    for text in texts:
        scope, equals, amounts = text.rpartition("=")
        scope = scope.strip()
        if equals and scope not in seats and scope not in models:
            known = ", ".join([*seats, *models])
            raise UsageError(f"budget {text!r}: {scope!r} is no seat or model of this run; there are: {known}")
        for amount in amounts.split(","):
            name, value = _read(amount.strip(), text)
            caps = scopes.get(scope, Caps())
            if msgspec.structs.asdict(caps)[name] is not None:
                raise UsageError(f"budget {text!r}: the cap on {name} is given twice")
            if name == "wall" and scope:
                raise UsageError(f"budget {text!r}: time is capped for the whole run only")
            scopes[scope] = msgspec.structs.replace(caps, **{name: value})
    run = scopes.pop("", Caps())
    return Budget(
        run,
        {scope: caps for scope, caps in scopes.items() if scope in seats},
        {scope: caps for scope, caps in scopes.items() if scope not in seats},
    )


def new_budget(texts: Sequence[str], specs: Mapping[str, str], prices: Sequence[Mapping[str, Json]]) -> Budget:
    """The budget that takes the place of that of a run with these seats and prices; raises UsageError."""
    budget = budget_of(texts, specs, specs.values())
    check_priced(budget, specs, prices, "cap its calls or tokens, or begin a new run with --prices")
    return budget


def check_priced(
    budget: Budget, specs: Mapping[str, str], prices: Sequence[Mapping[str, Json]], to_do: str = "give --prices"
) -> dict[str, str]:
    """The seats of `specs` whose model has no price in `prices` (as in a run's header).

    Raises UsageError if the budget caps the cost of one: such a cap cannot be kept.
    """
    asked = {row["model"]: row["price"] for row in prices}
    unknown = {seat: spec for seat, spec in specs.items() if spec in asked and asked[spec] is None}
    for seat, spec in unknown.items():
        caps = (budget.run, budget.seats.get(seat, Caps()), budget.models.get(spec, Caps()))
        if any(cap.cost is not None for cap in caps):
            raise UsageError(no_price(seat, spec, to_do))
    return unknown


def no_price(seat: str, spec: str, to_do: str = "give --prices") -> str:
    """Why the cost of a seat cannot be capped."""
    return f"no price is known for {seat} {spec!r}, so a cap on cost cannot be kept: {to_do}"


def _read(amount: str, text: str) -> tuple[str, float | int]:
    found = _AMOUNT.fullmatch(amount)
    unit = ("usd" if amount.startswith("$") and not found["unit"] else found["unit"].lower()) if found else ""
    if not found or unit not in _UNITS or found["number"].count(".") > 1:
        raise UsageError(f"budget {text!r}: {amount!r} cannot be read; {_FORM}")
    name, one = _UNITS[unit]
    value = float(found["number"]) * _POWERS[found["power"]] * one
    if value <= 0:
        raise UsageError(f"budget {text!r}: {amount!r} leaves nothing to spend")
    return name, value if name in ("cost", "wall") else round(value)
