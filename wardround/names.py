"""Readable names for runs that were given none."""

import random
from collections.abc import Collection

_HOW = "brisk calm clear early fair fresh gentle keen late lively mild neat plain quick quiet ready sharp steady warm"
_WHO = (
    "curlew dunlin finch godwit heron ibis jay kestrel lark martin oriole petrel plover raven rook swift tern teal wren"
)


def made_up(taken: Collection[str], chance: random.Random | None = None) -> str:
    """A name such as `calm-heron-417` that is not taken."""
    chance = chance or random.Random()
    while True:
        name = f"{chance.choice(_HOW.split())}-{chance.choice(_WHO.split())}-{chance.randrange(100, 1000)}"
        if name not in taken:
            return name
