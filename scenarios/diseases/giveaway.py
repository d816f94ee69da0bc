"""Finds the words of a text that give a diagnosis away without its name: its treatment, procedure, organism or drug."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from rapidfuzz.distance import DamerauLevenshtein

from wardround.engine.text import regex
from wardround.scenarios.case import Case
from wardround.scenarios.diseases.disease import names_in_tables
from wardround.scenarios.diseases.giveaway_terms import (
    class_words,
    exact_words,
    listed_words,
    pattern_of,
    terms_of,
    word_pattern,
)
from wardround.scenarios.terms.wording import cells, key, lexicon, stem, table_rows


@dataclass(frozen=True, slots=True)
class Giveaway:
    """`text[start:end]` gives the diagnosis away by `relation`: procedure, treatment, drug, misspelling and so on."""

    start: int
    end: int
    words: str
    relation: str


_OPERATED = r"(?:ectom(?:y|ies|ized)|otom(?:y|ies)|ostom(?:y|ies)|plast(?:y|ies)|pexy|centesis|rrhaphy|desis|tripsy)"
_STEM = regex(r"([a-z]{5,}?)(?:o?lithiasis|itis|itides|omas?|osis|oses|ia|us)$")
_BLOCKED = regex(
    r"(?i)\b(?:no|not|never|without|denies|denied|refused|declined|negative for|ruled out|r/o|allerg(?:y|ic) to"
    r"|intoleran(?:t|ce) (?:of|to)|fhx of|endemic (?:(?:area|region) )?for|risks? (?:of|for|factors? for)"
    r"|susceptib\w+ to|relevant to)\s+"
    r"(?:[\w/,-]+\s+){0,4}$"
    r"|\b(?:no|denies|denied|without)\s+(?:[\w/-]+,?\s+){1,12}?(?:or|nor)\s+(?:[\w/-]+\s+){0,2}$"
    r"|\b(?:vaccinated (?:for|against)|prophylaxis (?:for|against|with)|prophylactic|screened for)\s+"
    r"(?:[\w/,-]+\s+){0,2}$"
)
_LEFT_OFF = regex(
    r"(?i)\b(?:without|(?:declined|refused) (?:to take)?)\s+(?:his|her|their|the)\s+(?:[\w/,-]+\s+){0,3}$"
)
"""A drug that the patient has but did not take tells as much."""
_RELATIVE = regex(
    r"(?i)\bfamil\w+ (?:medical )?history\b[^\n]{0,150}$"
    r"|\b(?:mother|father|parents?|brother|sister|uncle|aunt|cousin|grandmother|grandfather|grandparents?|wife|husband"
    r"|partner|son|daughter|nephew|niece|room-?mate|neighbou?r|friend|co-?worker|colleague|boss|dog|cat)"
    r"(?:(?:'s|\u2019s)\s+|\s+(?:\w+\s+){0,2}?(?:has|had|have|takes|took|is|was|underwent|received|receives|needed|needs"
    r"|uses|used|died|carries|wears|got|gets|also)\b)(?![^.;\n]{0,80}\b(?:he|she|him|patient)\b)[^.;\n]{0,80}$"
)
"""What somebody else has, not the patient: 'her mother takes', 'his wife's'."""
_PAST = regex(
    r"(?i)(?:\b(?:history of|h/o|hx of|prior|previous|remote|past|status post|s/p|had (?:an? )?)\s+(?:[\w-]+\s+){0,3}$"
    r"|\b(?:19|20)\d\d\b[^.\n]{0,20}$)"
)
_THEN = regex(
    r"(?i)^[^.;\n]{0,40}(?:\b(?:19|20)\d\d\b|\b(?:years?|months?|decades?) (?:ago|before|earlier)\b"
    r"|\bas an? (?:child|boy|girl|teen\w*|infant|baby|young\b[^.;\n]{0,10}|student)\b|\blong ago\b"
    r"|\bin (?:childhood|youth|the past|school|college|high school|the army)\b"
    r"|\bin (?:his|her|their) (?:\d0s|teens|twenties|thirties)\b)"
)
_REMOTE = regex(
    r"(?i)^[^.;\n]{0,40}\b(?:(?:years|decades|many years|a decade) (?:ago|before|earlier)|as an? (?:child|boy|girl"
    r"|teen\w*|infant|baby|student)|long ago|in (?:childhood|youth|school|college|high school|the army))\b"
)
"""What was so long ago that it tells nothing of this illness."""
_NORMAL = regex(
    r"(?i)^\s*(?:(?!\b(?:and|but|with|showed|of)\b)[\w-]+\s+){0,3}?(?:(?:was|were|is|are|came back|returned|remained"
    r"|tested|has been|:)\s+)*(?:all\s+)?(?:normal|negative|unremarkable|within normal|clear|clean|absent"
    r"|(?:under|below|less than|<) ?[\d.]+\b(?! ?%)"
    r"|ruled out|excluded"
    r"|[\d.,/%]+ (?:[a-z]+/[a-z]+ )?(?:and |\()?(?:normal|as before|unchanged|at (?:(?:his|her|the) )?baseline|stable)"
    r"|not (?:given|done|needed|required|started|performed|seen|indicated|used|found|present|detected|necessary"
    r"|elevated|raised)|never (?:given|done|needed|started|performed)|considered but|deferred|declined)\b"
)
_NOW = regex(r"(?i)^[^.;\n]{0,30}\b(?:today|yesterday|this (?:admission|morning)|on admission|pod ?#?\d)\b")
_NO_ILLNESS = regex(
    r"(?i)^[\s-]+(?:\d+\s+)?(?:vaccin\w+|immuni\w+|booster|shot|jab|contacts?|exposure|scale|belt|risk|prevention|prophylaxis|screen\w*"
    r"|country|countries|area|region|season)\b"
)
"""Words after a name that speak of no illness of the patient."""
_OTHER_USE = regex(
    r"(?i)^\s+(?:cream|ointment|lotion|gel|shampoo|eye drops|ear drops)\b"
    r"|^[^.;\n]{0,30}\bfor an? [^.;\n]{0,30}\blast (?:spring|summer|fall|autumn|winter|year|month)\b"
)
"""A drug on the skin, or taken for another trouble of some time ago."""
_DERIVED = regex(r"(?:ly|ive|al|ous|ity|ation|ed|ing|ic)$")
"""Ends of words that derive a word from a name instead of misspelling it: 'prematurely' of 'prematurity'."""
_NONE_GREW = regex(r"(?i)\b(?:no|not|never|nothing|none|negative|sterile|flora|contamina\w+|without)\b")
"""Words of a culture in which nothing of note grew."""
_NONE_SEEN = regex(
    r"(?i)\b(?:no|not|never|nothing|none|negative|without|normal|denies|denied|excluded|clear|free of|unremarkable)\b"
)
"""Words of a process at a place that was not there."""
_IN_ITSELF = re.compile(r"\bnot\b")
"""A finding that is a denial: 'does not compress'."""
_LETTERS = regex(r"[A-Za-z]+")
_WORD = regex(r"[A-Za-z][A-Za-z'\u2019]{4,}")


