"""Sequential diagnosis, as in SDBench: a consultation in which visits and tests cost dollars."""

from collections.abc import Mapping, Sequence
from math import fsum
from typing import Literal

import msgspec
from pydantic import Field

from wardround.engine.events import Acted
from wardround.engine.prompts import Prompts
from wardround.engine.records import Action, Ending, Json, Said
from wardround.scenarios.case import Case, CaseResult, case_results
from wardround.scenarios.encounters.consultation import Consultation, ConsultationSettings, ConsultationState
from wardround.scenarios.orders.catalogue import TestNames, catalogue
from wardround.scenarios.orders.chart import read_chart
from wardround.scenarios.orders.examiner_lookup import Answer, answer, ordered
from wardround.scenarios.orders.subject import subject_of
from wardround.scenarios.orders.tariff import BillLine, Reported, Tariff
from wardround.scenarios.parsers.moves import DoctorOrder, PatientQuestion, answers_of

_with = msgspec.structs.replace
BILL = "bill"
"""The name of the bill among the facts of an ending."""


class SequentialSettings(ConsultationSettings):
    """The rules that a run may change."""

    max_turns: int = Field(default=30, ge=1, le=1000, description="Turns a doctor has; the last must be the diagnosis.")
    rules: Literal["default"] = Field(default="default", description="There are no published rules.")
    visit_price: float = Field(default=300.0, ge=0, allow_inf_nan=False, description="Dollars of one visit.")
    budget: float | None = Field(
        default=None, gt=0, allow_inf_nan=False, description="Dollars of one case; what would cost more is not done."
    )
    prices: dict[str, float] = Field(default_factory=dict, description="A CSV file test,usd above the table's prices.")


class SequentialState(ConsultationState, frozen=True):
    """A consultation with its bill.

    `recorded` are the names of the case's results. `visiting` is true while questions and examinations belong to a
    visit that is already paid for. `refused` counts the desk's refusals, `unpriced` names the tests without a known
    price, and `last` is the sentence on the cost of the last turn.
    """

    recorded: frozenset[str] = frozenset()
    tests_usd: float = 0.0
    visits: int = 0
    visiting: bool = False
    refused: int = 0
    unpriced: tuple[str, ...] = ()
    last: str = ""

    def spent(self, visit_price: float) -> float:
        """Dollars so far, without what has no known price."""
        return self.tests_usd + self.visits * visit_price


