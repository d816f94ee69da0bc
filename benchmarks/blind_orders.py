"""Measures how orders are understood, piece by piece, on phrases by writers who had not seen the parser.

`python -m benchmarks.blind_orders` prints the table; with `--show` also the errors.

`tests/data/order_phrases_blind.jsonl` has phrases in five languages, each with its pieces: the status, and for each
concept its name, kind, specimen ("any" if it is left open) and method. Each part of the file was measured before
anybody read it; docs/measurements.md says when.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.phrases import Tally
from wardround.scenarios.orders import axes
from wardround.scenarios.orders.catalogue import catalogue
from wardround.scenarios.orders.order_reading import OrderConcept, OrderReading, read_order

PATH = Path(__file__).resolve().parents[1] / "tests/data/order_phrases_blind.jsonl"
HALVES = ("A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "M", "N", "O", "P", "Q", "R", "S", "T", "U")
LANGUAGES = ("en", "de", "fr", "es", "zh", "de fr es zh")
_BOTH = {
    "gonorrhea and chlamydia naat": ("gonorrhea naat", "chlamydia naat"),
    "bronchoscopy with bronchoalveolar lavage": ("bronchoscopy", "bronchoalveolar lavage"),
}


@dataclass(frozen=True)
class Wanted:
    """A concept that a phrase orders. If it is `optional`, it does not matter whether it is understood."""

    name: str
    kind: str
    specimen: str
    optional: bool


@dataclass(frozen=True)
class BlindOrder:
    """A phrase with the concepts that it orders and the other statuses of its pieces."""

    language: str
    half: str
    text: str
    wanted: tuple[Wanted, ...]
    statuses: frozenset[str]


def blind_orders() -> Sequence[BlindOrder]:
    """The labelled phrases in the file's order."""
    with PATH.open(encoding="utf-8") as file:
        return [_order(json.loads(line)) for line in file]


def _order(row: Mapping[str, object]) -> BlindOrder:
    pieces = row["pieces"]
    assert isinstance(pieces, list)
    wanted = dict.fromkeys(
        Wanted(
            name,
            one["kind"],
            axes.only_specimen(one["specimen"]) or axes.specimen(one["specimen"]) or one["specimen"],
            bool(one.get("optional")),
        )
        for piece in pieces
        for one in piece["concepts"]
        for study in studies(one["name"], one["kind"])
        for name in _BOTH.get(study, (study,))
    )
    statuses = frozenset(piece["status"] for piece in pieces) - {"matched"}
    sure_first = tuple(sorted(wanted, key=lambda one: one.optional))
    return BlindOrder(str(row["language"]), str(row["half"]), str(row["text"]), sure_first, statuses)


def _component(name: str) -> str:
    return axes.component(name, catalogue()).casefold()


def studies(name: str, kind: str) -> tuple[str, ...]:
    """A study as its modality with each region: a CT of chest and abdomen is two. Other names stay as they are."""
    table = catalogue()
    test = table.tests.get(name)
    if kind != "imaging":
        return (_component(name),)
    head, _, tail = name.partition(": ")
    modality = test.modality if test else head
    regions = test.regions if test else tuple(tail.removeprefix("left ").removeprefix("right ").split(", "))
    if modality not in table.modalities or not table.modalities[modality].by_region or not any(regions):
        return (_component(name),)
    return tuple(f"{modality}: {region}".casefold() for region in regions)


def _meant(concept: OrderConcept) -> list[tuple[str, str, str]]:
    """A concept as (component, kind, specimen) of each test in it; the side of the body is left out."""
    names = [part for name in studies(concept.name, concept.kind) for part in _BOTH.get(name, (name,))]
    return [(name, concept.kind, concept.specimen) for name in names]


def _fits(wanted: Wanted, name: str, kind: str, specimen: str) -> bool:
    if wanted.name != name or wanted.kind != kind:
        return False
    if wanted.specimen in ("", "any", specimen):
        return True
    if wanted.specimen != axes.BLOOD:
        return False
    return axes.same_specimen(axes.BLOOD, specimen) and (bool(specimen) or kind == "microbiology")


def compared(row: BlindOrder, reading: OrderReading) -> tuple[int, Sequence[tuple[str, str, str]], Sequence[Wanted]]:
    """(number of concepts right, extra concepts, missed ones) of a phrase; a panel stands for its members."""
    table = catalogue()
    concepts = [one for piece in reading.pieces if piece.status == "matched" for one in piece.concepts]
    extra = list(dict.fromkeys(one for concept in concepts for one in _meant(concept)))
    panels = [concept for concept in concepts if concept.name in table.below]
    members = {_component(part): panel for panel in panels for part in table.below[panel.name]}
    single = {_component(concept.name): concept for concept in concepts}
    own = members | single
    whole = {
        _component(name): own[min(_component(part) for part in parts)]
        for name, parts in table.below.items()
        if parts and {_component(part) for part in parts} <= own.keys()
    }
    inner = {_component(part) for one in row.wanted for part in table.below.get(_named(one.name), ())}
    right, unmet = 0, []
    for wanted in row.wanted:
        hit = next((one for one in extra if _fits(wanted, *one)), None)
        if hit:
            extra.remove(hit)
            right += not wanted.optional
        elif not wanted.optional:
            unmet.append(wanted)
    missed = []
    for wanted in unmet:
        panel = members.get(wanted.name) or whole.get(wanted.name)
        if panel is not None and (wanted.specimen == "any" or axes.same_specimen(wanted.specimen, panel.specimen)):
            right += 1
            extra = [one for one in extra if one not in _meant(panel)]
        else:
            missed.append(wanted)
    return right, [one for one in extra if one[0] not in inner], missed


def _named(component: str) -> str:
    return next((name for name in catalogue().tests if name.casefold() == component), "")


def main() -> None:
    """Print the table; with --show, the errors before it."""
    rows = [(row, read_order(row.text)) for row in blind_orders()]
    if "--show" in sys.argv:
        for row, reading in rows:
            _, extra, missed = compared(row, reading)
            other = {piece.status for piece in reading.pieces} - {"matched"}
            if extra or missed or other != row.statuses:
                print(f"{row.text} | extra {extra} | missed {missed} | {sorted(other)} for {sorted(row.statuses)}")
    print("half language     n    precision recall F1    another status")
    for half in HALVES:
        for language in LANGUAGES:
            total, count, wrong = Tally(), 0, 0
            for row, reading in rows:
                if row.half == half and row.language in language.split():
                    right, extra, missed = compared(row, reading)
                    total.right += right
                    total.extra += len(extra)
                    total.missed += len(missed)
                    count += 1
                    wrong += {piece.status for piece in reading.pieces} - {"matched"} != row.statuses
            if not count:
                continue
            shares = f"{total.precision:.3f}     {total.recall:.3f}  {total.f1:.3f}"
            print(f"{half:<4} {language:<12} {count:<4} {shares} {wrong}")


if __name__ == "__main__":
    main()
