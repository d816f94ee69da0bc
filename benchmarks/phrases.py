"""Measures precision and recall of the default and the published rules on the labelled order phrases."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance import imaging
from conformance import published as replies
from conformance.tables import Tables
from wardround.scenarios.orders.catalogue import Catalogue, catalogue
from wardround.scenarios.orders.name_lookup import Link, link
from wardround.scenarios.orders.order_parser import understand
from wardround.scenarios.published.imaging_words import Absent

PATH = Path(__file__).resolve().parents[1] / "tests/data/orders.jsonl"


@dataclass(frozen=True)
class Phrase:
    """A labelled phrase; `expect` are its orders: tests by name, studies as 'Modality: Region+Region'."""

    text: str
    half: str
    hard: bool
    expect: tuple[str, ...]


@dataclass
class Tally:
    """Counts of the orders that are right, made up (`extra`) and missed."""

    right: int = 0
    extra: int = 0
    missed: int = 0

    @property
    def precision(self) -> float:
        """The share of the understood orders that were meant."""
        return self.right / (self.right + self.extra) if self.right + self.extra else 0.0

    @property
    def recall(self) -> float:
        """The share of the orders meant that were understood."""
        return self.right / (self.right + self.missed) if self.right + self.missed else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return 2 * self.right / (2 * self.right + self.extra + self.missed) if self.right else 0.0


def phrases() -> list[Phrase]:
    """Return the labelled phrases: the half `open` served to write the rules, the others were labelled before a run."""
    rows = [json.loads(line) for line in PATH.read_text(encoding="utf-8").splitlines()]
    return [Phrase(row["text"], row["half"], row["hard"], tuple(row["expect"])) for row in rows]


def default(text: str) -> set[str]:
    """Return the orders of `text` by the default rules, in the labels' words."""
    return {one for order in understand(text, catalogue()).orders for one in comparable(order.link)}


def comparable(named: Link | str) -> set[str]:
    """Return an order or label in comparable words: a study by each modality and region, another test by its name."""
    table = catalogue()
    if isinstance(named, str):
        modality, _, regions = named.partition(": ")
        if modality in table.modalities and regions:
            return {f"{modality}: {region}" for region in regions.split("+")}
        linked = link(named, table)
        assert linked is not None, named
        assert linked.test == named, f"{named} is no name of the table"
        return comparable(linked)
    read = named.reading
    if (
        read is None
        or len(read.modalities) != 1
        or not read.regions
        or not table.modalities[read.modalities[0]].by_region
    ):
        return {named.test}
    return {f"{read.modalities[0]}: {region}" for region in read.regions}


def count(tally: Tally, expected: set[str], got: set[str]) -> None:
    """Add one phrase to a tally; a panel and the list of all its members are the same order."""
    below = catalogue().below
    listed = {name for name in got - expected if below.get(name) and below[name] <= expected}
    got = (got - listed) | {member for name in listed for member in below[name]}
    got |= {member for name in got & expected for member in below.get(name, ())} & expected
    tally.right += len(expected & got)
    tally.extra += len(got - expected)
    tally.missed += len(expected - got)


def score(rows: Iterable[Phrase], read: Callable[[str], set[str]]) -> Tally:
    """Return the tally of some phrases."""
    tally = Tally()
    for row in rows:
        count(tally, {one for name in row.expect for one in comparable(name)}, read(row.text))
    return tally


def kinds(row: Phrase, table: Catalogue) -> set[str]:
    """Return 'tests' and 'imaging', as far as a phrase's labels have them."""
    groups = set()
    for name in row.expect:
        linked = link(name, table)
        study = ": " in name or (linked is not None and linked.kind == "imaging")
        groups.add(
            "imaging" if study else "tests" if linked is not None and linked.kind in ("lab", "microbiology") else ""
        )
    return groups


def published(row: Phrase, tables: Tables) -> set[str] | None:
    """Return a phrase's orders by the published rules, or None if it orders both tests and imaging, or neither.

    The published protocol has no list for such a phrase. Linking turns the published names into ours; a study counts by
    modality and region as far as the published vocabulary tells them apart.
    """
    own, of = catalogue(), kinds(row, catalogue())
    if of == {"tests"}:
        keys = [hit.key for hit in replies.matches("lab", f"Lab Tests: {row.text}", tables)]
        linked = [(key, link(key, own)) for key in keys]
        return {one for key, hit in linked for one in (comparable(hit) if hit else {key})}
    if of == {"imaging"}:
        try:
            asked = replies.studies(f"Imaging scans: {row.text}", tables)
        except Absent:
            asked = ()
        return {pair for one in asked for pair in _pairs(one.modalities, one.regions, tables)}
    return None


def _pairs(modalities: Sequence[str], regions: Sequence[str], tables: Tables) -> set[str]:
    return {f"{tables.broad.get(modality, modality)}: {region}" for modality in modalities for region in regions}


def coarse(name: str, tables: Tables) -> set[str]:
    """Return a study's label in the published vocabulary, whose abdomen includes the pelvis and all organs in it."""
    text = " ".join(part.replace(": ", " ").replace("+", " ") for part in [name])
    modalities = imaging.modality(text, tables)
    return _pairs(modalities, imaging.region(text, modalities, tables), tables)


def theirs(rows: Iterable[Phrase], tables: Tables) -> tuple[Tally, int]:
    """Return (tally of the published rules, number of the phrases that they have a list for)."""
    tally, used = Tally(), 0
    for row in rows:
        got = published(row, tables)
        if got is None:
            continue
        used += 1
        if kinds(row, catalogue()) == {"imaging"}:
            expected = {one for name in row.expect for one in coarse(name, tables)}
        else:
            expected = {one for name in row.expect for one in comparable(name)}
        count(tally, expected, got)
    return tally, used


def halves(tables: Tables | None) -> str:
    """Return the table for the documentation."""
    every = phrases()
    lines = ["phrases | n | orders | precision | recall | F1", "---|---|---|---|---|---"]
    for name, rows in _groups(every):
        tally = score(rows, default)
        lines.append(_row(f"default, {name}", len(rows), tally))
    if tables is not None:
        for name, rows in _groups(every):
            tally, used = theirs(rows, tables)
            own = score([row for row in rows if published(row, tables) is not None], default)
            lines.append(_row(f"published, {name}", used, tally))
            lines.append(_row(f"default on the same, {name}", used, own))
    return "\n".join(lines)


def _groups(every: Sequence[Phrase]) -> list[tuple[str, list[Phrase]]]:
    return [
        *((half, [row for row in every if row.half == half]) for half in ("open", "held", "last", "fresh")),
        ("easy", [r for r in every if not r.hard]),
        ("hard", [r for r in every if r.hard]),
        ("all", list(every)),
    ]


def _row(name: str, used: int, tally: Tally) -> str:
    meant = tally.right + tally.missed
    return f"{name} | {used} | {meant} | {tally.precision:.3f} | {tally.recall:.3f} | {tally.f1:.3f}"
