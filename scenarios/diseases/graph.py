"""The is-a graph of diseases, made from the ICD-10-CM tree, the project's own table and HPO's terms."""

from collections.abc import Iterator
from functools import cache, cached_property
from importlib import import_module
from typing import Any, Literal

import msgspec

from wardround.engine.text import regex
from wardround.scenarios.diseases import ontologies
from wardround.scenarios.diseases.knowledge import Knowledge, knowledge
from wardround.scenarios.diseases.linker import Concept
from wardround.scenarios.diseases.ontologies import within_families
from wardround.scenarios.terms.table_cache import building, cached_table
from wardround.scenarios.terms.wording import key

Relation = Literal["same", "parent", "child", "sibling", "other"]
"""The relation of an answer to the truth: 'parent' is a wider disease than the truth, 'child' a kind of the truth."""

_TYPE = regex(r"(?i),?\s+(?:type\s+)?(?:\d+[a-z]?|[IVX]+[A-Ca-c]?|[A-G])$")
_CATEGORY = regex(r"^[A-Z]\d\w(?:\.\w+)?$")


class EdgeTable(msgspec.Struct, frozen=True):
    """The nodes of a graph and its edges, each from a disease to the wider one."""

    nodes: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]


class Graph:
    """Nodes are concept ids and ICD-10-CM codes; an edge goes from a disease to the wider one (is-a).

    If the knowledge contains nothing of the user's, give it a `name`: its edges are then cached under this name.
    """

    def __init__(self, diseases: Knowledge, name: str = "") -> None:
        self.knowledge, self._name = diseases, name

    @cached_property
    def _edges(self) -> Any:
        table = cached_table(f"{self._name}_is_a", EdgeTable, self._table) if self._name else self._table()
        graph = import_module("networkx").DiGraph()
        with building():
            graph.add_nodes_from(table.nodes)
            graph.add_edges_from(table.edges)
        return graph

    @building()
    def _table(self) -> EdgeTable:
        graph = import_module("networkx").DiGraph()
        graph.add_edges_from((name, code.parent) for name, code in ontologies.codes().items() if code.parent)
        for concept in self.knowledge.concepts:
            graph.add_node(concept.id)
            for code in concept.icd10:
                if code in graph and not concept.id.startswith("WR:"):
                    graph.add_edge(concept.id, code)
        graph.add_edges_from(self._own_edges(graph))
        graph.add_edges_from(self._typed())
        graph.add_edges_from(self._phenotypes())
        return EdgeTable(tuple(graph.nodes), tuple(graph.edges))

    def _own_edges(self, graph: Any) -> Iterator[tuple[str, str]]:
        """Edges of the project's table: a concept with one family of codes is its child, with several their parent."""
        for concept in self.knowledge.concepts:
            if not concept.id.startswith("WR:"):
                continue
            codes = [code for code in concept.icd10 if code in graph]
            if wider := self.knowledge.broader.get(concept.id):
                yield concept.id, wider
            if len(codes) == 1:
                yield concept.id, codes[0]
            else:
                yield from ((code, concept.id) for code in codes)
                yield from ((concept.id, str(next(iter(graph.successors(code))))) for code in codes[:1])

    def _typed(self) -> Iterator[tuple[str, str]]:
        """Edges from a typed disease to the untyped one: from 'neurofibromatosis type 1' to 'neurofibromatosis'."""
        named = {key(concept.name): concept.id for concept in reversed(self.knowledge.concepts)}
        for concept in self.knowledge.concepts:
            wider = named.get(key(_TYPE.sub("", concept.name)))
            if wider and wider != concept.id:
                yield concept.id, wider

    def _phenotypes(self) -> Iterator[tuple[str, str]]:
        """Is-a edges of HPO between concepts of the same names, unless ICD-10-CM places both itself."""
        named = {key(concept.name): concept for concept in reversed(self.knowledge.concepts)}
        for name, wider in ontologies.wider_phenotypes():
            one, other = named.get(key(name)), named.get(key(wider))
            if one and other and one.id != other.id and not (one.icd10 and other.icd10):
                yield one.id, other.id

    def relation(self, answer: Concept, truth: Concept) -> Relation:
        """The relation of `answer` to `truth`.

        'parent' and 'child' hold over any number of steps, but not above an ICD-10-CM category: 'diseases of the heart'
        is never a parent. 'sibling' means that both have the same next parent. Everything else is 'other'.
        """
        if answer.id == truth.id:
            return "same"
        if truth.id in self._above(answer) or _narrower(answer, truth):
            return "child"
        if answer.id in self._above(truth) or _narrower(truth, answer):
            return "parent"
        if self._nearest(answer) & self._nearest(truth):
            return "sibling"
        return "other"

    def _above(self, concept: Concept) -> frozenset[str]:
        """All wider diseases of the concept, up to categories."""
        above: set[str] = set()
        todo = [concept.id]
        while todo:
            for wider in self._edges.successors(todo.pop()):
                if _says(wider) and wider not in above and wider != concept.id:
                    above.add(wider)
                    todo.append(wider)
        return frozenset(above)

    def _nearest(self, concept: Concept) -> frozenset[str]:
        """The parents of the concept, or of the code that it stands for."""
        parents = {wider for wider in self._edges.successors(concept.id) if _says(wider)}
        if len(concept.icd10) == 1 and concept.icd10[0] in self._edges:
            parents |= {wider for wider in self._edges.successors(concept.icd10[0]) if _says(wider)}
        return frozenset(parents) | {code for code in concept.icd10 if _says(code)}

    def distance(self, one: Concept, other: Concept, most: int = 12) -> int | None:
        """The number of is-a steps, up and down, between two diseases; None if there is no path of at most `most`."""
        ways = import_module("networkx").single_source_shortest_path_length(self._both, one.id, cutoff=most)
        far = ways.get(other.id)
        return None if far is None else int(far)

    @cached_property
    def _both(self) -> Any:
        return self._edges.to_undirected(as_view=True)


def _says(node: str) -> bool:
    """Whether a node names a disease. Concepts and codes do; blocks and chapters of ICD-10-CM do not."""
    return ":" in node or bool(_CATEGORY.match(node))


def _narrower(one: Concept, other: Concept) -> bool:
    """Whether the codes of `one` lie within those of `other` but not the reverse."""
    return within_families(one.icd10, other.icd10) and not within_families(other.icd10, one.icd10)


@cache
def graph() -> Graph:
    """The graph over all sources of the project; it loads networkx and the ICD-10-CM tree at its first use."""
    return Graph(knowledge(), "diseases")
