"""The names of the truth that a text gives away."""

import re

from wardround.scenarios.case import Truth
from wardround.scenarios.terms.wording import key, plain


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
