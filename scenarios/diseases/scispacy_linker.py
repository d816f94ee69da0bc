"""A linker by scispaCy over the same concepts: its candidates, its entity linker and its detector of abbreviations.

It needs the extra `scispacy` in an environment of its own, because scispaCy requires numpy below 2. Nothing is
downloaded: the knowledge base and the index are built in memory from the concepts, and names are matched by phrase
without a language model.
"""

from collections.abc import Sequence
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy

from wardround.engine.errors import UsageError
from wardround.scenarios.diseases.knowledge import Knowledge
from wardround.scenarios.diseases.linker import Mention
from wardround.scenarios.diseases.ontologies import SHORT

LEAST = 0.7
"""Least cosine of a candidate that `link` and `mentions` accept; scispaCy's own default."""
NEIGHBOURS = 30
"""Nearest aliases requested from the index for one mention; scispaCy's own default."""
_BATCH = 256


class ScispacyLinker:
    """Links to the concepts of one Knowledge through scispaCy. The first use builds the index in some seconds.

    `hnsw` uses nmslib's approximate index, as scispaCy ships it, with parameters that keep short names. Without it the
    cosine is exact, the same in every run, and no slower at this size. Raises UsageError if scispaCy is not installed.
    """

    def __init__(self, knowledge: Knowledge, hnsw: bool = False) -> None:
        if find_spec("scispacy") is None:
            raise UsageError(
                "scispaCy is not installed; it needs an environment of its own, as it holds numpy below 2: "
                "pip install 'wardround[scispacy]' there, or use the default linker"
            )
        self.knowledge, self.hnsw = knowledge, hnsw

    @cached_property
    def _kb(self) -> Any:
        parts = import_module("scispacy.linking_utils")
        return parts.KnowledgeBase(
            [
                parts.Entity(concept.id, concept.name, [*concept.synonyms, *concept.abbreviations])
                for concept in self.knowledge.concepts
            ]
        )

    @cached_property
    def _entity_linker(self) -> Any:
        aliases = list(self._kb.alias_to_cuis)
        # Count every 3-gram (scispaCy drops those of fewer than ten aliases): a small knowledge has many rare ones.
        vectorizer = import_module("sklearn.feature_extraction.text").TfidfVectorizer(
            analyzer="char_wb", ngram_range=(3, 3), min_df=1, dtype=numpy.float32
        )
        vectors = vectorizer.fit_transform(aliases)
        index = _hnsw(vectors) if self.hnsw else Exact(vectors)
        generator = import_module("scispacy.candidate_generation").CandidateGenerator
        return import_module("scispacy.linking").EntityLinker(
            candidate_generator=generator(index, vectorizer, aliases, self._kb),
            k=NEIGHBOURS,
            threshold=LEAST,
            no_definition_threshold=LEAST,
            filter_for_definitions=False,
        )

    @cached_property
    def _nlp(self) -> Any:
        import_module("scispacy.abbreviation")  # registers the factory of its detector
        matcher = import_module("spacy.matcher").PhraseMatcher
        nlp = import_module("spacy").blank("en")
        nlp.add_pipe("abbreviation_detector")
        # Rebuilt here and not in __init__, because patterns belong to the vocabulary of one pipeline.
        self._phrases = matcher(nlp.vocab, attr="LOWER")
        self._letters = matcher(nlp.vocab, attr="ORTH")
        names = [name for concept in self.knowledge.concepts for name in concept.names]
        self._phrases.add("name", list(nlp.tokenizer.pipe(dict.fromkeys(n for n in names if not SHORT.match(n)))))
        short = [name for concept in self.knowledge.concepts for name in concept.abbreviations]
        short += [name for name in names if SHORT.match(name)]
        self._letters.add("short", list(nlp.tokenizer.pipe(dict.fromkeys(short))))
        return nlp

    def link(self, name: str) -> Mention | None:
        """The best concept for a single name: an alias as written, else the nearest with a cosine of at least LEAST."""
        links = self.candidates(name, 1)
        return links[0] if links and links[0].score >= LEAST else None

    def candidates(self, name: str, limit: int = 5) -> Sequence[Mention]:
        """At most `limit` concepts, the best first, by the cosine of their best alias.

        If the name as written is an alias, only its first concept is returned, with the others in `others`.
        """
        same = self._same(name)
        if same:
            return [self._mention(name, 0, same[0], 1.0, "exact", same[1:])]
        doc = self._nlp.make_doc(name)
        if not len(doc):
            return []
        doc.ents = [doc.char_span(0, len(name), label="DISEASE", alignment_mode="expand")]
        self._entity_linker(doc)
        return [self._mention(name, 0, cui, score, "cosine") for ent in doc.ents for cui, score in ent._.kb_ents][
            :limit
        ]

    def _same(self, name: str) -> Sequence[str]:
        """Ids of the concepts with `name` as an alias, in the order of the concepts."""
        links = self._kb.alias_to_cuis.get(name.strip(), ())
        return sorted(links, key=self._order.__getitem__)

    @cached_property
    def _order(self) -> dict[str, int]:
        return {concept.id: place for place, concept in enumerate(self.knowledge.concepts)}

    def mentions(self, text: str) -> Sequence[Mention]:
        """Names in running text by phrase, and the text's own abbreviations by scispaCy's detector."""
        spacy = import_module("spacy")
        doc = self._nlp(text)
        spans = [doc[start:end] for _, start, end in (*self._phrases(doc), *self._letters(doc))]
        longer = {span.text: span._.long_form for span in doc._.abbreviations}
        spans += list(doc._.abbreviations)
        doc.ents = [
            spacy.tokens.Span(doc, span.start, span.end, label="DISEASE") for span in spacy.util.filter_spans(spans)
        ]
        self._entity_linker(doc)
        links = []
        for ent in doc.ents:
            same = () if ent.text in longer else self._same(ent.text) or self._same(ent.text.lower())
            if same:
                links.append(self._mention(ent.text, ent.start_char, same[0], 1.0, "exact", same[1:]))
            elif ent._.kb_ents:
                cui, score = ent._.kb_ents[0]
                rule = "abbreviation" if ent.text in longer else "cosine"
                links.append(self._mention(ent.text, ent.start_char, cui, score, rule))
        return links

    def _mention(self, text: str, start: int, cui: str, score: float, rule: str, others: Sequence[str] = ()) -> Mention:
        concepts = [self.knowledge.concepts[self._order[name]] for name in (cui, *others)]
        return Mention(text, start, start + len(text), concepts[0], float(score), rule, tuple(concepts[1:]))