class Giveaways:
    """The words that give one diagnosis away; the tables add to its `names`."""

    def __init__(self, names: Iterable[str]) -> None:
        said = tuple(name for name in names if key(name))
        added = names_in_tables(said)
        self._names = tuple(dict.fromkeys((*said, *added)))
        terms = terms_of(said, added[len(dict.fromkeys(said)) :])
        self._terms = [pattern_of(term, relation) for term, relation in terms]
        short = {one for name in self._names for one in (_initials(name), name if name.isupper() else "") if one}
        self._terms += [
            (word_pattern(one, capitals=one not in self._names), "abbreviation")
            for one in sorted(short - class_words("no initials"))
        ]
        near = [(word_pattern(name), "other name") for name in _plain_names(self._names)]
        near += [(word_pattern(name), "narrower name") for name in _related_names(self._names)]
        self._terms += [one for one in near if one not in self._terms]
        words = {word for name in self._names for word in re.findall(r"[a-z]{6,}", name.casefold())}
        stems = sorted({match[1].removesuffix("ic") for word in words if (match := _STEM.match(word))})
        if stems:
            organs = "|".join(stems)
            self._terms.append((re.compile(rf"(?i)\b(?:{organs})[a-z]{{0,4}}{_OPERATED}\b"), "procedure"))
        distinct = words - _general()
        parts = (tuple(re.findall(r"[a-z]+", name.casefold())) for name in self._names)
        self._phrases = tuple(dict.fromkeys(part for part in parts if 2 <= len(part) <= 5 and sum(map(len, part)) > 9))
        long = {word for word in distinct if stem(word) in lexicon() or len(distinct) == 1}
        self._long = tuple(sorted(long | exact_words(term for term, relation in terms if relation in _SPELLED)))

    def hits(self, text: str, *, past: bool = False, examined: bool = False) -> tuple[Giveaway, ...]:
        """What gives the diagnosis away in `text`, in its order, none overlapping another.

        What is denied, and a procedure of the past, gives nothing away; `past`: the text is a past history. A finding
        gives nothing away where the doctor finds it (`examined`: the text is of the examination).
        """
        hits = [one for one in self._related(text, past=past) if not examined or one.relation != "finding"]
        hits += [*self._misspelt(text), *self._misspelt_phrases(text)]
        kept: list[Giveaway] = []
        for hit in sorted(hits, key=lambda hit: (hit.start, -hit.end)):
            if not kept or hit.start >= kept[-1].end:
                kept.append(hit)
        return tuple(kept)

    def masked(self, text: str, mark: str, *, past: bool = False, examined: bool = False) -> str:
        """`text` with `mark` for each word that gives the diagnosis away."""
        parts, done = [], 0
        for hit in self.hits(text, past=past, examined=examined):
            parts += [text[done : hit.start], mark]
            done = hit.end
        return "".join([*parts, text[done:]])

    def _related(self, text: str, *, past: bool) -> Iterator[Giveaway]:
        for pattern, relation in self._terms:
            for match in pattern.finditer(text):
                before, after = text[max(0, match.start() - 80) : match.start()], text[match.end() : match.end() + 70]
                denied = _BLOCKED.search(before) and not (relation == "drug" and _LEFT_OFF.search(before))
                if denied or _NORMAL.search(after) or (relation != "drug" and _NO_ILLNESS.search(after)):
                    continue
                if relation == "organism" and _NONE_GREW.search(match[0]):
                    continue
                if relation == "finding" and _NONE_SEEN.search(match[0]) and not _IN_ITSELF.search(pattern.pattern):
                    continue
                if _REMOTE.search(after) and relation != "lasting":
                    continue
                if _RELATIVE.search(text, max(0, match.start() - 160), match.start()):
                    continue
                if relation in ("drug", "treatment") and _OTHER_USE.search(after):
                    continue
                old = past or _PAST.search(before) or _THEN.search(after)
                if relation in _OF_ITS_TIME and old and not _NOW.search(after):
                    continue
                yield Giveaway(*match.span(), match[0], relation)

    def _misspelt_phrases(self, text: str) -> Iterator[Giveaway]:
        """Names of several words of which one is misspelt: 'small bowl obstruction'."""
        words = [(hit.start(), hit.end(), hit[0].casefold()) for hit in _LETTERS.finditer(text)]
        for name in self._phrases:
            for at in range(len(words) - len(name) + 1):
                window = words[at : at + len(name)]
                wrong = [(said, meant) for (_, _, said), meant in zip(window, name, strict=True) if said != meant]
                if len(wrong) == 1 and wrong[0][0][0] == wrong[0][1][0] and _misspelt_words(*wrong[0]):
                    said, meant = wrong[0]
                    if not _ends_otherwise(said, meant) and not _DERIVED.search(said):
                        yield Giveaway(window[0][0], window[-1][1], text[window[0][0] : window[-1][1]], "misspelling")

    def _misspelt(self, text: str) -> Iterator[Giveaway]:
        for match in _WORD.finditer(text):
            word = match[0].casefold()
            for name in self._long:
                most = 1 if len(name) < 9 else 2
                cut = name.startswith(word) and 7 <= len(word) <= len(name) - 3 and stem(word) not in lexicon()
                if word == name[1:] or cut:
                    yield Giveaway(*match.span(), match[0], "misspelling")
                    break
                if word[0] != name[0] or abs(len(word) - len(name)) > most or _ends_otherwise(word, name):
                    continue
                if (form := _DERIVED.search(word)) and not name.endswith(form[0]):
                    continue
                close = DamerauLevenshtein.distance(word, name, score_cutoff=most) <= most
                if close and not _real(word):
                    yield Giveaway(*match.span(), match[0], "misspelling")
                    break