class Sequential(Consultation):
    """A consultation whose visits and tests cost dollars, after SDBench (docs/scenarios.md).

    ::

        question, or an order of examinations only -> a visit, unless the turn before was one
        order of tests -> the price of each test; the next question is another visit
        over the budget, or of unknown price if there is a budget -> refused by the desk: costs a turn and no dollar

    However an order is worded, it costs at least as much as the recorded results that answer it. The bill is among the
    ending's facts. It names a test without a known price and never counts such a test as 0.
    """

    name = "sequential"
    Settings = SequentialSettings
    settings: SequentialSettings

    def __init__(self, settings: SequentialSettings, prompts: Prompts) -> None:
        super().__init__(settings, prompts)
        self._tariff = Tariff(settings.prices, catalogue(settings.names))

    def start(self, case: Case) -> SequentialState:
        """The state at the start: nothing is spent."""
        fields = msgspec.structs.asdict(super().start(case))
        return SequentialState(**fields, recorded=frozenset(item.name for item in case_results(case)))

    def apply(self, state: ConsultationState, event: Acted) -> ConsultationState:
        """The state after an action, with its cost."""
        after = super().apply(state, event)
        assert isinstance(state, SequentialState)
        assert isinstance(after, SequentialState)
        return after if state.asked or after.asked is None else self._charged(state, after, event.seq)

    def ending(self, state: ConsultationState) -> Ending | None:
        """How the episode ended, with the bill among its facts; None if it is still running."""
        if state.ending is None or not isinstance(state, SequentialState):
            return state.ending
        return _with(state.ending, facts={**state.ending.facts, BILL: self._bill_facts(state)})

    def _bill_facts(self, state: SequentialState) -> dict[str, Json]:
        return {
            "tests_usd": state.tests_usd,
            "visits": state.visits,
            "visits_usd": state.visits * self.settings.visit_price,
            "unpriced": list(state.unpriced),
            "refused": state.refused,
        }

    def _charged(self, before: SequentialState, after: SequentialState, seq: int) -> ConsultationState:
        """The state with the cost of what the doctor wants, or with the desk's refusal if it is over the budget."""
        lines = self._bill(after)
        tests = [line for line in lines if line.charge in ("test", "unpriced")]
        visit = not before.visiting and any(line.charge == "visit" for line in lines)
        usd = fsum(line.usd or 0.0 for line in tests)
        unknown = [line.asked for line in tests if line.usd is None]
        cost = usd + (self.settings.visit_price if visit else 0.0)
        if why := self._over_budget(before, cost, unknown):
            return self._refused(before, after, seq, why)
        charged = _with(
            after,
            tests_usd=fsum((before.tests_usd, usd)),
            visits=before.visits + visit,
            visiting=not tests and (visit or before.visiting),
            unpriced=(*before.unpriced, *unknown),
        )
        return _with(charged, last=self._cost_of_turn(charged, tests, cost, visit=visit))

    def _refused(self, before: SequentialState, after: SequentialState, seq: int, why: str) -> ConsultationState:
        """The state after the desk has refused what the doctor wants: it costs the turn, and no dollar."""
        prompt = self._prompts["sequential/refused"].render(reason=why, bill=self._spent_so_far(before))
        said = Said(seq, "desk", "refusal", prompt, {"reason": "budget", "why": why})
        refused = _with(
            after,
            asked=None,
            questions=before.questions,
            orders=before.orders,
            heard=(*after.heard, said),
            tally=_with(after.tally, orders=before.tally.orders),
            refused=before.refused + 1,
        )
        return self._demand_at_last(refused, seq)

    def _bill(self, state: SequentialState) -> Sequence[BillLine]:
        """The lines of the bill for what the doctor has just asked or ordered."""
        asked = state.asked
        if isinstance(asked, DoctorOrder):
            lines = self._tariff.bill(asked.items or asked.text, asked.kind, state.recorded)
            return self._tariff.with_reported(lines, _unreported(state, asked, self.settings.names), state.recorded)
        return [BillLine("question", "", "visit", None)] if isinstance(asked, PatientQuestion) else []

    def _over_budget(self, state: SequentialState, cost: float, unknown: Sequence[str]) -> str:
        """Why `cost` dollars and tests of `unknown` price do not fit the budget; "" if they do."""
        budget = self.settings.budget
        if budget is None:
            return ""
        if unknown:
            return f"no price is known for {', '.join(unknown)}, so the budget cannot be kept"
        left = budget - state.spent(self.settings.visit_price)
        return f"it would cost {_dollars(cost)}, and {_dollars(left)} are left" if cost > left else ""

    def _cost_of_turn(self, state: SequentialState, tests: Sequence[BillLine], cost: float, *, visit: bool) -> str:
        """The sentence by which the doctor learns the cost of this turn."""
        parts = [f"{line.asked} {_dollars(line.usd)}" for line in tests if line.usd]
        parts += [f"price not known: {line.asked}" for line in tests if line.usd is None]
        parts += [f"visit {_dollars(self.settings.visit_price)}"] if visit else []
        of_what = f" ({'; '.join(parts)})" if parts else ""
        return f"Cost of this turn: {_dollars(cost)}{of_what}. {self._spent_so_far(state)}"

    def _spent_so_far(self, state: SequentialState) -> str:
        spent = state.spent(self.settings.visit_price)
        without = f", without {', '.join(state.unpriced)}" if state.unpriced else ""
        budget = self.settings.budget
        left = f" Left: {_dollars(budget - spent)}." if budget is not None else ""
        return f"Spent so far: {_dollars(spent)}{without}.{left}"

    def _more_values(self, state: ConsultationState | None) -> Mapping[str, str]:
        if state is None:
            budget = self.settings.budget
            said = f"You have {_dollars(budget)} in all; what would cost more is not done. " if budget else ""
            return {"visit": _dollars(self.settings.visit_price), "budget": said}
        return {"bill": state.last} if isinstance(state, SequentialState) else {}


def _unreported(state: SequentialState, order: DoctorOrder, names: TestNames) -> list[Reported]:
    """The results that the record has for an order and that no answer has reported yet."""
    reported = {
        str(ref)
        for said in state.orders
        for row in answers_of(Action(said.verb, args=said.args))
        for ref in row.get("refs") or ()
    }
    items = msgspec.convert(state.record, tuple[CaseResult, ...])
    chart = read_chart(items, subject_of(state.subject), names)
    answers: Sequence[Answer] = answer(chart, ordered(order.known()), order.kind, reported=reported)
    by_ref = {item.ref: item for item in items}
    return [
        Reported(line.asked, ref, by_ref[ref].name, examined=by_ref[ref].kind == "examination")
        for line in answers
        for ref in line.refs
        if ref not in reported
    ]


def _dollars(usd: float | None) -> str:
    return "?" if usd is None else f"${usd:,.0f}" if float(usd).is_integer() else f"${usd:,.2f}"
