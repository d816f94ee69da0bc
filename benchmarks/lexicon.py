"""Writes the list of words in ICD-10-CM, which tells a typing error from another word.

`python -m benchmarks.lexicon > scenarios/terms/data/lexicon.txt` wrote the list. ICD-10-CM is in the public domain.
"""

import re

from wardround.scenarios.mimic.codes import classification

SHORTEST = 5


def main() -> None:
    """Print the words of all titles and inclusion terms, in alphabetical order."""
    codes = classification()
    words: set[str] = set()
    for code in codes.get_all_codes(True):
        for text in (codes.get_description(code), *codes.get_inclusion_term(code)):
            words.update(word for word in re.findall(r"[a-z]+", str(text).lower()) if len(word) >= SHORTEST)
    print("\n".join(sorted(words)))


if __name__ == "__main__":
    main()
