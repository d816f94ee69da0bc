"""A stored run as its user holds it: trajectories, and the cases, prompts and rules they were played with."""

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from wardround.engine.errors import CaseLost, EgressError, TextLost, UsageError
from wardround.engine.plugins import OWN, imported, meant, named, names, of_the_house
from wardround.engine.prompts import Prompts
from wardround.engine.protocols import Scenario, Store
from wardround.engine.records import Json
from wardround.runs.header import Header
from wardround.scenarios.case import Case
from wardround.settings import RunSettings
from wardround.stored import StoredRun

SCENARIOS = "wardround.scenarios"
_PARTS = ("name", "seats", "goal", "Settings", "lacks", "start", "turn", "view", "apply", "ending")
KEPT = 256
"""Cases that are kept at hand: the repeats of one come close together, and a look into the store costs a thread."""


def rules_of(name: str) -> Any:
    """The scenario that `name` or `package.module:Class` stands for; raises UsageError with those a doctor can play."""
    if ":" in name:
        rules = imported(name)
        if missing := [part for part in _PARTS if not hasattr(rules, part)]:
            raise UsageError(f"{name!r} is no scenario: it has no `{missing[0]}` (docs/scenarios.md, Writing one)")
        return rules
    if name not in names(SCENARIOS):
        raise UsageError(f"there is no scenario {name!r}{meant(name, for_doctors())}")
    return named(SCENARIOS, name)


def for_doctors() -> list[str]:
    """The names of the scenarios that a doctor plays: all but the building of cases."""
    return [name for name in names(SCENARIOS) if "doctor" in named(SCENARIOS, name).seats]


class Usual(NamedTuple):
    """What a scenario's class says of itself, each by an attribute that it may leave out.

    `repeats` (REPEATS) and `sampling` (SAMPLING) are for a model in its first seat; `item` (Item) is what its episodes
    are about.
    """

    repeats: int = 1
    sampling: Mapping[str, Json] = {}
    item: type[Case] = Case


def usual_of(rules: type[Scenario[Any, Any]]) -> Usual:
    """What is usual under the rules of a scenario."""
    # Any class with the methods is a scenario and derives from nothing: what it leaves out is as here.
    return Usual(int(getattr(rules, "REPEATS", 1)), dict(getattr(rules, "SAMPLING", {})), getattr(rules, "Item", Case))


class Run(StoredRun):
    """One run of a store; `header` says all about it (docs/store.md)."""

    def __init__(self, store: Store, name: str, header: Header) -> None:
        super().__init__(store, name, header)
        self._index: dict[str, str] | None = None
        self._cases: OrderedDict[str, Case] = OrderedDict()
        self._kind: type[Case] | None = None
        self.pilot: Any = None

    async def index(self) -> Mapping[str, str]:
        """Case id to the digest of its text, in the order of the run."""
        if self._index is None:
            try:
                self._index = dict(msgspec.json.decode(await self.store.get(self.header.cases.index)))
            except TextLost as error:
                raise TextLost(f"the list of the cases of run {self.name}: {error}") from error
        return self._index

    async def case(self, case_id: str) -> Case:
        """A case as it was when the run began; raises CaseLost naming it if its text is missing or was altered."""
        kept = self._cases.get(case_id)
        if kept is not None:
            self._cases.move_to_end(case_id)
            return kept
        digest = (await self.index()).get(case_id, "")
        try:
            text = await self.store.get(digest)
        except TextLost as error:
            raise CaseLost(f"case {case_id} of run {self.name}: {error}") from error
        case = self._cases[case_id] = self._item().model_validate_json(text)
        if len(self._cases) > KEPT:
            self._cases.popitem(last=False)
        return case

    def check_scorable(self) -> None:
        """Raise UsageError if its episodes are no encounters."""
        name = self.played("there is nothing to score or report").scenario.name
        if self._item() is not Case:
            raise UsageError(f"run {self.name} plays no cases (its scenario is {name}): there is nothing to score")

    def settings(self, **changes: object) -> RunSettings:
        """The settings that the run was begun with, with `changes`; raises UsageError for an evaluation."""
        return RunSettings.model_validate({**self.played("it is not played").settings, **changes})

    def _item(self) -> type[Case]:
        """What the episodes of this run are about: cases, or what their scenario names as its `Item`."""
        if self._kind is None:  # a look at the entry points reads files: once a run, not once a case
            name = self.header.scenario.name
            there = ":" in name or name in names(SCENARIOS)
            self._kind = usual_of(rules_of(name)).item if there else Case
        return self._kind

    async def prompts(self) -> Prompts:
        """The prompts the run was begun with."""
        texts = self.header.prompts
        return Prompts({name: (await self.store.get(digest)).decode() for name, digest in texts.items()})

    async def scenario(self) -> Scenario[Case, Any]:
        """The rules with the run's own settings and prompts.

        Raises EgressError for rules of a user's own if the run has restricted cases.
        """
        told = self.played("it is not played").scenario
        rules = rules_of(told.name)
        if self.restricted and not of_the_house(rules):
            which = f"{self.restricted} of the cases of run {self.name} are restricted"
            raise EgressError(f"{which}, and the scenario {told.name!r} is {OWN}")
        played: Scenario[Case, Any] = rules(rules.Settings.model_validate(told.settings), await self.prompts())
        return played
