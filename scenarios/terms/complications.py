"""Known complications of diseases: what may be asserted beside a disease without being another diagnosis."""

import csv
import io
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

ANY = "*"
"""Stands in the table for any disease: sepsis, shock, anaemia and the like end many of them."""


@cache
def complications() -> Sequence[tuple[tuple[str, ...], tuple[str, ...]]]:
    """(diseases, names of their complications) as the table has them; kinds of a disease have them as well."""
    text = files(__package__).joinpath("data", "complications.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(io.StringIO(text))
    return tuple((tuple(row["disease"].split("|")), tuple(row["complications"].split("|"))) for row in rows)