def _real(word: str) -> bool:
    """Whether a word is one of the tables, or one of them behind a syllable: 'ineffective'."""
    bare = re.sub(r"^(?:in|un|re|non|dis|im|pre)(?=[a-z]{5})", "", word)
    return word in listed_words() or any(stem(one) in lexicon() for one in (word, bare))


def _ends_otherwise(word: str, name: str) -> bool:
    """Whether a word is a name, or the name with another end: 'malarial' and 'embolisms', but not 'malariia'."""
    cut = word == name[:-1] and not name.endswith("s")
    return word.startswith(name) or (
        word.startswith(name[:-1]) and word[len(name) - 1 :] not in (name[-2:], name[-1] * 2) and not cut
    )


def _misspelt_words(word: str, name: str) -> bool:
    most = 0 if len(name) < 5 else 1 if len(name) < 9 else 2
    return DamerauLevenshtein.distance(word, name, score_cutoff=most) <= most


def _initials(name: str) -> str:
    """The initials of a name of two to five words; '' for others."""
    words = [word for word in re.findall(r"[A-Za-z]+", name) if word not in ("of", "the", "and", "with", "to")]
    return "".join(word[0] for word in words).upper() if 2 <= len(words) <= 5 else ""


_OF_ITS_TIME = ("procedure", "other name", "narrower name")
"""Relations that tell nothing of this illness if they were in the past."""
_SPELLED = ("drug", "organism", "procedure", "lasting")
"""Relations whose single words are looked for with errors of spelling as well."""


