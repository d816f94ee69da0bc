"""Whether an answer names a diagnosis, for the offline judge: by the word match, or by the words that it asserts."""

from collections.abc import Sequence

from wardround.evaluators.content import share, word_set
from wardround.scenarios.case import Truth
from wardround.scenarios.terms import diagnosis
from wardround.scenarios.terms.commitment import Asserted
from wardround.scenarios.terms.same_disease import same_disease

NAMED = 0.4
"""Least share of the words of a diagnosis that an answer must assert to name it."""
BRIEF = 8
"""Most different words of two names together that differ as siblings do: these are left to the word match."""


def names_diagnosis(truth: Truth, answer: str) -> bool:
    """Whether an answer names the disease, as a judge is asked (paper 002, prompt 19): anywhere in what it asserts.

    The word match asks more: the disease must come first. Labels of reports and answers to them are often compound, in
    another order, with another cause or consequence. So an answer with many words also names the disease if its
    asserted diseases together contain a good part of the label's words, long ones weighing more. It does not if it is
    brief, where one other word makes another disease; if the asserted disease that is nearest to the label contradicts
    it (another type, stage, side or cause); or if it commits to no single diagnosis.

    >>> label = "Tracheal compression by a double aortic arch with recurrent aspiration pneumonia"
    >>> answer = "Recurrent aspiration pneumonia in a child whose trachea is compressed, due to a double aortic arch"
    >>> names_diagnosis(Truth(diagnosis=label), answer)
    True
    """
    verdict = diagnosis.compare(answer, truth)
    if verdict.match or verdict.reason:
        return verdict.match
    asserted = verdict.read.asserted
    labels = [label for label in (truth.diagnosis, *truth.synonyms) if word_set(label)]
    words = word_set(" ; ".join(item.text for item in asserted))
    if not any(share(word_set(label), words) >= NAMED for label in labels):
        return False
    brief = any(len(word_set(label) | word_set(answer)) <= BRIEF for label in labels)
    return not brief and not _contradicted(labels, asserted)


def _contradicted(labels: Sequence[str], asserted: Sequence[Asserted]) -> bool:
    """Whether the asserted disease with most of a label's words is another type, stage, side or cause of it."""
    nearest = max(asserted, key=lambda item: max(share(word_set(label), word_set(item.text)) for label in labels))
    return any(same_disease(label, name).opposite for label in labels for name in (nearest.name, nearest.text))
