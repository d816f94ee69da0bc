"""Families of ICD codes: prefixes of codes, with or without the dot, and what covers what."""

from collections.abc import Iterable, Sequence


def bare(code: str) -> str:
    """A code in capitals without dot, as hospital tables write it: 'k35.80' gives 'K3580'."""
    return code.strip().upper().replace(".", "")


def covers(family: str, code: str) -> bool:
    """Whether `code` is `family` or lies within it."""
    return bare(code).startswith(bare(family))


def covered(codes: Iterable[str], families: Sequence[str]) -> bool:
    """Whether there are codes and each lies within one of the families."""
    held = list(codes)
    return bool(held) and all(any(covers(family, code) for family in families) for code in held)


def least(codes: Iterable[str]) -> tuple[str, ...]:
    """The codes without those that another one covers, in their order."""
    held = list(dict.fromkeys(codes))
    return tuple(code for code in held if not any(other != code and covers(other, code) for other in held))
