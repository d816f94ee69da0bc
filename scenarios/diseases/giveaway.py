"""Finds the words of a text that give a diagnosis away without its name: its treatment, procedure, organism or drug.

Relations of `giveaways.csv` that are no plain words: `organ` (what is operated on), `culture` (a specimen in which an
organism grows), `lasting` (a procedure that tells of a disease that stays, so that long ago tells as much as now).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from rapidfuzz.distance import DamerauLevenshtein

from wardround.scenarios.case import Case
from wardround.scenarios.diseases.disease import names_in_tables
from wardround.scenarios.terms.wording import cells, key, lexicon, roots, stem, table_rows


@dataclass(frozen=True, slots=True)
class Giveaway:
    """`text[start:end]` gives the diagnosis away by `relation`: procedure, treatment, drug, misspelling and so on."""

    start: int
    end: int
    words: str
    relation: str


_OPERATED = r"(?:ectom(?:y|ies|ized)|otom(?:y|ies)|ostom(?:y|ies)|plast(?:y|ies)|pexy|centesis|rrhaphy|desis|tripsy)"
_STEM = re.compile(r"([a-z]{5,}?)(?:o?lithiasis|itis|itides|omas?|osis|oses|ia|us)$")
_BLOCKED = re.compile(
    r"(?i)\b(?:no|not|never|without|denies|denied|refused|declined|negative for|ruled out|r/o|allerg(?:y|ic) to"
    r"|intoleran(?:t|ce) (?:of|to)|family history of|fhx of|mother had|father had|brother had|sister had)\s+"
    r"(?:[\w/,-]+\s+){0,4}$"
    r"|\b(?:vaccinated (?:for|against)|prophylaxis (?:for|against|with)|prophylactic|screened for)\s+"
    r"(?:[\w/,-]+\s+){0,2}$"
)
_RELATIVE = re.compile(
    r"(?i)\b(?:mother|father|parents?|brother|sister|uncle|aunt|cousin|grandmother|grandfather|grandparents?|wife|husband"
    r"|partner|son|daughter|nephew|niece|room-?mate|neighbou?r|friend|co-?worker|colleague|boss|dog|cat)"
    r"(?:(?:'s|\u2019s)\s+|\s+(?:\w+\s+){0,2}?(?:has|had|have|takes|took|is|was|underwent|received|receives|needed|needs"
    r"|uses|used|died|carries|wears|got|gets|also)\b)(?![^.;\n]{0,80}\b(?:he|she|him|patient)\b)[^.;\n]{0,80}$"
)
"""What somebody else has, not the patient: 'her mother takes', 'his wife's'."""
_PAST = re.compile(
    r"(?i)(?:\b(?:history of|h/o|hx of|prior|previous|remote|past|status post|s/p|had (?:an? )?)\s+(?:[\w-]+\s+){0,3}$"
    r"|\b(?:19|20)\d\d\b[^.\n]{0,20}$)"
)
_THEN = re.compile(
    r"(?i)^[^.;\n]{0,40}(?:\b(?:19|20)\d\d\b|\b(?:years?|months?|decades?) (?:ago|before|earlier)\b"
    r"|\bas an? (?:child|boy|girl|teen\w*|infant|baby|young\b[^.;\n]{0,10}|student)\b|\blong ago\b"
    r"|\bin (?:childhood|youth|the past|school|college|high school|the army)\b"
    r"|\bin (?:his|her|their) (?:\d0s|teens|twenties|thirties)\b)"
)
_REMOTE = re.compile(
    r"(?i)^[^.;\n]{0,40}\b(?:(?:years|decades|many years|a decade) (?:ago|before|earlier)|as an? (?:child|boy|girl"
    r"|teen\w*|infant|baby|student)|long ago|in (?:childhood|youth|school|college|high school|the army))\b"
)
"""What was so long ago that it tells nothing of this illness."""
_NORMAL = re.compile(
    r"(?i)^\s*(?:(?!\b(?:and|but|with|showed|of)\b)[\w-]+\s+){0,3}?(?:(?:was|were|is|are|came back|returned|remained"
    r"|tested|has been|:)\s+)*(?:all\s+)?(?:normal|negative|unremarkable|within normal|clear|clean|absent"
    r"|(?:under|below|less than|<) ?[\d.]+\b(?! ?%)"
    r"|ruled out|excluded"
    r"|[\d.,/%]+ (?:[a-z]+/[a-z]+ )?(?:and |\()?(?:normal|as before|unchanged|at (?:(?:his|her|the) )?baseline|stable)"
    r"|not (?:given|done|needed|required|started|performed|seen|indicated|used|found|present|detected|necessary"
    r"|elevated|raised)|never (?:given|done|needed|started|performed)|considered but|deferred|declined)\b"
)
_NOW = re.compile(r"(?i)^[^.;\n]{0,30}\b(?:today|yesterday|this (?:admission|morning)|on admission|pod ?#?\d)\b")
_OTHER_USE = re.compile(
    r"(?i)^\s+(?:cream|ointment|lotion|gel|shampoo|eye drops|ear drops)\b"
    r"|^[^.;\n]{0,30}\bfor an? [^.;\n]{0,30}\blast (?:spring|summer|fall|autumn|winter|year|month)\b"
)
"""A drug on the skin, or taken for another trouble of some time ago."""
_DERIVED = re.compile(r"(?:ly|ive|al|ous|ity|ation|ed|ing)$")
"""Ends of words that derive a word from a name instead of misspelling it: 'prematurely' of 'prematurity'."""
_CARRIED_OUT = (
    r"(?:taken out|took out|cut out|swept|remov\w+|resect\w*|excis\w+|drain\w*|stent\w*|repair\w*|amputat\w+|debrid\w+"
    r"|wash(?:ed )?out|washed out|irrigat\w+|ablat\w+|clip(?:ped|s)|coil(?:ed|ing|s)|band(?:ed|ing|s)|transplant\w*"
    r"|replac\w+|bypass\w*|dilated with|ballooned|angioplast\w+|pinn(?:ed|ing)|plated|evacuat\w+|re-?expanded"
    r"|cauteri[sz]ed|burn(?:ed|t)|injected|tapped|opened up|decompress\w*|com(?:e|ing) out|came out|freed|unblocked"
    r"|ligated|oversewn|patched|stapled|untwisted|fused|explored)"
)
"""What is done to an organ in an operation: its name beside one of these gives its disease away."""
_DISEASED = (
    r"(?:inflamed|infected|hot|angry|ruptured|burst|perforated|obstructed|blocked|spurting|bleeding|oozing|leaking|torn"
    r"|clotted|septic|purulent|necrotic|gangrenous|stuck|twisted|strangulated|occluded|thrombosed)"
)
"""What an organ is called whose disease this is."""
_ORGANISM = (
    r"(?:staph\w*|strep\w*|MRSA|MSSA|VRE|ESBL|E\.? ?coli|escherichia|klebsiella|pseudomonas|enterococc\w+|proteus"
    r"|enterobacter|serratia|citrobacter|acinetobacter|h(?:a?e)?mophilus|neisseria|meningococc\w+|gonococc\w+|listeria"
    r"|pneumococc\w+|candida|cryptococc\w+|aspergillus|salmonella|shigella|campylobacter|bacteroides|clostridi\w+"
    r"|anaerobes?|gram[- ](?:positive|negative)|diplococc\w+|cocci|bacilli|bacteri(?:a|um)|organisms?|yeasts?|viridans)"
)
_NONE_GREW = re.compile(r"(?i)\b(?:no|not|never|nothing|none|negative|sterile|flora|contamina\w+|without)\b")
"""Words of a culture in which nothing of note grew."""
_GAP = r"[\s-]+\.\.\.[\s-]+"
_WORDS_BETWEEN = r"(?:[ \n]+[\w'/%-]+){0,6}?[ \n]+"
_LETTERS = re.compile(r"[A-Za-z]+")
_WORD = re.compile(r"[A-Za-z][A-Za-z'\u2019]{4,}")


