"""How the offline judge decides criteria and checklists: by the words that an answer adds to its question."""

from collections.abc import Iterable

from wardround.evaluators.content import sentences, word_set

MET = 0.7
"""Least share of the words of a criterion that the answer must have."""
_SCORES = ((0.85, 5), (0.6, 4), (0.35, 3), (0.15, 2))


def criterion_met(criterion: str, conversation: str, answer: str) -> bool:
    """Whether an answer meets a criterion, by words: some sentences of its own have most of the criterion's words.

    What an answer copies from the conversation counts for nothing. It cannot see a denial, nor a fault that is
    described and not quoted, so it is a floor.
    """
    wanted = word_set(criterion)
    own = _own(answer, conversation)
    had = set().union(*(word_set(one) for one in own)) if own else set()
    return bool(wanted) and len(wanted & had) / len(wanted) >= MET


def checklist_score(requirements: Iterable[str], question: str, answer: str) -> int:
    """Score an answer 1 to 5 by the words of its requirements and reference, less those of the question."""
    asked = word_set(question)
    wanted = set().union(*(word_set(one) for one in requirements)) - asked
    own = _own(answer, question)
    had = set().union(*(word_set(one) for one in own)) if own else set()
    share = len(wanted & had) / len(wanted) if wanted else float(bool(had - asked))
    return next((score for least, score in _SCORES if share >= least), 1)


def _own(answer: str, question: str) -> list[str]:
    """Return the sentences of an answer that say something which the question does not."""
    asked = word_set(question)
    return [one for one in sentences(answer) if word_set(one) - asked]
