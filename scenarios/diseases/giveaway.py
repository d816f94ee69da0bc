"""Finds words of a text that give a diagnosis away: its treatment, procedure, organism, drug, or a misspelt name.

`giveaway_terms` reads the table of such words. This module decides for each place in a text whether it tells of the
patient's present illness: what is denied, normal, a relative's or long past gives nothing away.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache

import msgspec

from wardround.engine.text import regex
from wardround.scenarios.case import Case
from wardround.scenarios.diseases.disease import ALONE, names_in_tables
from wardround.scenarios.diseases.giveaway_terms import (
    Matches,
    Span,
    Term,
    any_of,
    class_words,
    exact_words,
    patterns_of,
    sentence_spans,
    terms_of,
    word_pattern,
)
from wardround.scenarios.diseases.misspelling import DERIVED, Misspellings
from wardround.scenarios.diseases.mondo import diseases_named, kinship
from wardround.scenarios.diseases.names_within import names_within
from wardround.scenarios.terms.wording import cells, key, lexicon, stem, table_rows, vocabulary


class Giveaway(msgspec.Struct, frozen=True):
    """`words`, at `text[start:end]`, give the diagnosis away by a `relation`: 'procedure', 'drug', 'misspelling' ..."""

    start: int
    end: int
    words: str
    relation: str


_OPERATED = r"(?:ectom(?:y|ies|ized)|otom(?:y|ies)|ostom(?:y|ies)|plast(?:y|ies)|pexy|centesis|rrhaphy|desis|tripsy)"
_STEM = regex(r"([a-z]{5,}?)(?:o?lithiasis|itis|itides|omas?|osis|oses|ia|us)$")
_BLOCKED = regex(
    r"(?i)\b(?:no|not(?! (?:pass|get past|cross|settle|respond|tolerate|clear|shift|hold)\b)|never|neither"
    r"|nothing (?:in|at|on)|without|denies|denied|refused|declined|negative for|ruled out|r/o|allerg(?:y|ic) to"
    r"|intoleran(?:t|ce) (?:of|to)|fhx of|endemic (?:(?:area|region) )?for|risks? (?:of|for|factors? for)"
    r"|susceptib\w+ to|relevant to)\s+"
    r"(?:(?!but\b|(?:and|then|so|now) (?:had|has|was|were|underwent|needed|got|needs|then|went)\b)[\w/,-]+\s+){0,4}$"
    r"|\b(?:no|denies|denied|without)\s+(?:[\w/-]+,?\s+){1,12}?(?:or|nor)\s+(?:[\w/-]+\s+){0,2}$"
    r"|\b(?:vaccinated (?:for|against)|prophylaxis (?:for|against|with)|prophylactic|screened for)\s+"
    r"(?:[\w/,-]+\s+){0,2}$"
)
_LEFT_OFF = regex(
    r"(?i)\b(?:without|(?:declined|refused) (?:to take)?)\s+(?:his|her|their|the)\s+(?:[\w/,-]+\s+){0,3}$"
)
"""Words before a drug that the patient has but did not take; it gives as much away as one that was taken."""
_RAN_OUT = regex(
    r"(?i)\bno (?:[\w-]+ ){1,3}(?:since|left|for (?:the )?(?:past |last )?(?:\w+ )?(?:days?|weeks?|months?))\b"
)
_RELATIVE = regex(
    r"(?i)\bfamil\w+ (?:medical )?history\b[^\n]{0,150}$"
    r"|\b(?:mother|father|parents?|brother|sister|uncle|aunt|cousin|grandmother|grandfather|grandparents?|wife|husband"
    r"|partner|son|daughter|nephew|niece|room-?mate|neighbou?r|friend|co-?worker|colleague|boss|dog|cat)"
    r"(?:(?:'s|\u2019s)\s+|\s+(?:\w+\s+){0,2}?(?:has|had|have|takes|took|is|was|underwent|received|receives|needed|needs"
    r"|uses|used|died|carries|wears|got|gets|also)\b)(?![^.;\n]{0,80}\b(?:he|she|him|patient)\b)[^.;\n]{0,80}$"
)
"""Words that speak of somebody else, not of the patient: 'her mother takes', 'his wife's'."""
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
"""Words that put something so far into the past that it says nothing about this illness."""
_NORMAL = regex(
    r"(?i)^\s*(?:(?!\b(?:and|but|with|showed|of|no|not|never)\b)[\w-]+\s+){0,3}?"
    r"(?:(?:was|were|is|are|came back|returned|remained|tested|has been|:)\s+)*(?:all\s+)?"
    r"(?:normal|neg(?:ative)?|non-?reactive|mid-range|in range|nil|patent|normally|fill|unremarkable"
    r"|within normal|clear|clean|absent|benign|in neither|(?:nothing|none) (?:seen|grown|found)|no growth"
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
"""Words after a name with which it is no illness of the patient: 'vaccine', 'risk', 'season'."""
_OTHER_USE = regex(
    r"(?i)^\s+(?:cream|ointment|lotion|gel|shampoo|eye drops|ear drops)\b"
    r"|^[^.;\n]{0,30}\bfor an? [^.;\n]{0,30}\blast (?:spring|summer|fall|autumn|winter|year|month)\b"
)
"""Words after a drug that is used on the skin, or that was taken for another complaint last year."""
_NONE_GREW = regex(r"(?i)\b(?:no|not|neither|never|nothing|none|negative|sterile|flora|contamina\w+|without)\b")
"""Words of a culture in which nothing of note grew."""
_NO_PATHOGEN = regex(
    r"(?i)\b(?:contamina\w+|co-?ag(?:ulase)?[- ]?neg\w*|CoNS|(?:skin|mouth|mixed|oral|normal) flora|likely (?:a )?skin"
    r"|scanty|commensals?|coloni[sz]\w+)\b"
)
"""Words around an organism that did not cause the illness."""
_THING = regex(
    r"(?i)^['\u2019]?s?[\s-]+(?:sounds?|movements?|habits?|motions?|casts?|splint|collar|brace|dressing|plaster"
    r"|bandage|strap|angiogra\w+)\b"
)
"""Words after a part of the body that speak only of its sound, habit, bandage or the like."""
_SOUND = regex(
    r"(?i)\b(?:normal|ordinary|good|trivial|tiny|simple|benign|unremarkable|healthy|intact|clear)"
    r"\s+(?:[\w-]+\s+)?$"
)
"""Words before a part of the body with which nothing is wrong."""
_NONE_SEEN = regex(
    r"(?i)\b(?:no|not|neither|never|nothing|none|negative|without|normal|denies|denied|excluded|clear|free of"
    r"|unremarkable)\b"
)
"""Words by which a process at a part of the body was not found."""


class Giveaways:
    """What gives one diagnosis away, made from its `names` and the other names that the tables have.

    ::

        giveaways(("appendicitis",)).masked("Appendectomy was done.", "[...]")  # '[...] was done.'
    """

    def __init__(self, names: Iterable[str]) -> None:
        said = tuple(name for name in names if key(name))
        added = names_in_tables(said)
        self._said = said[:_MOST_NAMES]
        self._names = tuple(dict.fromkeys((*said, *added)))
        terms = terms_of(said, added[len(dict.fromkeys(said)) :])
        every = [one for term, relation in terms for one in patterns_of(term, relation)]
        short = [term for term, relation in terms if relation == "abbreviation"]
        every += [Term("abbreviation", (pattern,)) for pattern in _abbreviations(self._names, short)]
        plain = _plain_names(self._names)
        every += [Term("abbreviation", (word_pattern(one, capitals=True),)) for one in _abbreviated(plain)]
        near = [Term("other name", (word_pattern(name),)) for name in plain]
        near += [Term("narrower name", (word_pattern(name),)) for name in _related_names(self._names)]
        every += [one for one in near if one not in every]
        words = {word for name in self._names for word in re.findall(r"[a-z]{6,}", name.casefold())}
        stems = sorted({match[1].removesuffix("ic") for word in words if (match := _STEM.match(word))})
        if stems:
            organs = "|".join(stems)
            every.append(Term("procedure", (re.compile(rf"(?i)\b(?:{organs})[a-z]{{0,4}}{_OPERATED}\b"),)))
        self._terms = [term for term in every if len(term.patterns) == 1]
        self._apart = [term for term in every if len(term.patterns) > 1]
        distinct = words - _general()
        long = {word for word in distinct if stem(word) in lexicon() or len(distinct) == 1}
        long |= {word.casefold() for name in self._names for word in _EPONYM.findall(name) if _stands_alone(word)}
        long |= exact_words(term for term, relation in terms if relation in _SPELLED)
        sites = "|".join(term for term, relation in terms if relation in ("site", "culture", "place"))
        self._site = any_of(cells(sites)) if sites else None
        self._misspelt = Misspellings.of(self._names, long)

    def hits(self, text: str, *, past: bool = False, examined: bool = False) -> tuple[Giveaway, ...]:
        """What gives the diagnosis away in `text`, in the order of the text, none overlapping another.

        `past` says that the text is a past history: a procedure or name in it gives nothing away. `examined` says that
        it is of the examination: a finding gives nothing away there, since the doctor is meant to find it.
        """
        hits = [*self._related(text, self._terms, past=past), *self._named(text, past=past)]
        hits += [Giveaway(start, end, text[start:end], "misspelling") for start, end in self._misspelt.spans(text)]
        hits.sort(key=lambda hit: (hit.start, -hit.end))
        hits += sorted(self._related(text, self._apart, past=past), key=lambda hit: hit.end - hit.start)
        return _not_overlapping(one for one in hits if not examined or one.relation != "finding")

    def masked(self, text: str, mark: str, *, past: bool = False, examined: bool = False) -> str:
        """`text` with `mark` in place of everything that gives the diagnosis away (`hits`)."""
        parts, done = [], 0
        for hit in self.hits(text, past=past, examined=examined):
            parts += [text[done : hit.start], mark]
            done = hit.end
        return "".join([*parts, text[done:]])

    def _named(self, text: str, *, past: bool) -> Iterator[Giveaway]:
        """Names that MONDO has for the disease and for its kinds."""
        for start, end in sentence_spans(text):
            said = text[start:end]
            found = [(one.start, one.end) for one in names_within(said)]
            found += [match.span() for match in _EPONYM.finditer(said) if _of_a_disease(match[0])]
            for first, last in found:
                name = said[first:last]
                if name not in class_words("no initials") and any(
                    kinship(own, name) in ("same", "wider") for own in self._said
                ):
                    span = (start + first, start + last)
                    if _tells(text, span, _OTHER_NAME, past=past):
                        yield Giveaway(*span, name, "other name")

    def _related(self, text: str, terms: Iterable[Term], *, past: bool) -> Iterator[Giveaway]:
        seen: Matches = {}
        for term in terms:
            for spans in term.spans(text, seen):
                if all(_tells(text, span, term, past=past) for span in spans) and not self._elsewhere(
                    text, term, spans
                ):
                    start, end = spans[0][0], spans[-1][1]
                    yield Giveaway(start, end, text[start:end], term.relation)

    def _elsewhere(self, text: str, term: Term, spans: Sequence[Span]) -> bool:
        """Whether an organism, named alone, grew in a specimen from a part of the body where the illness is not."""
        if term.relation != "organism" or len(spans) > 1:
            return False
        around = text[max(0, spans[0][0] - 60) : spans[0][1] + 60]
        return bool(_OTHER_SITE.search(around)) and not (self._site and self._site.search(around))


_OTHER_SITE = regex(
    r"(?i)\b(?:catheter|urine|MSU|CSU|nose|nostrils?|nasal swab|throat|stool|nails?|ear|mouth|groin|axilla|dressing)\b"
)


def _not_overlapping(hits: Iterable[Giveaway]) -> tuple[Giveaway, ...]:
    """Those of `hits` that overlap none before them, in the order of the text."""
    kept: list[Giveaway] = []
    for hit in hits:
        place = bisect_left(kept, hit.start, key=lambda one: one.start)
        before, after = kept[max(0, place - 1) : place], kept[place : place + 1]
        if all(one.end <= hit.start for one in before) and all(hit.end <= one.start for one in after):
            kept.insert(place, hit)
    return tuple(kept)


def _stands_alone(word: str) -> bool:
    """Whether an eponym stands for a disease: 'Crohn', but not 'Heart'."""
    plain = word.casefold() in class_words("qualifier") or stem(word.casefold()) in ALONE or DERIVED.search(word)
    return not plain and bool(diseases_named(word))


def _of_a_disease(word: str) -> bool:
    """Whether a word with a capital stands for a disease by itself, and is no word of medical English."""
    return stem(word.casefold()) not in lexicon() and bool(diseases_named(word))


_EPONYM = regex(r"\b[A-Z][a-z]{4,}\b")
_OTHER_NAME = Term("other name", ())


def _tells(text: str, span: tuple[int, int], term: Term, *, past: bool) -> bool:
    """Whether words of a text tell of the patient's present illness: not denied, normal, a relative's or long past."""
    (start, end), relation = span, term.relation
    said, before, after = text[start:end], text[max(0, start - 80) : start], text[end : end + 70]
    left_off = relation == "drug" and (_LEFT_OFF.search(before) or _RAN_OUT.search(before + said + after))
    denied = _BLOCKED.search(before) and not left_off
    if denied or _NORMAL.search(after) or (relation != "drug" and _NO_ILLNESS.search(after)):
        return False
    if relation == "organism" and (_NONE_GREW.search(said) or _NO_PATHOGEN.search(before[-40:] + said + after)):
        return False
    if relation == "finding" and _NONE_SEEN.search(said) and not term.denies:
        return False
    if relation in ("finding", "procedure") and (_THING.search(after) or _SOUND.search(before)):
        return False
    if _REMOTE.search(after) and relation != "lasting":
        return False
    if _RELATIVE.search(text, max(0, start - 160), start):
        return False
    if relation in ("drug", "treatment") and _OTHER_USE.search(after):
        return False
    old = past or _PAST.search(before) or _THEN.search(after)
    return not (relation in _OF_ITS_TIME and old and not _NOW.search(after))


_MOST_NAMES = 4
"""Number of names of a disease whose kinds are looked for; further names would only repeat these."""
_QUALIFIED = "(?:[AaCDEIiLPRSs]{0,2})"
"""Letters before an abbreviation that qualify it: acute, chronic, exacerbation of, infective, immune, pulmonary."""


def _abbreviations(names: Sequence[str], listed: Sequence[str]) -> Iterator[re.Pattern[str]]:
    """Patterns for initials of names, for names that are abbreviations, and for these and `listed` ones qualified."""
    short = {one for name in names for one in (_initials(name), name if name.isupper() else "") if one}
    short -= class_words("no initials")
    for one in sorted(short):
        yield word_pattern(one, capitals=one not in names)
    own = sorted(one for one in {*(short & set(names)), *listed} if re.fullmatch(r"[A-Z]{3,6}", one))
    if own:
        taken = "|".join(sorted(set(vocabulary().abbreviations) - set(names) - set(listed)))
        yield re.compile(rf"(?<![\w-])(?!(?:{taken})s?\b){_QUALIFIED}(?:{'|'.join(own)})s?(?!\w)")


def _abbreviated(plain: Sequence[str]) -> list[str]:
    """The abbreviations that the table has for plain names ('MI' for 'myocardial infarction'), without unclear ones."""
    forms = {key(name) for name in plain}
    unclear = class_words("no initials")
    return [short for short, name in vocabulary().abbreviations.items() if key(name) in forms and short not in unclear]


def _initials(name: str) -> str:
    """The initials of a name of two to five words; '' for others."""
    words = [word for word in re.findall(r"[A-Za-z]+", name) if word not in ("of", "the", "and", "with", "to")]
    return "".join(word[0] for word in words).upper() if 2 <= len(words) <= 5 else ""


_OF_ITS_TIME = ("procedure", "other name", "narrower name")
"""Relations that say nothing about this illness if they lie in the past."""
_SPELLED = ("drug", "organism", "procedure", "lasting")
"""Relations whose terms of one word are looked for in misspelt forms too."""


def _plain_names(names: Sequence[str]) -> tuple[str, ...]:
    """The names of a disease, and each without the words that only qualify it, if a telling word is left."""
    plain: dict[str, None] = dict.fromkeys(name for name in names if not name.isupper())
    for name in names:
        words = name.split()
        left = [word for word in words if word.casefold().strip(",") not in class_words("qualifier")]
        bare = " ".join(left)
        alone = len(bare) > 5 and key(bare) not in _general() and not DERIVED.search(bare)
        if len(left) < len(words) and (alone or (bare.isupper() and len(bare) > 2)):
            plain[bare] = None
    return tuple(plain)


def _related_names(names: Sequence[str]) -> tuple[str, ...]:
    """The names and abbreviations of the conditions in the project's table that are kinds of a disease."""
    own = {key(name) for name in names}
    mine = [row for row in table_rows("conditions.csv") if own & {key(one) for one in _row_names(row)}]
    titles = {key(row["name"]) for row in mine}
    rows = table_rows("conditions.csv")
    near = [row for row in rows if titles & {key(one) for one in cells(row["broader"])}]
    own |= {key(one) for one in class_words("no initials")}
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
    """(field, what gives the diagnosis away there) for the open texts of a case: each wording once for a field.

    The texts are complaint, opening, history (but not that of the family) and examination.
    """
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
                continue  # `loaders.census` reports the diagnosis by its name
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
