"""The diseases that a true diagnosis names, and the places where a text reveals them."""

import re
from functools import lru_cache

from wardround.scenarios.answers.answer_markup import unnumbered
from wardround.scenarios.answers.commitment import read_answer
from wardround.scenarios.case import Case, Truth
from wardround.scenarios.terms.wording import key, plain


def parts_of(truth: Truth) -> tuple[str, ...]:
    """The diseases of the truth, the principal one first: from the case's parts, else read from the label."""
    return truth.parts or read_parts(truth.diagnosis)


_ONE_NAME = re.compile(r"[A-Za-z]+(?: [A-Za-z]+)?")
"""One or two plain words: two diseases need a word or a mark between them."""


@lru_cache(maxsize=4096)
def read_parts(diagnosis: str) -> tuple[str, ...]:
    """The parts of a diagnosis, read like an answer with the same words; the whole label if it names one disease."""
    label = unnumbered(diagnosis.strip())
    if not key(label):
        return ()
    if _ONE_NAME.fullmatch(label):  # a run of such cases compiles no pattern of answers, which takes 0.1 s
        return (label,)
    items = read_answer(label).asserted
    if len(items) < 2:
        return (label,)
    return tuple(
        {key(item.text): item.text for item in reversed(items)}[form]
        for form in dict.fromkeys(key(i.text) for i in items)
    )


def with_parts(case: Case) -> Case:
    """The case with `truth.parts`, which are read from its diagnosis if they are missing."""
    if case.truth.parts or not case.truth.diagnosis.strip():
        return case
    truth = case.truth.model_copy(update={"parts": read_parts(case.truth.diagnosis)})
    return case.model_copy(update={"truth": truth})


_AT_LINE_END = re.compile(r"(?<=[a-z])-\n[ \t]*(?=[a-z])")
"""The hyphen of a word that is divided at the end of a line."""


def opening_contains(truth: Truth, text: str) -> list[str]:
    """The names of the truth that `text` reveals, as whole words in any spelling; for `wardround cases check`.

    It looks for the label and the synonyms, each with and without its brackets. A name of at most three letters must be
    spelled exactly the same, because 'PE' is not 'pe'.
    """
    revealed = []
    words = f" {key(text)} {key(_AT_LINE_END.sub('', text))} "
    for label in (truth.diagnosis, *truth.synonyms):
        for name in dict.fromkeys((label, re.sub(r"\([^()]*\)", " ", label).strip())):
            short = len(plain(name)) <= 3
            if short and not re.search(rf"(?<!\w){re.escape(name.strip())}(?!\w)", text):
                continue
            if key(name) and f" {key(name)} " in words:
                revealed.append(" ".join(name.split()))
                break
    return list(dict.fromkeys(revealed))
