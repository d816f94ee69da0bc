"""Tells whether an article states a diagnosis as that of its patient: by its name, a synonym or initials."""

import itertools
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from wardround.scenarios.diseases.disease import synonyms_of
from wardround.scenarios.diseases.mondo import diseases_named, mondo, principal_part
from wardround.scenarios.diseases.same_disease import same_disease
from wardround.scenarios.loaders.values import diagnosis_names
from wardround.scenarios.reports.article import article_sentences
from wardround.scenarios.reports.denials import stated_items
from wardround.scenarios.reports.finding_evidence import spelled_out
from wardround.scenarios.reports.statements import concepts_text, longhand, site, word_concept
from wardround.scenarios.terms.wording import vocabulary

_CONSIDERED = re.compile(
    r"(?i)\b(?:differential|considered|exclud\w+|ruled? out|ruling out|unlikely|less likely|suspected|suspicion"
    r"|initially"
    r"|versus|vs|against|rather than|instead of|presumed|presumptive|distinguish\w*|differentiat\w*|thought"
    r"|possibility|weighed|entertained|discussed|alternatives?|proposed|rejected|in question)\b"
    r"|^[^,;:]+(?:, [^,;:]+)+,? (?:and|or) [^,;:]+ (?:were|was|had|have|are|came)\b"
    r"(?!.*\b(?:diagnos|confirm|establish))"
)
"""Words of a clause that names a diagnosis only as a possibility, or as one of a list."""
_MISTAKEN = re.compile(
    r"(?i)\b(?:mistaken (?:for|as)|mimic\w*|masquerad\w+(?: as)?|simulating|misdiagnosed as|treated as|treated for"
    r"|resembling"
    r"|imitating|confused with|labell?ed as|disguised as|pretending to be|posing as)\b[^.;:]*"
)
"""A diagnosis that the patient was thought to have, but had not."""
_WORKING = re.compile(
    r"(?i)\bworking diagnosis\b|\bsuspected (?:at )?first\b|\bfirst suspected\b|\binitial(?:ly)? (?:diagnos|suspect)"
)
"""Words of a sentence about what was thought at first."""
_STATES = re.compile(
    r"(?i)\bdiagnos|\bconfirm|\bconsistent with|\bcompatible with|\breveal|\bidentified|\bfinal\b|\bestablish"
    r"|\bprov(?:ed|en)\b"
    r"|\bwe (?:report|present|describe)|\bcase of|\bshowed\b|\bdemonstrated\b|\bdue to\b|\bcaused by\b|\bwith a\b"
)
_FAMILY = re.compile(r"(?i)\b(?:family|mother|father|brother|sister|uncle|aunt|cousin|grand\w+)\b")
_PAST = re.compile(
    r"(?i)\b(?:past|previous\w*|medical history|history of|known|had had|years? (?:ago|earlier|before))\b"
)
_JOINED = re.compile(
    r"(?i)\s+(?:and|with|w/|complicat\w+(?: by)?|due to|secondary to|caused by|from|after|following"
    r"|assoc\w*\.?(?: with| w/)?|in|of|type|stage|grade|by|on|triggered by|leading to|causing|as)\s+|\s*[,;(/]\s*"
)
"""Where the name of a disease ends and its site, cause or the like begins."""
_STATED = re.compile(
    r"(?i)\bdiagnos(?:is|ed)\b(?: (?:was|is|of|with|as|made|having|therefore|thus|then|an?|established|to be))* "
    r"(?P<name>.+?)(?:[.;]|$)"
)


_WAS_DIAGNOSED = re.compile(
    r"(?i)(?:^|[;:] )(?:hence |thus |therefore )?(?:the diagnosis of |an? )?"
    r"(?P<name>(?!(?:he|she|it|the patient) )"
    r"(?:(?! (?:was|were|had|has|is|showed|and (?:the|his|her)) )[^;:.]){4,200}?)"
    r" (?:was|were) (?:\w+ly )?diagnosed\b"
)


