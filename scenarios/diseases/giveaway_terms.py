"""Reads the terms of `giveaways.csv` and makes a pattern of each.

Relations that are no plain words: `organ` (what is operated on), `culture` (a specimen in which an organism grows),
`lasting` (a procedure that tells of a disease that stays, so that long ago tells as much as now).

In a term, `...` stands for up to six words, `A ~ B` for both in one clause, whichever is first, `###` for a number of
at least three digits, and `<clot>` for every word of this class in `giveaway_words.csv`: a process, a place of the body
in plain and medical words, a class of drugs.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache

from wardround.scenarios.terms.wording import cells, roots, table_rows

_WORDS_BETWEEN = r"(?:[ \n]+[\w'/%-]+){0,6}?[ \n]+"
_FEW_WORDS = r"(?:[ \n]+(?!(?:and|or|but)\b)[\w'/%-]+){0,4}?[ \n]+"
_IN_ONE_CLAUSE = r"(?:[^.;:\n]|\.(?=\d)){0,60}?"


@cache
def _relations() -> tuple[tuple[tuple[str, ...], str, tuple[str, ...]], ...]:
    """(roots of a disease, relation, terms) of each row of the table."""
    return tuple((roots(row["disease"]), row["relation"], cells(row["terms"])) for row in table_rows("giveaways.csv"))


_OF = re.compile(r" (?:of|in|due to|with|from|by) ")


def terms_of(names: Iterable[str], added: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """(term, relation) of the rows for a disease of these names, each once.

    A name that the tables added counts up to its cause: 'ketoacidosis of diabetes mellitus' is no diabetes mellitus.
    """
    said = [*map(roots, names), *(roots(_OF.split(name)[0]) for name in added)]
    return tuple(
        dict.fromkeys(
            (term, relation)
            for disease, relation, listed in _relations()
            if any(_within(disease, name) for name in said)
            for term in listed
        )
    )


def pattern_of(term: str, relation: str) -> tuple[re.Pattern[str], str]:
    """(pattern of a term, the relation to show): an organ stands for a procedure, a specimen for an organism."""
    return _PATTERNS.get(relation, word_pattern)(term), _SHOWN_AS.get(relation, relation)


@cache
def class_words(name: str) -> frozenset[str]:
    """The words of a class of `giveaway_words.csv`, as they stand there."""
    return frozenset(next(cells(row["words"]) for row in table_rows("giveaway_words.csv") if row["class"] == name))


def _within(part: Sequence[str], whole: Sequence[str]) -> bool:
    return any(tuple(whole[at : at + len(part)]) == tuple(part) for at in range(len(whole) - len(part) + 1))


def word_pattern(term: str, *, capitals: bool = False) -> re.Pattern[str]:
    """A pattern for a term; an abbreviation matches in capitals only, unless its small letters are no word."""
    if " ~ " in term:
        one, other = (_phrase(part) for part in term.split(" ~ ", maxsplit=1))
        start, end = r"(?<![\w-])", r"(?:e?s|'s)?(?!\w)"
        one, other = f"{start}{one}{end}", f"{start}{other}{end}"
        between = _FEW_WORDS if "<operated>" in term else _IN_ONE_CLAUSE
        return re.compile(f"(?i){one}{between}{other}|{other}{between}{one}")
    pattern = _phrase(term)
    if re.fullmatch(r"[A-Z]{2,6}", term):
        pattern = r"\.?".join(term)  # 'D.K.A.'
    capitals = term.isupper() and len(term) <= 8 and (capitals or not _never_a_word(term))
    flags = re.NOFLAG if capitals else re.IGNORECASE
    return re.compile(rf"(?<![\w-]){pattern}(?:e?s|'s)?(?!\w)", flags)


def _never_a_word(short: str) -> bool:
    """Whether an abbreviation means nothing else in small letters: 'dka', but not 'cap'."""
    return bool(re.fullmatch(r"[A-Z]{3,6}", short)) and short not in class_words("also a word")


def _phrase(term: str) -> str:
    """A pattern for the words of a term, one after the other."""
    parts = []
    for part in term.split(" ... "):
        words = (_class_pattern(one) for one in re.findall(r"<[^>]+>|[^\s-]+", part))
        parts.append(r"[\s-]+".join(words))
    return _WORDS_BETWEEN.join(parts)


def _class_pattern(word: str) -> str:
    """A pattern for a word of a term, or for any word of the class that it names; `###` is a number so long."""
    if set(word) == {"#"}:
        return rf"\d,?\d{{{len(word) - 1},}}"
    if not word.startswith("<"):
        return re.escape(word).replace(r"\*", r"\w*")
    return rf"(?:{'|'.join(_words_of(word[1:-1]))})"


@cache
def _words_of(name: str) -> tuple[str, ...]:
    """A pattern for each word of a class of `giveaway_words.csv`; `*` stands for the rest of a word."""
    return tuple(_one_of_class(word) for word in sorted(class_words(name), key=lambda word: (-len(word), word)))


def _one_of_class(word: str) -> str:
    pattern = r"[\s-]+".join(re.escape(part) for part in re.split(r"[\s-]+", word)).replace(r"\*", r"\w*")
    return f"(?-i:{pattern})" if word.isupper() else pattern


def _operated(organ: str) -> re.Pattern[str]:
    """A pattern for an operation on an organ, whichever of the two is named first."""
    organ = r"[\s-]+".join(map(re.escape, organ.split())) if not organ.isupper() else f"(?-i:{organ})"
    operated, diseased = _class_pattern("<operated>"), _class_pattern("<diseased>")
    done = rf"(?:{operated}|{diseased})"
    return re.compile(rf"(?i)\b{organ}s?{_FEW_WORDS}{operated}\b|\b{done}{_FEW_WORDS}{organ}s?\b")


def _grown(specimen: str) -> re.Pattern[str]:
    """A pattern for an organism that a specimen held, whichever of the two is named first."""
    specimen = r"[\s-]+".join(map(re.escape, specimen.split())) if not specimen.isupper() else f"(?-i:{specimen})"
    between, organism = r"[^.;\n]{0,70}?", _class_pattern("<organism>")
    return re.compile(rf"(?i)\b{organism}\b{between}\b{specimen}\b|\b{specimen}\b{between}\b{organism}\b")


_PATTERNS = {"organ": _operated, "culture": _grown}
"""The relations of the table whose terms are no words of their own: an organ, and a specimen."""
_SHOWN_AS = {"organ": "procedure", "culture": "organism"}


def exact_words(terms: Iterable[str]) -> set[str]:
    """The long words of terms of one word: names of drugs, organisms and operations."""
    words = {one for term in terms for one in ([term] if "<" not in term else _members(term))}
    return {word.casefold() for word in words if re.fullmatch(r"[A-Za-z]{8,}", word)}


def _members(term: str) -> tuple[str, ...]:
    """The words of the class that is the whole of a term."""
    return _words_of(term[1:-1]) if re.fullmatch(r"<[^>]+>", term) else ()


@cache
def listed_words() -> frozenset[str]:
    """Every word of the two tables: none is a misspelling of another."""
    rows = [row["terms"] for row in table_rows("giveaways.csv")]
    rows += [row["words"] for row in table_rows("giveaway_words.csv")]
    return frozenset(word for text in rows for word in re.findall(r"[a-z]{5,}", text.casefold()))
