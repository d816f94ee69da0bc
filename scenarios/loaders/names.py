"""The names of a disease as a source writes them: the diagnosis, its bracketed abbreviations, its group."""

import re

_BRACKET = re.compile(r"\s*\(([^()]*)\)")
_ABBREVIATION = re.compile(r"(?=.*[A-Z].*[A-Z])[A-Za-z0-9][A-Za-z0-9./+-]{0,11}")
_POSSESSIVE = re.compile(r"['\u2019]s\b")


def names(text: str) -> tuple[str, tuple[str, ...]]:
    """The diagnosis without its bracketed abbreviations, and its synonyms.

    'Progressive multifocal encephalopathy (PML)' is the diagnosis before the bracket, with the synonym 'PML'. An
    abbreviation in the middle stands for the words before it, so the synonym is the diagnosis with the abbreviation
    in their place ('Takotsubo cardiomyopathy (TCM) secondary to stroke': 'TCM secondary to stroke'); where those
    words are not the beginning of the diagnosis ('A with B (BB)') there is none. Other brackets are part of the name.
    """
    plain = text.replace("**", "").strip().strip("*").strip()
    plain = plain[:-1].rstrip() if plain.endswith(".") else plain
    diagnosis = _BRACKET.sub(lambda match: "" if _abbreviates(match) else match[0], plain).strip() or plain
    synonyms = []
    for match in _BRACKET.finditer(plain):
        if _abbreviates(match) and _is_head(plain[: match.start()], match[1].strip()):
            rest = _BRACKET.sub(lambda other: "" if _abbreviates(other) else other[0], plain[match.end() :])
            synonyms.append((match[1].strip() + rest).strip())
    return diagnosis, tuple(dict.fromkeys(synonyms))


def _abbreviates(match: re.Match[str]) -> bool:
    inner = match[1].strip()
    return bool(_ABBREVIATION.fullmatch(inner)) and match.start() > 0


def _is_head(before: str, abbreviation: str) -> bool:
    """Whether `abbreviation` can stand for all of `before`: it starts as `before` does, and spans its length.

    'Juvenile Parkinsonism' for JP; not 'Pancreatitis with pulmonary embolism' for PE.
    """
    words = [word for word in re.split(r"[^A-Za-z0-9]+", before) if word]
    initials = [word[0].lower() for word in words if word.lower() not in _LITTLE]
    letters = [letter for letter in abbreviation.lower() if letter.isalpha()]
    if not initials or not letters:
        return False
    return initials[0] == letters[0] and len(initials) <= len(letters) + 1 and not _JOINED.search(before)


_LITTLE = {"of", "the", "and", "in", "to", "by", "due", "with", "a", "an", "for"}
_JOINED = re.compile(r"\b(with|secondary to|due to|caused by|associated with|complicated by)\b|,", re.IGNORECASE)


def group(diagnosis: str) -> str:
    """One spelling of a disease for macro averages: case, possessives and the last full stop do not divide it."""
    plain = _POSSESSIVE.sub("", names(diagnosis)[0]).replace("\u2019", "'").split()
    folded = " ".join(word if len(word) > 1 and word.isupper() else word.lower() for word in plain)
    return folded[:1].upper() + folded[1:]
