"""Tells whether a name is another name of a disease: its abbreviation, its name in MONDO, or a name by its gene."""

import re
from collections.abc import Mapping
from functools import cache, lru_cache

from wardround.engine.text import regex
from wardround.scenarios.diseases.contradiction import conflict
from wardround.scenarios.diseases.disease import DEGREES
from wardround.scenarios.diseases.disease_name import GENERIC, parse_name
from wardround.scenarios.diseases.mondo import diseases_named, form, kinship, twofold
from wardround.scenarios.terms.wording import RootWords, list_words, root, roots, table_rows, tokens, vocabulary

_BRACKET = regex(r"\s*[(\[]([^()\[\]]*)[)\]]")
_JOINING = frozenset(("of", "the", "and", "with", "in", "to", "a", "due", "by", "for", "or"))
LEAST_INITIALS = 3
"""An abbreviation of the table may stand for other words too, if it is their initials and has so many letters."""
LONG_WORD = 9
"""Number of letters in the shortest single word for which an abbreviation may stand."""
_SHORT = regex(r"[A-Z][A-Za-z0-9-]{1,7}")
_NAMED_SO = regex(r"(?i)\s+(?:syndrome|disease|disorder)$")
_UNSPOKEN = list_words("disease syndrome disorder type coa")
_ENZYMATIC = list_words("deficiency defect")
_SYNDROME = list_words("syndrome")
_PIECE = regex(r"[A-Za-z]+|\d+")
_GENE = regex(
    r"\b[A-Z][A-Z0-9]{1,6}\d[A-Z0-9]{0,3}\b|\b[A-Z]{3,7}(?=[-\s](?:related|associated|linked|mutation|variant|gene))"
)
_SYMBOL = regex(r"\b[A-Z][A-Z0-9]{1,7}\b")
_OF_GENES = RootWords(
    """neurodevelopmental developmental genetic multisystem congenital gene mutation variant pathogenic novel de
    heterozygous homozygous missense nonsense frameshift loss function likely inherited deletion linked of the to"""
)


def another_name(truth: str, said: str) -> str:
    """The reason why `said` is another name of the truth's disease; "" if this cannot be told from the names."""
    if abbreviated(truth, said) and not diseases_named(said):
        return "its abbreviation"
    kin = kinship(truth, said) if twofold(truth) or not twofold(said) else None
    if kin != "apart" and abbreviated(said, _NAMED_SO.sub("", truth)):
        return "the abbreviation written out"
    if kin == "same" and not (_left_out(truth, said) and conflict(parse_name(truth), parse_name(said))):
        return "another name of it in MONDO"
    if gene := gene_named(truth, said) or gene_listed(truth, said):
        return f"the disease of the gene {gene}"
    return ""


def _left_out(truth: str, said: str) -> bool:
    """Whether MONDO's forms hide a difference of two names: a side, a degree, a bracket, or words of one root."""
    ours, theirs = (
        [word for match in _BRACKET.finditer(name) for word in tokens(match[1])]
        + [word for word in tokens(name) if word in DEGREES]
        for name in (truth, said)
    )
    return set(ours) != set(theirs) or form(truth) == form(said)


def gene_named(truth: str, said: str) -> str:
    """The gene, if one name is a syndrome with it and the other only names it ('TET3-related disorder'); else ""."""
    ours, theirs = set(_GENE.findall(truth)), set(_GENE.findall(said))
    if len(ours) != 1 or ours != theirs:
        return ""
    [gene] = ours
    own = {root(word) for word in tokens(gene)}
    for name, other in ((truth, said), (said, truth)):
        parsed = parse_name(name)
        words = set(parsed.head.words) | set(parsed.cause.words)
        if words - own <= GENERIC | _OF_GENES and _SYNDROME.intersection(tokens(other)):
            return "" if conflict(parse_name(truth), parse_name(said)) else gene
    return ""