_INTRODUCED = re.compile(
    r"(?i)^(?:the patient|s?he|it|this) (?:(?:was|were|is|has been|had been) )?(?:diagnosed (?:with|as having)|had|has)"
    r" (?:an? )?"
    r"|^(?:the |a )?(?:final |definitive |established |working )?diagnosis (?:was|is|of|made was)(?: an?)? "
)
"""Words at the beginning of a sentence that lead to the name of a diagnosis."""
_DIAGNOSED = re.compile(r"(?i)\bdiagnos(?:is|ed)\b")


def named_in_article(answer: str, title: str, text: str, cited: Sequence[str] = ()) -> bool:
    """Whether the article names a diagnosis as that of its patient.

    The words of the disease's name, of one of its synonyms or its initials must stand in the title or in the sentences
    that are `cited` for it. If none are cited, the sentences count that speak of a diagnosis or state something. What
    follows the name ('due to', 'of the') need not be stated.
    """
    shown = bool(cited)
    cited = [one for one in cited if not _WORKING.search(one)] or cited
    cited = cited or [
        one for one, words in _clauses("", text) if words and _DIAGNOSED.search(one) and not _PAST.search(one)
    ]
    title = _MISTAKEN.sub(" ", title)
    answer = longhand(spelled_out(_INTRODUCED.sub("", answer), (*cited, title)))
    stated = [hit["name"] for one in cited for how in (_STATED, _WAS_DIAGNOSED) for hit in how.finditer(one)]
    if shown and _replaced(answer, title, cited):
        return False
    read = [same_disease(name, answer) for name in (*stated, title)]
    if any(one.same for one in read):
        return True
    if shown and any(one.opposite for one in read[:-1]):
        return False
    known = "\n".join((title, *cited))
    affirmed = frozenset(_concepts(known))
    names = _names(answer)
    if any(name <= affirmed for name in names) or (not shown and _stated_somewhere(names, title, text)):
        return True
    said, missing = _looked_up(_JOINED.split(answer)[0], known, stated)
    missing = [word for word in missing if word in text or not _initials(word, known)]
    if not said and missing:
        return False
    new = _GENERAL | frozenset(_concepts(text))
    return not missing or (
        len(missing) <= _UNSAID * (said + len(missing)) and (not shown or new.isdisjoint(_concepts(" ".join(missing))))
    )


def _replaced(answer: str, title: str, cited: Sequence[str]) -> bool:
    """Whether an answer replaces a word of the cited sentences by another one of its class, or names another cause.

    The two words stand beside a word that both have. They differ only by their beginning ('intralobar', 'extralobar'),
    or both are tumours or parts of the body.
    """
    known = "\n".join((title, *cited))
    affirmed = frozenset(_concepts(known))
    begun = {name[:_SHORT] for name in _concepts(known) if len(name) > _SHORT} | {
        word[:_SHORT] for word in re.findall(r"[a-z]{5,}", known.lower())
    }
    mine = _pairs(re.split(r" (?:with|and|w/) ", answer)[0])
    own = frozenset(one for both in mine for one in both)
    theirs = {both for sentence in cited for both in _pairs(sentence)}
    for at, both in itertools.product((0, 1), mine):
        word = both[at]
        others = {one[at] for one in theirs if one[1 - at] == both[1 - at]} - own
        if word not in affirmed and word[:_SHORT] not in begun and any(_of_one_class(word, other) for other in others):
            return True
    cause = _CAUSED.search(answer)
    if cause is None or not any(_CAUSED.search(one) for one in cited):
        return False
    said, missing = _looked_up(
        " ".join(word for word in re.findall(r"[\w-]+", cause["cause"]) if word not in _OF_ANY), known, ()
    )
    return bool(missing) and not said


_CAUSED = re.compile(r"(?i)\b(?:(?:due|secondary|owing) to|caused by|because of)\s+(?P<cause>[^,;(]+)")
_OF_ANY = frozenset(("virus", "infection", "tumor", "tumour", "disease", "type", "syndrome", "left", "right"))


def _of_one_class(one: str, other: str) -> bool:
    """Whether two words exclude each other: they differ only by their beginning, or both are tumours or sites."""
    if one.endswith(_TUMOURS) and other.endswith(_TUMOURS):
        return True
    alike = len(one) > _STEM and len(other) > _STEM and one[-_STEM:] == other[-_STEM:]
    inside = vocabulary().within
    return alike or (
        site(one) and site(other) and other not in inside.get(one, ()) and one not in inside.get(other, ())
    )


