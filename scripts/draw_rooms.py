"""Draw the rooms of the house: its folders, what each imports, and the floors that follow from that.

    python -m scripts.draw_rooms [--root DIR]

It prints Markdown: a Mermaid flowchart with an arrow from each room to the highest rooms that it imports (rooms that
those import are left out), and a line of figures. Rooms that import each other in a circle are drawn as one.
`git archive COMMIT | tar x -C DIR` writes the tree of an older commit.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import networkx as nx  # type: ignore[import-untyped]  # it ships no types

from scripts.measure_house import Module, imported, modules


def room(module: Module) -> str:
    """Return the folder of a module without the package's own name; `python -m wardround` belongs to `cli`."""
    if module.name == "wardround.__main__":
        return "cli"
    folder = module.name if module.package else module.name.rpartition(".")[0]
    return folder.partition(".")[2] or folder


def graph(files: Sequence[Module]) -> nx.DiGraph:
    """Return a graph of rooms (`modules`, `lines`) and imports (`weight`: pairs of importing and imported module)."""
    names = frozenset(module.name for module in files)
    rooms = {module.name: room(module) for module in files}
    arrows = Counter(
        (rooms[module.name], rooms[target])
        for module in files
        for target in imported(module, names)
        if rooms[module.name] != rooms[target]
    )
    drawn: nx.DiGraph = nx.DiGraph()
    for name in sorted(set(rooms.values())):
        inside = [module for module in files if rooms[module.name] == name]
        drawn.add_node(name, modules=len(inside), lines=sum(module.lines for module in inside))
    for (one, other), count in sorted(arrows.items()):
        drawn.add_edge(one, other, weight=count)
    return drawn


def drawing(drawn: nx.DiGraph) -> str:
    """Return the flowchart and its figures."""
    circles = [sorted(part) for part in nx.strongly_connected_components(drawn) if len(part) > 1]
    whole = nx.condensation(drawn)
    floors = nx.dag_longest_path_length(whole, default_weight=1) + 1
    labels = {}
    for node, data in sorted(whole.nodes(data=True), key=lambda one: sorted(one[1]["members"])):
        inside = sorted(data["members"])
        count = sum(drawn.nodes[name]["modules"] for name in inside)
        lines = sum(drawn.nodes[name]["lines"] for name in inside)
        labels[node] = f'  r{node}["{" + ".join(inside)}<br/>{count} files, {lines:,} lines"]'
    arrows = sorted(nx.transitive_reduction(whole).edges)
    chart = [
        "```mermaid",
        "flowchart TD",
        *labels.values(),
        *(f"  r{one} --> r{other}" for one, other in arrows),
        "```",
    ]
    figures = (
        f"{drawn.number_of_nodes()} rooms, {drawn.number_of_edges()} arrows between rooms, {floors} floors, "
        f"{len(circles)} circles"
    )
    named = [f"Circle: {', '.join(circle)}." for circle in sorted(circles)]
    return "\n".join([*chart, "", f"{figures}.", *named])


def main(arguments: Sequence[str]) -> None:
    """Print the drawing."""
    parser = argparse.ArgumentParser(description="Draw the rooms of the house.")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    print(drawing(graph(modules(parser.parse_args(arguments).root.resolve()))))


if __name__ == "__main__":
    main(sys.argv[1:])
