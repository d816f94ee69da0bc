"""The diseases that a true diagnosis names, and where a text gives them away."""

import re
from functools import lru_cache

from wardround.scenarios.case import Case, Truth
from wardround.scenarios.terms.commitment import read_answer
from wardround.scenarios.terms.wording import key, plain


def parts_of(truth: Truth) -> tuple[str, ...]:
    """The diseases that the truth names, the principal one first: as the case has them, else read from the label."""
    return truth.parts or read_parts(truth.diagnosis)


@lru_cache(maxsize=4096)
def read_parts(diagnosis: str) -> tuple[str, ...]:
    """The parts of a diagnosis as an answer of the same words asserts them; the label itself if it names one."""
    label = diagnosis.strip()
    if not key(label):
        return ()
    items = read_answer(label).asserted
    if len(items) < 2:
        return (label,)
    return tuple(
        {key(item.text): item.text for item in reversed(items)}[form]
        for form in dict.fromkeys(key(i.text) for i in items)
    )


def with_parts(case: Case) -> Case:
    """`case` with `truth.parts`, read from its diagnosis where it has none."""
    if case.truth.parts or not case.truth.diagnosis.strip():
        return case
    truth = case.truth.model_copy(update={"parts": read_parts(case.truth.diagnosis)})
    return case.model_copy(update={"truth": truth})


def opening_contains(truth: Truth, text: str) -> list[str]:
    """The names of the truth that `text` gives away, as whole words in any spelling; for `cases check`.

    Label and synonyms, each also without its brackets; abbreviations of two or three letters only in capitals, as
    'PE' is not 'pe'.
    """
    found = []
    words = f" {key(text)} "
    for label in (truth.diagnosis, *truth.synonyms):
        for name in dict.fromkeys((label, re.sub(r"\([^()]*\)", " ", label).strip())):
            short = len(plain(name)) <= 3
            if short and not re.search(rf"(?<!\w){re.escape(name.strip())}(?!\w)", text):
                continue
            if key(name) and f" {key(name)} " in words:
                found.append(" ".join(name.split()))
                break
    return list(dict.fromkeys(found))