@cache
def _relations() -> tuple[tuple[tuple[str, ...], str, tuple[str, ...]], ...]:
    """(roots of a disease, relation, terms) of each row of the table."""
    return tuple((roots(row["disease"]), row["relation"], cells(row["terms"])) for row in table_rows("giveaways.csv"))


class Giveaways:
    """The words that give one diagnosis away; `names` are all its names."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = tuple(dict.fromkeys(name for name in names if key(name)))
        said = [roots(name) for name in self._names]
        terms = dict.fromkeys(
            (term, relation)
            for disease, relation, listed in _relations()
            if any(_within(disease, name) for name in said)
            for term in listed
        )
        self._terms = [
            (_PATTERNS.get(relation, _term)(term), _SHOWN_AS.get(relation, relation)) for term, relation in terms
        ]
        short = {one for name in self._names for one in (_initials(name), name if name.isupper() else "") if one}
        self._terms += [(_term(one), "abbreviation") for one in sorted(short - _NO_INITIALS)]
        near = [(_term(name), "narrower name") for name in _related_names(self._names)]
        self._terms += [one for one in near if one not in self._terms]
        words = {word for name in self._names for word in re.findall(r"[a-z]{6,}", name.casefold())}
        stems = sorted({match[1].removesuffix("ic") for word in words if (match := _STEM.match(word))})
        if stems:
            organs = "|".join(stems)
            self._terms.append((re.compile(rf"(?i)\b(?:{organs})[a-z]{{0,4}}{_OPERATED}\b"), "procedure"))
        distinct = words - _general()
        parts = (tuple(re.findall(r"[a-z]+", name.casefold())) for name in self._names)
        self._phrases = tuple(dict.fromkeys(part for part in parts if 2 <= len(part) <= 5 and sum(map(len, part)) > 9))
        self._long = tuple(sorted(word for word in distinct if stem(word) in lexicon() or len(distinct) == 1))

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
                if _BLOCKED.search(before) or _NORMAL.search(after):
                    continue
                if relation == "organism" and _NONE_GREW.search(match[0]):
                    continue
                if _REMOTE.search(after) and relation != "lasting":
                    continue
                if _RELATIVE.search(text, max(0, match.start() - 160), match.start()):
                    continue
                if relation in ("drug", "treatment") and _OTHER_USE.search(after):
                    continue
                old = past or _PAST.search(before) or _THEN.search(after)
                if relation == "procedure" and old and not _NOW.search(after):
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
                if close and stem(word) not in lexicon():
                    yield Giveaway(*match.span(), match[0], "misspelling")
                    break


def _ends_otherwise(word: str, name: str) -> bool:
    """Whether a word is a name, or the name with another end: 'malarial' and 'embolisms', but not 'malariia'."""
    return word.startswith(name) or (
        word.startswith(name[:-1]) and word[len(name) - 1 :] not in (name[-2:], name[-1] * 2)
    )


def _misspelt_words(word: str, name: str) -> bool:
    most = 0 if len(name) < 5 else 1 if len(name) < 9 else 2
    return DamerauLevenshtein.distance(word, name, score_cutoff=most) <= most


_NO_INITIALS_TEXT = (
    """US OR IV ER ED PO ID PT GI CC HE AS IS IN NO AN CT MR RA UA HR BP RR IM SC PR NG ICU CBC WBC MS"""
)
_NO_INITIALS = frozenset(_NO_INITIALS_TEXT.split())
"""Initials that mean something else in most notes."""


def _initials(name: str) -> str:
    """The initials of a name of two to five words; '' for others."""
    words = [word for word in re.findall(r"[A-Za-z]+", name) if word not in ("of", "the", "and", "with", "to")]
    return "".join(word[0] for word in words).upper() if 2 <= len(words) <= 5 else ""


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
    seen: dict[tuple[str, str], tuple[str, Giveaway]] = {}
    for field, text, past in texts:
        for hit in known.hits(text, past=past, examined=field.startswith("examination")):
            seen.setdefault((field, hit.words.casefold()), (field, hit))
    return tuple(seen.values())


def _within(part: Sequence[str], whole: Sequence[str]) -> bool:
    return any(tuple(whole[at : at + len(part)]) == tuple(part) for at in range(len(whole) - len(part) + 1))


def _term(term: str) -> re.Pattern[str]:
    """A pattern for a term; one of capitals, an abbreviation, matches in capitals only.

    Three dots stand for up to six words of one sentence: 'stone ... ureter'.
    """
    pattern = r"[\s-]+".join(re.escape(word) for word in re.split(r"[\s-]+", term)).replace(_GAP, _WORDS_BETWEEN)
    pattern = re.sub(r"(?<=\])\+(?:drip|gtt|infusion)$", "+(?:drip|gtt|infusion)", pattern)
    if re.fullmatch(r"[A-Z]{2,6}", term):
        pattern = r"\.?".join(term)  # 'D.K.A.'
    flags = re.NOFLAG if term.isupper() and len(term) <= 8 else re.IGNORECASE
    return re.compile(rf"(?<![\w-]){pattern}(?:e?s|'s)?(?!\w)", flags)


def _operated(organ: str) -> re.Pattern[str]:
    """A pattern for an operation on an organ, whichever of the two is named first."""
    organ = r"[\s-]+".join(map(re.escape, organ.split())) if not organ.isupper() else f"(?-i:{organ})"
    between = r"(?:[ \n]+(?!(?:and|or|but)\b)[\w'/%-]+){0,4}?[ \n]+"
    done = rf"(?:{_CARRIED_OUT}|{_DISEASED})"
    return re.compile(rf"(?i)\b{organ}s?{between}{_CARRIED_OUT}\b|\b{done}{between}{organ}s?\b")


def _grown(specimen: str) -> re.Pattern[str]:
    """A pattern for an organism that a specimen held, whichever of the two is named first."""
    specimen = r"[\s-]+".join(map(re.escape, specimen.split())) if not specimen.isupper() else f"(?-i:{specimen})"
    between = r"[^.;\n]{0,70}?"
    return re.compile(rf"(?i)\b{_ORGANISM}\b{between}\b{specimen}\b|\b{specimen}\b{between}\b{_ORGANISM}\b")


_PATTERNS = {"organ": _operated, "culture": _grown}
"""The relations of the table whose terms are no words of their own: an organ, and a specimen."""
_SHOWN_AS = {"organ": "procedure", "culture": "organism"}


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
    return Giveaways(names_in_tables(names))