class Exact:
    """An exact index for scispaCy: one sparse product gives the cosines of a batch of mentions."""

    def __init__(self, vectors: Any) -> None:
        self._columns = vectors.T.tocsr()

    def knnQueryBatch(self, vectors: Any, k: int) -> list[tuple[Any, Any]]:  # noqa: N802 - nmslib's name
        """For each mention the places of the nearest aliases and their distances (1 - cosine), nearest first."""
        links = []
        for start in range(0, vectors.shape[0], _BATCH):
            product = (vectors[start : start + _BATCH] @ self._columns).tocsr()
            for row in range(product.shape[0]):
                stored = slice(product.indptr[row], product.indptr[row + 1])
                places, scores = product.indices[stored], product.data[stored]
                order = numpy.lexsort((places, -scores))[:k]
                links.append((places[order], 1 - scores[order]))
        return links


def _hnsw(vectors: Any) -> Any:
    """nmslib's graph, as scispaCy builds it; 24 links and 400 candidates find two-letter names among 40,000."""
    nmslib = import_module("nmslib")
    index = nmslib.init(method="hnsw", space="cosinesimil_sparse", data_type=nmslib.DataType.SPARSE_VECTOR)
    index.addDataPointBatch(vectors)
    index.createIndex({"M": 24, "efConstruction": 400, "post": 0})
    index.setQueryTimeParams({"efSearch": 400})
    return index
