"""The search that a user names: by an installed name with what follows its colon, or by the class of one's own."""

import re
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from wardround.engine.errors import UsageError
from wardround.engine.models.hosts import is_loopback
from wardround.engine.plugins import imported, meant, names, of_the_house
from wardround.engine.plugins import named as installed
from wardround.evaluators.search.contract import MOST, Opening, Search, Source
from wardround.evaluators.search.ledger import Ledger
from wardround.evaluators.search.providers.service import Steady
from wardround.evaluators.search.results import Found

SEARCHES = "wardround.searches"
"""The group of entry points that name searches; each stands for a class that is a Source."""
_CLASS = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


async def named(spec: str, *, cache: Path | None = None, ledger: Ledger | None = None) -> Search:
    """The search that `spec` names; `cache` is the folder for an index, `ledger` the record of what was found before.

    Services are asked with patience (service.py); whether a query may leave at all is for `Guarded` to say. Raises
    UsageError naming the searches there are.
    """
    kind, place = kind_of(spec)
    search = await kind.opened_at(place, Opening(cache, ledger))
    if not of_the_house(kind):
        search = ForeignSearch(search)
    return Steady(search, at_once=kind.AT_ONCE) if search.host else search


def kind_of(spec: str) -> tuple[type[Source], str]:
    """The kind of search that `spec` names, and what is written after its colon; raises UsageError."""
    spec = spec.strip()
    name, _, place = spec.partition(":")
    if name in names(SEARCHES):
        return _checked(installed(SEARCHES, name), name), place.strip()
    if _CLASS.fullmatch(spec) and find_spec(name.partition(".")[0]) is not None:
        return _checked(imported(spec), spec), ""
    raise UsageError(f"no search is called {spec[:60]!r}{meant(name[:60], _forms())}, or package.module:Class")


def _checked(kind: type[Source], name: str) -> type[Source]:
    if not all(hasattr(kind, member) for member in ("opened_at", "find", "FORM", "AT_ONCE", "PAGES")):
        raise UsageError(f"{name!r} is no search: derive its class from wardround.evaluators.search.contract.Source")
    return kind


def _forms() -> list[str]:
    """How each installed search is written; one that cannot be loaded by its name."""
    found = []
    for name in names(SEARCHES):
        try:
            found.append(_checked(installed(SEARCHES, name), name).FORM or name)
        except UsageError:
            found.append(name)
    return found


class ForeignSearch:
    """A search of another package: nothing shows where its queries go, so it is guarded as if they left.

    Where it names no host but this machine, its package stands for one, to be allowed by that name.
    """

    def __init__(self, search: Search) -> None:
        self.search, self.name = search, search.name
        far = search.host and not is_loopback(search.host)
        self.host = search.host if far else type(search).__module__.partition(".")[0]

    async def find(self, query: str, *, most: int = MOST) -> Sequence[Found]:
        """What the search finds; raises SearchError."""
        return await self.search.find(query, most=most)

    async def aclose(self) -> None:
        """Close the search."""
        await self.search.aclose()
