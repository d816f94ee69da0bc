"""`python -m benchmarks [--quick] [--only NAME] [--json FILE]`: measures all parts, prints a table and writes JSON."""

import argparse
import json
import os
import platform
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.asked import asked
from benchmarks.clinic import real
from benchmarks.coverage import coverage
from benchmarks.exchange import exchange
from benchmarks.face import face
from benchmarks.faults import faults
from benchmarks.figure import Figure, table
from benchmarks.gaming import gaming
from benchmarks.growth import grown
from benchmarks.interfaces import interfaces
from benchmarks.judged import judged
from benchmarks.linking import linking
from benchmarks.memory import memory
from benchmarks.mimic import mimic
from benchmarks.opening import opening
from benchmarks.orders import orders
from benchmarks.own_agents import own_agents
from benchmarks.retrieval import retrieval
from benchmarks.scored import score
from benchmarks.speed import narrow, wide, zero
from benchmarks.starting import start
from benchmarks.stores import stores
from wardround.engine.logs import configure

PARTS: dict[str, Callable[[bool], Sequence[Figure]]] = {
    "narrow": narrow,
    "wide": wide,
    "zero": zero,
    "real": real,
    "score": score,
    "start": start,
    "face": face,
    "own_agents": own_agents,
    "exchange": exchange,
    "interfaces": interfaces,
    "faults": faults,
    "memory": memory,
    "stores": stores,
    "opening": opening,
    "orders": orders,
    "linking": linking,
    "mimic": mimic,
    "retrieval": retrieval,
    "judged": judged,
    "asked": asked,
    "coverage": coverage,
    "gaming": gaming,
    "growth": grown,
}


def main() -> None:
    """Run the parts that the command line names, or all of them, in their order."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("--only", action="append", choices=list(PARTS), help="one part; may be given more than once")
    parser.add_argument("--quick", action="store_true", help="short runs: whether all works, not what it measures")
    parser.add_argument("--json", type=Path, default=Path("out/bench.json"))
    options = parser.parse_args()
    configure("error")
    began, figures = time.monotonic(), list[Figure]()
    for name in options.only or PARTS:
        print(f"{name} ...", flush=True)
        figures += PARTS[name](options.quick)
    machine = {
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(time.monotonic() - began),
    }
    print(f"\n{machine['cores']} cores, Python {machine['python']}, {machine['seconds']} s in all")
    print("quick: short runs show that each part works; their figures mean nothing\n" if options.quick else "")
    print(table(figures))
    options.json.parent.mkdir(parents=True, exist_ok=True)
    document = {"machine": machine, "quick": options.quick, "figures": [figure.to_json() for figure in figures]}
    options.json.write_text(json.dumps(document, indent=1), encoding="utf-8")
    print(f"as JSON: {options.json}")


if __name__ == "__main__":
    main()
