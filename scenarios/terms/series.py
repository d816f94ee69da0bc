"""Repeated measurements of one test: the first by default, the next on a repeat, all of them as a series on request."""

from collections.abc import Collection, Sequence

from wardround.scenarios.terms.lookup import Hit
from wardround.scenarios.terms.understanding import Repeat

_REPEATED = ("lab", "microbiology")


def measured(hits: Sequence[Hit], repeat: Repeat, told: Collection[str]) -> list[Hit]:
    """Those of `hits` that a request is answered with, in their order.

    Results of one name and specimen with different times are one test measured again: `repeat` '' gives the earliest,
    next the earliest that is not among the `told` references (the last where all are), series all of them. Results
    without a time are told together: nobody knows which was first.
    """
    chosen: set[str] = set()
    groups: dict[tuple[str, ...], list[Hit]] = {}
    for hit in hits:
        item = hit.entry.item
        if item.kind in _REPEATED and item.time:
            groups.setdefault((item.kind, " ".join(item.name.casefold().split()), item.detail.casefold()), []).append(
                hit
            )
        else:
            chosen.add(item.ref)
    for group in groups.values():
        chosen |= _chosen(sorted(group, key=lambda hit: hit.entry.item.time), repeat, told)
    return [hit for hit in hits if hit.entry.item.ref in chosen]


def _chosen(group: Sequence[Hit], repeat: Repeat, told: Collection[str]) -> set[str]:
    if repeat == "series":
        return {hit.entry.item.ref for hit in group}
    times = list(dict.fromkeys(hit.entry.item.time for hit in group))
    wanted = times[0]
    if repeat == "next":
        fresh = [hit.entry.item.time for hit in group if hit.entry.item.ref not in told]
        wanted = fresh[0] if fresh else times[-1]
    return {hit.entry.item.ref for hit in group if hit.entry.item.time == wanted}
