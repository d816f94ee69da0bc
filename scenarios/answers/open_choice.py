"""Tells a choice that stays open though it names one disease: 'or something else', and equal shares."""

from collections.abc import Sequence

from wardround.engine.text import regex
from wardround.scenarios.diseases.disease_heads import disease_like

_OPEN_ENDED = regex(
    r"(?i)\W*(?:(?:an)?other(?: (?:disease|condition|disorder|diagnosis|cause|illness|one|thing))?"
    r"|(?:some|any)thing(?: else)?|nothing|none(?: of (?:these|them|those|it))?|whatever"
    r"|any other(?: (?:disease|condition|diagnosis))?|not)\W*"
)
"""An alternative that names nothing: 'gout or something else'."""
_ELSE = regex(
    r"(?i)(?<=\w),?\s+(?:if not|unless (?:it|this|that|she|he) (?:is|was|be|has|had|turns out to be|proves to be))\s+"
    r"(?!(?:for|in|all|most|yet|already|always|otherwise|an?\s+\w+(?:ed|en)|\w+(?:ed|en|ing|ly))\b)(?=\w)"
)
_SHARE_FIRST = regex(
    r"(?:^|(?<=[,;])|(?<=\band\b))\s*(\d{1,3})\s?%\s+(?:chance of\s+)?([^,;%]{2,80}?)(?=\s*(?:[,;.]|\band\b|$))"
)
_SHARE = regex(r"[(\s]*(\d{1,3})\s?%\W*$")
_IN_BRACKETS = regex(r"\s?\((\d{1,3})\s?%\)")
_NEARLY_WHOLE, _WHOLE = 90, 101
"""Per cent that shares of one whole add up to, with rounding: the least of a complete list, and the most."""


def left_open(pieces: Sequence[tuple[str, str]]) -> bool:
    """Whether the phrases of a clause leave its diagnosis open; the second of each pair says how it is an alternative.

    >>> left_open([("gout", ""), ("something else", "or")])
    True
    >>> left_open([("gout 50%", ""), ("lupus 50%", "")])
    True
    """
    shares = [share for _, share in shares_of([piece for piece, _ in pieces])]
    return any(either and _OPEN_ENDED.fullmatch(piece) for piece, either in pieces[1:]) or (
        len(shares) > 1 and shares[0] <= max(shares[1:])
    )


def shares_of(pieces: Sequence[str]) -> list[tuple[int, int]]:
    """(place, per cent) of the diseases that have a share of one whole; [] if the shares are of something else.

    >>> shares_of(["gout 80%", "lupus 20%"])
    [(0, 80), (1, 20)]
    """
    shared = [(place, share, piece) for place, piece in enumerate(pieces) if (share := _SHARE.search(piece))]
    every = [(place, int(share[1])) for place, share, _ in shared]
    if any(disease_like(piece[: share.start()].strip(" :,(-")) for _, share, piece in shared) and (
        _NEARLY_WHOLE <= sum(share for _, share in every) <= _WHOLE
    ):
        return every
    shares = [
        (place, int(share[1])) for place, share, piece in shared if disease_like(piece[: share.start()].strip(" :,(-"))
    ]
    return shares if sum(share for _, share in shares) <= _WHOLE else []


def shares_bare(text: str) -> str:
    """`text` with shares outside of brackets and behind the names: 'gout (80%)' is 'gout 80%'.

    >>> shares_bare("50 % gout, 50 % lupus")
    'gout 50%,lupus 50%'
    """
    bare = _IN_BRACKETS.sub(r" \1%", text)
    return _SHARE_FIRST.sub(r"\2 \1%", bare) if bare.count("%") > 1 else bare


def with_or(sentence: str) -> str:
    """`sentence` with its other words for a choice written as 'or'.

    >>> with_or("Gout if not lupus")
    'Gout or lupus'
    """
    return _ELSE.sub(" or ", sentence)
