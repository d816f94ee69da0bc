"""What a text says of a patient, as counted word stems: lay words mapped, denials out, laboratory values read."""

import csv
import io
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib.resources import files

_WORD = re.compile(r"[a-z0-9]+")
_PART = re.compile(r"[.;:\n,]|\bbut\b")
_NEGATED = re.compile(
    r"\b(?:no|not|denies|denied|without|negative|absence|absent|never|non|nor|unremarkable|ruled out|none|normal)\b"
)
_ACCENT = re.compile(r"[\u0300-\u036f]")
_FOREIGN = re.compile(r"[^\x00-\x7f]")
_PAST = re.compile(r"history|personal|family|past|years ago|previous|rule|exclu|differential|unlikely|medications")
_LAB = re.compile(
    r"^[\s*-]*(?P<name>[^:=\n]{1,50}?)\s*[:=]\s*(?P<sign>[<>]?)\s*(?P<value>\d+(?:\.\d+)?)(?=$|[^\w.]|\s|/)(?P<rest>[^\n;]*)"
)
_RANGE = re.compile(r"reference (?:(?:from )?(?P<low>\d[\d.]*))?-?(?:(?:up to )?(?P<high>\d[\d.]*))?\)")
_FLAG = re.compile(
    r"\[(?P<flag>high|low|abnormal)\]|\((?:\w+ )?(?P<word>elevated|high|low|decreased|reduced)\)", re.IGNORECASE
)
# fmt: off
_STOP = frozenset((
    "the", "a", "an", "of", "and", "or", "in", "on", "to", "with", "for", "is", "was", "were", "are", "be", "by",
    "at", "from", "as", "his", "her", "their", "he", "she", "they", "that", "this", "has", "had", "have", "patient",
    "man", "woman", "year", "old", "years", "male", "female", "reports", "presents", "history", "no", "not", "any",
    "all", "it", "which", "who", "due", "than", "over", "after", "before", "into", "then", "there", "been", "being",
    "also", "if", "may", "can", "while", "during", "since", "including", "other", "both", "per", "my", "me", "you",
    "your", "about", "when", "what",
))
# fmt: on
_ENDINGS = (("ies", "y"), ("sses", "ss"), ("ness", ""), ("ing", ""), ("edly", ""), ("ed", ""), ("es", "e"), ("s", ""))
_SUFFIXES = ("ation", "ous", "ity", "ic", "al", "ia", "e")


def stems(text: str) -> tuple[str, ...]:
    """The stems of the words of `text` that carry meaning, in order, whatever it affirms or denies."""
    return tuple(_stem(word) for word in _WORD.findall(_meant(plain(text))) if word not in _STOP)


def canonical(name: str) -> str:
    """A name of a disease in one spelling: lower case, no accents, possessives or punctuation, American spelling."""
    text = plain(re.sub(r"['\u2019]s\b", "", name))
    return " ".join(_WORD.findall(text.replace("tumour", "tumor").replace("haem", "hem").replace("oedema", "edema")))


def findings(text: str) -> Counter[str]:
    """How often `text` affirms each stem: what follows a negation in its clause is left out, and normal values are."""
    counted: Counter[str] = Counter()
    for line in re.split(r"[\n;]", plain(text)):
        for part in _PART.split(_lab(line)):
            negated = _NEGATED.search(part)
            affirmed = _meant(part[: negated.start()] if negated else part)
            counted.update(
                _stem(word)
                for word in _WORD.findall(affirmed)
                if word not in _STOP and len(word) > 1 and not word.isdigit()
            )
    return counted


def sentences(text: str) -> Iterator[tuple[str, ...]]:
    """The stems of each sentence that neither denies anything nor speaks of the past."""
    for part in re.split(r"[.;\n]", plain(text)):
        if not _NEGATED.search(part) and not _PAST.search(part[:40]):
            yield stems(part)


def plain(text: str) -> str:
    """Lower case, without accents."""
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKD", text.lower().replace("\u2019", "'").replace("\u03bc", "u"))
    return _FOREIGN.sub(" ", _ACCENT.sub("", folded))


@lru_cache(maxsize=65536)
def _stem(word: str) -> str:
    for ending, instead in _ENDINGS:
        if len(word) > len(ending) + 3 and word.endswith(ending) and not word.endswith(("ss", "us", "is")):
            word = word[: -len(ending)] + instead
            break
    for suffix in _SUFFIXES:
        if len(word) > len(suffix) + 3 and word.endswith(suffix):
            return word[: -len(suffix)]
    return word


@cache
def _aliases() -> tuple[re.Pattern[str], dict[str, str]]:
    rows = dict(list(_table("aliases.csv"))[1:])
    longest = sorted(rows, key=lambda said: (-len(said), said))
    return re.compile("|".join(map(re.escape, longest))), rows


def _meant(text: str) -> str:
    pattern, rows = _aliases()
    return pattern.sub(lambda match: rows[match[0]], text)


@cache
def _ranges() -> dict[str, tuple[str, ...]]:
    return {name: tuple(row[1:]) for row in list(_table("ranges.csv"))[1:] for name in row[0].split("|")}


def _lab(line: str) -> str:
    """A line of a laboratory value as what it means ('leukocytosis'), '' if it is normal, else the line as it is.

    The record's flag goes first, then its range, then the table's.
    """
    line = re.sub(r"(?<=\d),(?=\d{3}\b)", "", line)
    match = _LAB.match(line)
    if match is None:
        return line
    name, value, rest = match["name"].strip(), float(match["value"]), match["rest"]
    row = _ranges().get(name.split(": ")[-1].strip())
    below, above = row[4:] if row else (f"low {name}", f"elevated {name}")
    flag = _FLAG.search(rest)
    if flag:
        said = (flag["flag"] or flag["word"]).lower()
        return above if said in ("high", "elevated") else below if said in ("low", "decreased", "reduced") else line
    told = _RANGE.search(rest)
    low, high = (told["low"], told["high"]) if told else row[:2] if row else (None, None)
    if row and not told and row[2] and value > float(row[2]):
        value /= float(row[3])
    if low and value < float(low):
        return below
    if high and value > float(high):
        return above
    return "" if row or told else line


def _table(name: str) -> Iterator[list[str]]:
    """The rows of a table that ships with the agents, its header first."""
    yield from csv.reader(io.StringIO((files("wardround.agents") / "data" / name).read_text(encoding="utf-8")))
