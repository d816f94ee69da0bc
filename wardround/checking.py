"""Trying out an agent: one bundled case, the scenario's own other seats, and a model that only says what is asked."""

from wardround.access import Access
from wardround.agents.check import Checked, Trial, check
from wardround.cast import SEATS, part_of
from wardround.engine.errors import UsageError
from wardround.engine.plugins import maker, named
from wardround.engine.seat import Seat, seed_of
from wardround.planning import DEFAULT_SPECS
from wardround.results import rules_of
from wardround.scenarios.loaders.load import bundled, load
from wardround.settings import SeatSettings
from wardround.wording import wording

_USUAL = {"doctor": "workup", "patient": "consultation", "examiner": "workup"}


async def check_agent(spec: str, seat: str, scenario: str | None = None) -> Checked:
    """Try the agent that `spec` names in `seat`; a model SPEC is really called."""
    name = scenario or _USUAL[seat]
    rules = rules_of(name)
    if seat not in rules.seats:
        raise UsageError(f"scenario {name} has no seat {seat!r}; it has: {', '.join(rules.seats)}")
    cases = tuple(load(bundled("admissions")[0]))
    prompts = wording()
    try:
        part = part_of(seat, SeatSettings(spec=spec), Access())
    except UsageError as error:
        raise UsageError(str(error).replace("give --base-url", "set OPENAI_BASE_URL")) from None
    case, told = cases[0], {"truth": cases[0], "cases": cases[1:], "": None}[part.told]

    def seat_of(which: str) -> Seat:
        own = which == seat
        return Seat(
            which,
            case.id,
            seed_of(0, case.id, which),
            prompts,
            model=part.model if own else None,
            told=told if own else None,
        )

    other_specs = {other: DEFAULT_SPECS[other] for other in rules.seats if other != seat}
    others = {other: maker(named(SEATS + other, named_as), named_as) for other, named_as in other_specs.items()}
    if "doctor" in others:
        others["doctor"] = maker(named(SEATS + "doctor", "silent"), "silent")
    make = part.make or (part.pick(case.id, 1) if part.pick else None)
    if make is None:
        raise UsageError(f"{spec!r} has nothing for the bundled case {case.id}")
    try:
        return await check(make, Trial(rules(rules.Settings(), prompts), case, seat, seat_of, others))
    finally:
        if part.model is not None:
            await part.model.aclose()