def _plain_names(names: Sequence[str]) -> tuple[str, ...]:
    """The names of a disease, each also without words that only qualify it, if one word of its own is left."""
    plain: dict[str, None] = dict.fromkeys(name for name in names if not name.isupper())
    for name in names:
        words = name.split()
        left = [word for word in words if word.casefold().strip(",") not in class_words("qualifier")]
        bare = " ".join(left)
        alone = len(bare) > 5 and key(bare) not in _general() and not _DERIVED.search(bare)
        if len(left) < len(words) and (alone or (bare.isupper() and len(bare) > 2)):
            plain[bare] = None
    return tuple(plain)


def _related_names(names: Sequence[str]) -> tuple[str, ...]:
    """Names and abbreviations of the conditions of the own list that are a kind of a disease."""
    own = {key(name) for name in names}
    mine = [row for row in table_rows("conditions.csv") if own & {key(one) for one in _row_names(row)}]
    titles = {key(row["name"]) for row in mine}
    rows = table_rows("conditions.csv")
    near = [row for row in rows if titles & {key(one) for one in cells(row["broader"])}]
    return tuple(dict.fromkeys(one for row in near for one in _row_names(row) if key(one) not in own))


def _row_names(row: Mapping[str, str]) -> tuple[str, ...]:
    return (row["name"], *cells(row["synonyms"]), *cells(row["abbreviations"]))


def about_the_past(section: str) -> bool:
    """Whether a section of the history is about the past, by its name: 'Past surgical history'."""
    return bool(re.search(r"(?i)\b(?:past|surgical|previous|prior|operations?)\b", section))


def about_others(section: str) -> bool:
    """Whether a section of the history is about relatives, by its name."""
    return bool(re.search(r"(?i)\bfamily\b", section))


def revealed(case: Case) -> tuple[tuple[str, Giveaway], ...]:
    """(field, what gives the diagnosis away) in complaint, opening, history and examination; one entry a phrase."""
    known = giveaways((case.truth.diagnosis, *case.truth.synonyms, *case.truth.parts))
    texts = [("opening", case.opening, False), ("complaint", case.complaint, False)]
    texts += [
        (f"history.{name}", text, about_the_past(name)) for name, text in case.history.items() if not about_others(name)
    ]
    texts += [(f"examination[{place}]", part.text, False) for place, part in enumerate(case.examination)]
    named = {key(name) for name in (case.truth.diagnosis, *case.truth.synonyms)}
    seen: dict[tuple[str, str], tuple[str, Giveaway]] = {}
    for field, text, past in texts:
        for hit in known.hits(text, past=past, examined=field.startswith("examination")):
            if key(hit.words) in named:
                continue  # `named_truths` and the leaks of the history tell of these
            seen.setdefault((field, hit.words.casefold()), (field, hit))
    return tuple(seen.values())


@cache
def _general() -> frozenset[str]:
    """Words of names that occur in many diseases: 'syndrome', 'chronic'."""
    counts: dict[str, int] = {}
    for table in ("conditions.csv", "diseases.csv"):
        for row in table_rows(table):
            for word in set(re.findall(r"[a-z]{7,}", f"{row['name']} {row['synonyms']}".casefold())):
                counts[word] = counts.get(word, 0) + 1
    return frozenset(word for word, number in counts.items() if number > 12)


@lru_cache(maxsize=1024)
def giveaways(names: tuple[str, ...]) -> Giveaways:
    """What gives a diagnosis of these names away, with the names that the tables add and their abbreviations."""
    return Giveaways(names)