_TUMOURS = ("oma", "cancer")


@lru_cache(maxsize=4096)
def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    """The pairs of concepts that stand beside each other in a phrase of a text."""
    pairs: list[tuple[str, str]] = []
    for phrase in re.split(r"[,;:.()]\s*|\b(?:and|or|with|due to|caused by|secondary to|of|from|in|by|to)\b", text):
        names = [one for one in _concepts(phrase) if one not in _LITTLE and len(one) > 1]
        pairs += itertools.pairwise(names)
    return tuple(pairs)


_UNSAID = 0.34
"""Largest share of a name's words that may be missing, if the article uses them for nothing else."""


def _looked_up(head: str, known: str, stated: Sequence[str]) -> tuple[int, list[str]]:
    """(how many words of a disease's name stand in a text, the words that do not)."""
    affirmed = frozenset(_concepts(known))
    stems = {name[:_STEM] for name in affirmed}
    said, missing = 0, list[str]()
    for word in re.findall(r"[A-Za-z][A-Za-z0-9]*", head):
        concepts = frozenset(_concepts(word)) - _LITTLE - _QUALIFIERS
        if not concepts or len(word) == 1:
            continue
        plain = all(name in affirmed or (len(name) >= _SHORT and name[:_STEM] in stems) for name in concepts)
        begun = len(word) >= _SHORT and word.islower() and any(name.startswith(word) for name in affirmed)
        if plain or begun or (_ACRONYM.fullmatch(word) and _abbreviates(word, known, stated)):
            said += 1
        else:
            missing.append(word)
    return said, missing


_SHORT = 4
_STEM = 6
"""Number of letters at the beginning that two forms of a word share: 'medulla' and 'medullary'."""
_ACRONYM = re.compile(r"(?=.{2,8}$)\w*[A-Z]\w*[A-Z]\w*")
_LETTERS = 0.75
"""Least share of an acronym's letters that must begin words of the name for which it stands."""


def _initials(word: str, known: str) -> bool:
    """Whether a word is an abbreviation that no table has, and half of its letters begin words of the text."""
    letters = [letter.lower() for letter in word if letter.isalpha()]
    if not _ACRONYM.fullmatch(word) or word in vocabulary().short or diseases_named(word):
        return False
    initials = [one[0] for one in re.findall(r"[a-z]+", known.lower())]
    return 2 * sum(min(letters.count(one), initials.count(one)) for one in set(letters)) >= len(letters)


def _abbreviates(acronym: str, known: str, stated: Sequence[str]) -> bool:
    """Whether consecutive words spell an acronym, or a stated diagnosis has most of its letters as initials."""
    letters = [letter.lower() for letter in acronym if letter.isalpha()]
    for name in stated:
        initials = [word[0].lower() for word in re.findall(r"[A-Za-z]+", name)]
        if sum(min(letters.count(one), initials.count(one)) for one in set(letters)) >= _LETTERS * len(letters):
            return True
    words = re.findall(r"[a-z]+", known.lower())
    return any(_spells(letters, words[at : at + len(letters) + _SKIPPED]) for at in range(len(words)))


_SKIPPED = 2
"""Number of words that an acronym may leave out."""


def _spells(letters: Sequence[str], words: Sequence[str]) -> bool:
    """Whether words spell an acronym: its letters begin them, and some may stand within a word or be all of it."""
    reached = {(0, 0)}
    for at, word in enumerate(words):
        begun = set[tuple[int, int]]()
        for start, own in reached:
            place, end = start, 0
            while place < len(letters) and (place > start or word[0] == letters[place]):
                end = word.find(letters[place], end) + 1
                if not end:
                    break
                place += 1
                begun.add((place, own + (place - start if end == place - start == len(word) else 1)))
        reached = begun if not at else reached | begun
    least = len(letters) if len(letters) <= _SHORTEST else len(letters) / 2
    return any(place == len(letters) and own >= least for place, own in reached)


_SHORTEST = 2


