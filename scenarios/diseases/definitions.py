"""Diseases that an answer may name by their defining findings: 'seminal vesicle cyst with renal agenesis' is Zinner
syndrome (`definitions.csv`)."""

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache

from wardround.scenarios.diseases.disease import expanded
from wardround.scenarios.diseases.same_disease import same_disease
from wardround.scenarios.terms.wording import cells, root, roots, table_rows

Finding = tuple[frozenset[str], ...]
"""The wordings of one finding, each as the roots of its words; any of them states it."""


@cache
def _definitions() -> Mapping[str, tuple[Finding, ...]]:
    return {
        row["name"]: tuple(
            tuple(frozenset(roots(wording)) for wording in cell.split("/")) for cell in cells(row["findings"])
        )
        for row in table_rows("definitions.csv")
    }


@lru_cache(maxsize=4096)
def _findings(name: str) -> tuple[Finding, ...]:
    """The findings that define the disease of this name; () if the table does not define it."""
    words = {*roots(name), *map(root, ("syndrome", "disease", "of"))}
    near = (one for one in _definitions() if words.issuperset(roots(one)))
    return next((_definitions()[one] for one in near if same_disease(one, name).same), ())


def defines(name: str, stated: Sequence[str]) -> list[int] | None:
    """The places of the statements that together define a disease.

    None if a defining finding is missing, or if the first statement is not among them.
    """
    wanted = _findings(name)
    said = [frozenset(roots(expanded(text))) for text in stated]
    places: list[int] = []
    for finding in wanted:
        place = next((place for place, words in enumerate(said) if any(wording <= words for wording in finding)), None)
        if place is None:
            return None
        places.append(place)
    return sorted(set(places)) if 0 in places else None
