"""The names of a disease as a source writes them: the diagnosis, its bracketed abbreviations, its group."""

import re

_BRACKET = re.compile(r"\s*\(([^()]*)\)")
_ABBREVIATION = re.compile(r"(?=.*[A-Z].*[A-Z])[A-Za-z0-9][A-Za-z0-9./+-]{0,11}")
_LITTLE = {"of", "the", "and", "in", "to", "by", "due", "with", "a", "an", "for"}
_JOINED = re.compile(r"\b(with|secondary to|due to|caused by|associated with|complicated by)\b|,", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
_EMPHASIS = re.compile(r"(?<!\w)\*+|\*+(?!\w)")
_POSSESSIVE = re.compile(r"['\u2019]s\b")


def names(text: str) -> tuple[str, tuple[str, ...]]:
    """The diagnosis without its bracketed abbreviations, and its synonyms.

    'Progressive multifocal encephalopathy (PML)' is the diagnosis before the bracket, with the synonym 'PML'. An
    abbreviation in the middle stands for the words before it, so the synonym is the diagnosis with the abbreviation
    in their place ('Takotsubo cardiomyopathy (TCM) secondary to stroke': 'TCM secondary to stroke'). An abbreviation
    of a part alone ('Pancreatitis with pulmonary embolism (PE)') is no synonym. Other brackets belong to the name.
    """
    plain = _EMPHASIS.sub("", text).strip().removeprefix("- ").strip()
    plain = plain[:-1].rstrip() if plain.endswith(".") else plain
    diagnosis = _without(plain)
    synonyms = []
    for match in _BRACKET.finditer(plain):
        after = _without(plain[match.end() :])
        if _abbreviates(match) and _stands_for(match[1].strip(), plain[: match.start()], at_end=not after):
            synonyms.append(f"{match[1].strip()}{'' if after[:1] in ',;' else ' '}{after}".strip())
    return diagnosis, tuple(dict.fromkeys(synonyms))


def _without(text: str) -> str:
    return _BRACKET.sub(lambda match: "" if _abbreviates(match) else match[0], text).strip()


def _abbreviates(match: re.Match[str]) -> bool:
    """Whether a bracket holds an abbreviation of words before it: 'PML', not 'Type IIb' and not the stage 'T4aN0M0'."""
    inner = match[1].strip()
    return bool(_ABBREVIATION.fullmatch(inner)) and inner[0].lower() in _initials(match.string[: match.start()])


def _initials(text: str) -> list[str]:
    words = [word.lower() for word in re.split(r"[^A-Za-z0-9]+", text) if word]
    return [word[0] for word in words if word not in _LITTLE]


def _stands_for(abbreviation: str, before: str, *, at_end: bool) -> bool:
    """Whether `abbreviation` can stand for all of `before`, and not for its last words alone."""
    initials = _initials(before)
    letters = [letter for letter in abbreviation.lower() if letter.isalpha()]
    if initials == letters:
        return True
    if _JOINED.search(before):
        return False
    if at_end:  # of 'carcinoma of the pancreas (SCCP)' and 'tumour of the auditory canal (EAC)' the first counts
        return any(letter in letters for letter in _initials(re.split(r"\bof\b", before)[0]))
    return initials[:1] == letters[:1] and len(initials) <= len(letters) + 1


def group(diagnosis: str) -> str:
    """One spelling of a disease for macro averages: case, possessives and the last full stop do not divide it."""
    plain = " ".join(_POSSESSIVE.sub("", names(diagnosis)[0]).replace("\u2019", "'").split())
    folded = _WORD.sub(lambda match: match[0] if match[0].isupper() else match[0].lower(), plain)
    return folded[:1].upper() + folded[1:]