def _names(answer: str) -> list[frozenset[str]]:
    """The concepts of a diagnosis and of its other names, without qualifiers if other concepts are left."""
    diagnosis, synonyms = diagnosis_names(_JOINED.split(answer)[0])
    inner = re.findall(r"\(([^()]{4,})\)", answer)
    known = (name for one in (diagnosis, principal_part(diagnosis)) for name in synonyms_of(one))
    names = [diagnosis, *inner, re.sub(r"\([^()]*\)", " ", answer), *synonyms, *known]
    wanted = [frozenset(_concepts(name)) - _LITTLE for name in names]
    wanted += [frozenset(form.split()) for form in _forms(diagnosis)]
    return [name - _QUALIFIERS or name for name in dict.fromkeys(wanted) if name]


def _stated_somewhere(names: Sequence[frozenset[str]], title: str, text: str) -> bool:
    """Whether a sentence that states something has one of the names, or two other sentences have."""
    weak = 0
    for sentence, words in _clauses(title, text):
        if any(name <= words for name in names):
            if _STATES.search(sentence) and not _PAST.search(sentence):
                return True
            weak += 1
    return weak > 1


_POSSESSIVE = re.compile(r"(?<=\w)['\u2019]s?\b(?!\w)")


@lru_cache(maxsize=4096)
def _concepts(text: str) -> tuple[str, ...]:
    """The concepts of the words and digits of a text."""
    return tuple(
        word_concept(token)
        for token in re.findall(r"[a-z0-9_]+", _POSSESSIVE.sub("", concepts_text(text.replace("*", " "))).lower())
    )


_LITTLE_TEXT = """a an the of and or in on at to for from by with without as due secondary caused associated disease
syndrome disorder case patient confirmed leading involving involvement induced related mediated
triggered complicated complicating resulting presenting diagnosed definite antibody
antibodies autoimmune anti"""
_LITTLE = frozenset(root for word in _LITTLE_TEXT.split() for root in _concepts(word))
_QUALIFIERS_TEXT = """chronic puerperal infant infantile adult pediatric calcific severe mild recurrent extensive left
right bilateral typical classic extra stage grade spontaneous acquired idiopathic advanced
multi organ multiorgan systemic primary secondary first attack new onset newly"""
_QUALIFIERS = frozenset(root for word in _QUALIFIERS_TEXT.split() for root in _concepts(word))
"""Words that a name may lack and still be that of the disease."""
_GENERAL_TEXT = """infection inflammation cancer tumor carcinoma anemia pain failure fever poisoning
lesion mass thrombosis infarction fracture rupture abscess perforation obstruction ulcer hemorrhage"""
_GENERAL = frozenset(root for word in _GENERAL_TEXT.split() for root in _concepts(word))


@lru_cache(maxsize=256)
def _forms(name: str) -> tuple[str, ...]:
    """The forms of all names of the disease in MONDO."""
    numbers = frozenset(diseases_named(name))
    if not numbers or len(numbers) > 2:
        return ()
    return tuple(form for form, places in mondo().named.items() if numbers & frozenset(places) and len(form) > 4)


@lru_cache(maxsize=64)
def _clauses(title: str, text: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """(sentence, the concepts that it affirms of the patient) for the title and each sentence of the text."""
    return tuple(_affirmed(title, text))


def _affirmed(title: str, text: str) -> Iterator[tuple[str, frozenset[str]]]:
    for sentence in (title, *article_sentences(text)):
        kept = " ".join(
            clause for clause in re.split(r"[;:]\s", _MISTAKEN.sub(" ", sentence)) if not _CONSIDERED.search(clause)
        )
        if _FAMILY.search(kept) and sentence != title:
            kept = ""
        denied = frozenset[str]().union(*(one.words for one in stated_items(kept) if one.affirmed is False))
        yield sentence, frozenset(_concepts(kept)) - denied


def nearest_sentence(answer: str, title: str, text: str) -> str:
    """The sentence of the article that has most words of a diagnosis; '' if none has any."""
    name = frozenset(_concepts(diagnosis_names(answer)[0])) - _LITTLE
    best = max((title, *article_sentences(text)), key=lambda one: len(name & frozenset(_concepts(one))))
    return best if name & frozenset(_concepts(best)) else ""