@cache
def _genes() -> Mapping[str, tuple[str, frozenset[str]]]:
    """Gene -> (the disease that its variants cause, roots of words that describe this disease)."""
    rows = table_rows("genes.csv")
    return {row["gene"]: (row["disease"], frozenset(roots(row["described"].replace("|", " ")))) for row in rows}


def gene_listed(truth: str, said: str) -> str:
    """The gene, if one name has it and describes the other name, which is the gene's disease in `genes.csv`; else "".

    So 'FBN1-related connective tissue disorder' is Marfan syndrome, and is no other disease of that gene.
    """
    for name, other in ((said, truth), (truth, said)):
        gene = next((symbol[0] for symbol in _SYMBOL.finditer(name) if symbol[0] in _genes()), "")
        if not gene:
            continue
        disease, described = _genes()[gene]
        words = set(roots(name)) - set(roots(gene))
        if words and words <= described | GENERIC | _OF_GENES and kinship(disease, other) == "same":
            return gene
    return ""


def abbreviated(truth: str, said: str) -> bool:
    """Whether `said` is an abbreviation that no table has and that is made of the letters of the truth's words.

    Each word gives its first letter, or its first and later ones in order ('FODH' for focal dermal hypoplasia).
    """
    short = said.strip(" .")
    if not _SHORT.fullmatch(short) or sum(map(str.isupper, short)) < 3 or short in vocabulary().abbreviations:
        return False
    return _spells(short, _BRACKET.sub(" ", truth))


def unabbreviated(truth: str, said: str) -> str:
    """`said` with its only abbreviation written out by words of the truth; "" if there is none: 'GPI deficiency'."""
    words = said.replace(",", " ").split()
    short = [word for word in words if _SHORT.fullmatch(word) and sum(map(str.isupper, word)) > 1]
    if len(words) < 2 or len(short) != 1:
        return ""
    others = {token for word in words if word != short[0] for token in tokens(word)}
    left = [word for word in _BRACKET.sub(" ", truth).split() if not others.intersection(tokens(word))]
    initials = "".join(word[0] for word in _PIECE.findall(" ".join(left))).upper()
    if short[0] in vocabulary().abbreviations and (len(initials) < LEAST_INITIALS or initials != short[0]):
        return ""  # the table has another meaning for it, and its letters do not prove this one
    letters = short[0].rstrip("0123456789") if others & _ENZYMATIC else short[0]
    if not left or not _spells(letters, " ".join(left), LONG_WORD // 2 if letters != short[0] else LONG_WORD):
        return ""
    return " ".join(" ".join(left) if word == short[0] else word for word in words)


def _spells(letters: str, words: str, least_letters: int = LONG_WORD) -> bool:
    """Whether letters spell words: the first letter of each word in order, each perhaps with later ones of its word."""
    spoken = [word.lower() for word in _PIECE.findall(words)]
    wanted = re.sub(r"[^a-z0-9]", "", letters.lower())
    must = [word for word in spoken if word not in _JOINING and not _UNSPOKEN.intersection(tokens(word))]
    least = min(len(must), 2)
    long = len(must) > 1 or len("".join(must)) >= least_letters
    return long and len(wanted) > 1 and _consumed(wanted, tuple(spoken), frozenset(must), least)


@lru_cache(maxsize=16384)
def _consumed(letters: str, words: tuple[str, ...], must: frozenset[str], least: int) -> bool:
    """Whether the letters spell the words, at least `least` of them, leaving out none that must be said."""
    if not words:
        return not letters and least <= 0
    first, rest = words[0], words[1:]
    if first not in must and _consumed(letters, rest, must, least):
        return True
    if not letters or letters[0] != first[0]:
        return False
    if first.isdigit():
        return letters.startswith(first) and _consumed(letters[len(first) :], rest, must, least - 1)
    for size in range(1, len(letters) + 1):
        if not _within(letters[1:size], first[1:]):
            return False
        if _consumed(letters[size:], rest, must, least - 1):
            return True
    return False


def _within(letters: str, word: str) -> bool:
    rest = iter(word)
    return all(letter in rest for letter in letters)
