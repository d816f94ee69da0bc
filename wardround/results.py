"""A stored run as its user holds it: trajectories, and the cases, prompts and rules they were played with."""

from collections.abc import Mapping
from typing import Any

import msgspec

from wardround.engine.errors import StoreError
from wardround.engine.plugins import named
from wardround.engine.prompts import Prompts
from wardround.engine.protocols import Scenario, Store
from wardround.engine.records import Json
from wardround.scenarios.case import Case
from wardround.stored import StoredRun

SCENARIOS = "wardround.scenarios"


class Run(StoredRun):
    """One run of a store; `header` says all about it (docs/store.md)."""

    def __init__(self, store: Store, name: str, header: Mapping[str, Json]) -> None:
        super().__init__(store, name, header)
        self._index: dict[str, str] | None = None
        self.pilot: Any = None

    async def index(self) -> Mapping[str, str]:
        """Case id to the digest of its text, in the order of the run."""
        if self._index is None:
            self._index = dict(msgspec.json.decode(await self.store.get(self.header["cases"]["index"])))
        return self._index

    async def case(self, case_id: str) -> Case:
        """A case as it was when the run began; raises StoreError naming it if its text is missing or was altered."""
        try:
            text = await self.store.get((await self.index())[case_id])
        except StoreError as error:
            raise StoreError(f"case {case_id} of run {self.name}: {error}") from error
        return Case.model_validate_json(text)

    async def prompts(self) -> Prompts:
        """The prompts the run was begun with."""
        texts = self.header["prompts"]
        return Prompts({name: (await self.store.get(digest)).decode() for name, digest in texts.items()})

    async def scenario(self) -> Scenario[Case, Any]:
        """The rules with the run's own settings and prompts."""
        rules = named(SCENARIOS, self.header["scenario"]["name"])
        played: Scenario[Case, Any] = rules(
            rules.Settings.model_validate(self.header["scenario"]["settings"]), await self.prompts()
        )
        return played
