"""How near a stated diagnosis is to the true one: the same, wider, narrower, beside it, or another (graph.py)."""

from collections.abc import Mapping
from dataclasses import dataclass

from wardround.scenarios.case import Truth
from wardround.scenarios.terms.diagnosis import compare, heads
from wardround.scenarios.terms.graph import Graph, Relation
from wardround.scenarios.terms.linker import Concept, Linker, Mention

WORTH: Mapping[Relation, float] = {"same": 1.0, "child": 0.75, "parent": 0.5, "sibling": 0.25, "other": 0.0}
"""What each relation is worth as a score: a kind of the true disease says too much, a wider one too little."""
_PARTLY = ("part", "head")


@dataclass(frozen=True, slots=True)
class Grade:
    """`relation` of the answer to the truth; None where the truth is no disease the linker knows, and was not said.

    `said` and `meant` are the concepts compared, None where there was no need or no concept. `steps` along is-a.
    """

    relation: Relation | None
    said: Concept | None = None
    meant: Concept | None = None
    steps: int | None = None

    @property
    def worth(self) -> float | None:
        """The score of the relation, 0 to 1; None without one."""
        return None if self.relation is None else WORTH[self.relation]


def graded(answer: str, truth: Truth, linker: Linker, graph: Graph) -> Grade:
    """Grade a stated diagnosis. What diagnosis.compare takes for the truth is the same; else by concepts.

    Graded is what the answer commits to: the disease asserted first, or what that is due to. An answer that names no
    disease, or leaves several open, is 'other'.
    """
    verdict = compare(answer, truth)
    if verdict.match:
        return Grade("same", steps=0)
    meant = [found for name in (truth.diagnosis, *truth.synonyms) if name and (found := linker.link(name))]
    if not meant:
        return Grade(None)
    said = [found for text in heads(verdict.read) if (found := linker.link(text))]
    grades = [_grade(one, other, graph) for one in said for other in meant]
    best = max(grades, key=lambda grade: WORTH[grade.relation or "other"], default=Grade("other"))
    return best if said else Grade("other", None, meant[0].concept)


def _grade(said: Mention, meant: Mention, graph: Graph) -> Grade:
    relation = graph.relation(said.concept, meant.concept)
    if relation == "same":
        # A name of which only a part is known says more than that part ('Klebsiella pneumonia').
        pair = (said.rule in _PARTLY, meant.rule in _PARTLY)
        by_part: Mapping[tuple[bool, bool], Relation] = {(True, False): "child", (False, True): "parent"}
        relation = by_part.get(pair, "sibling" if all(pair) else "same")
    return Grade(relation, said.concept, meant.concept, graph.distance(said.concept, meant.concept))
