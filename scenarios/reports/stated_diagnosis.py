"""Whether an article states a diagnosis as its patient's, by name or by synonym."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from wardround.scenarios.diseases.disease import synonyms_of
from wardround.scenarios.diseases.mondo import diseases_named, mondo, principal_part
from wardround.scenarios.diseases.relations import in_tables
from wardround.scenarios.diseases.same_disease import same_disease
from wardround.scenarios.loaders.values import diagnosis_names
from wardround.scenarios.reports.article import article_sentences
from wardround.scenarios.reports.finding_evidence import spelled_out
from wardround.scenarios.reports.statements import concepts_text, longhand, sentence_statements, word_concept

_CONSIDERED = re.compile(
    r"(?i)\b(?:differential|considered|exclud\w+|ruled? out|ruling out|unlikely|less likely|suspected|suspicion"
    r"|initially"
    r"|versus|vs|against|rather than|instead of|presumed|presumptive|distinguish\w*|differentiat\w*|thought"
    r"|possibility|weighed|entertained|discussed|alternatives?|proposed|rejected|in question)\b"
    r"|^[^,;:]+(?:, [^,;:]+)+,? (?:and|or) [^,;:]+ (?:were|was|had|have|are|came)\b"
    r"(?!.*\b(?:diagnos|confirm|establish))"
)
"""Clauses that name a diagnosis as a possibility, by their words or as one of a list."""
_MISTAKEN = re.compile(
    r"(?i)\b(?:mistaken (?:for|as)|mimic\w*|masquerad\w+(?: as)?|simulating|misdiagnosed as|treated as|treated for"
    r"|resembling"
    r"|imitating|confused with|labell?ed as|disguised as|pretending to be|posing as)\b[^.;:]*"
)
"""A diagnosis that the patient was said to have and had not."""
_STATES = re.compile(
    r"(?i)\bdiagnos|\bconfirm|\bconsistent with|\bcompatible with|\breveal|\bidentified|\bfinal\b|\bestablish"
    r"|\bprov(?:ed|en)\b"
    r"|\bwe (?:report|present|describe)|\bcase of|\bshowed\b|\bdemonstrated\b|\bdue to\b|\bcaused by\b|\bwith a\b"
)
_FAMILY = re.compile(r"(?i)\b(?:family|mother|father|brother|sister|uncle|aunt|cousin|grand\w+)\b")
_PAST = re.compile(
    r"(?i)\b(?:past|previous\w*|medical history|history of|known|had had|years? (?:ago|earlier|before))\b"
)
_TYPED = re.compile(r"(?i)\b(?:type|stage|grade|class|group)[ -]?(\d+|[ivx]+)[a-c]?\b")


_JOINED = re.compile(
    r"(?i)\s+(?:and|with|w/|complicat\w+(?: by)?|due to|secondary to|caused by|from|after|following"
    r"|assoc\w*\.?(?: with| w/)?|in|of|type|stage|grade|by|on|triggered by|leading to|causing|as)\s+|\s*[,;(/]\s*"
)
"""Where the name of a disease ends and what belongs to it follows."""
_CAUSED = re.compile(r"(?i)\b(?:due to|caused by|secondary to)\b")
_ACRONYM = re.compile(r"(?:[A-Z]\w{0,2} )?[A-Z][A-Za-z]?[A-Z][A-Za-z]{0,6}")


def named_in_article(answer: str, title: str, text: str, cited: Sequence[str] = ()) -> bool:
    """Whether the article names a diagnosis, by itself, by a synonym or by its initials, and where it states what the
    patient has. What follows the name of the disease ('due to', 'of the') need not be stated.

    With sentences that are `cited` for it, one that they state in part counts, and one that is only mentioned elsewhere
    does not.
    """
    answer = spelled_out(longhand(answer), tuple(cited))
    hits = (hit for one in cited for how in (_STATED, _WAS_DIAGNOSED) for hit in how.finditer(one))
    stated = [hit["name"] for hit in hits]
    read = [same_disease(name, answer) for name in stated]
    if any(one.same for one in read):
        return True
    if read and all(one.contrary for one in read) and _has_another_word(answer, title, cited):
        return False
    if any(_abbreviates(answer, name) for name in stated):
        return True
    if stated and not any(_names_alike(answer, name) for name in stated):
        return False
    if cited and _shares(answer, cited) and not _only_considered(answer, title, text):
        return True
    if cited:
        return _named_here(answer, title, "\n".join(cited), 1) or _named_here(answer, title, text, None)
    return _named_here(answer, title, text, 2)


def _has_another_word(answer: str, title: str, cited: Sequence[str]) -> bool:
    """Whether the name of the disease has a word that neither the title nor the cited sentences have."""
    known = frozenset(_concepts(" ".join((title, *cited))))
    stems = {name[:_STEM] for name in known}
    head = re.sub(r"\b[A-Z]{3,5}\b", lambda hit: hit[0] if in_tables(hit[0]) else " ", _JOINED.split(answer)[0])
    words = _wanted(head) - _QUALIFIERS
    return any(len(name) > 1 and name not in known and name[:_STEM] not in stems for name in words)


_LETTERS = 0.6
"""The share of an acronym's letters that begin words of the name that it stands for."""


def _abbreviates(answer: str, name: str) -> bool:
    """Whether an acronym that the tables do not know has the initials of a stated name, in whichever order."""
    head = _JOINED.split(answer)[0].strip(" .")
    if not re.fullmatch(r"[A-Z][A-Za-z]{0,5}[A-Z][A-Za-z-]{0,6}", head) or in_tables(head):
        return False
    initials = [word[0].lower() for word in re.findall(r"[A-Za-z]+", name)]
    letters = [letter.lower() for letter in head if letter.isupper()]
    matched = sum(min(letters.count(one), initials.count(one)) for one in sorted(set(letters)))
    return matched >= _LETTERS * len(letters)


def _specific(name: str) -> frozenset[str]:
    return _wanted(name) - _GENERAL - _QUALIFIERS


def _shares(answer: str, cited: Sequence[str]) -> bool:
    """Whether cited sentences state a specific word of the disease's own name."""
    head = _specific(_JOINED.split(answer)[0])
    return any(head & words for sentence, words in _clauses("", "\n".join(cited)) if sentence and words)


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


def _names_alike(answer: str, name: str) -> bool:
    """Whether an answer is the diagnosis that a sentence states, or has the words of its name, whole or cut short."""
    if same_disease(name, answer).same:
        return True
    theirs = {*_concepts(name), *re.findall(r"[a-z]+", name.casefold())}
    matched, plain, short = 0, 0, 0
    for word in re.findall(r"[A-Za-z][\w-]+", _JOINED.split(answer)[0]):
        concepts = frozenset(_concepts(word)) - _LITTLE - _QUALIFIERS
        if not concepts:
            continue
        stem = word.casefold()[:_STEM]
        if concepts & theirs or any(len(one) > 2 and one.startswith(stem) for one in theirs):
            matched += 1
        elif word.isupper() or not word[1:].islower() or len(word) < _SHORT:
            short += not _initials(word, name, "")
            matched += _initials(word, name, "")
        else:
            plain += 1
    return not plain and (not short or matched > 0)


_SHORT = 4
_STEM = 6
"""Letters that two forms of a word share: 'medulla' and 'medullary'."""


def _only_considered(answer: str, title: str, text: str) -> bool:
    """Whether the article has a specific word of the disease's own name, but nowhere states it of the patient."""
    head = _specific(_JOINED.split(answer)[0])
    affirmed = frozenset[str]().union(*(words for _, words in _clauses(title, text)))
    return bool((head & frozenset(_concepts(text))) - affirmed)


def _named_here(answer: str, title: str, text: str, mentions: int | None) -> bool:
    head = _JOINED.split(answer)[0]
    short = head.strip(" .")
    if _cut_short(_SIDE_BEFORE.sub("", short), title, text):
        return True
    if _ACRONYM.fullmatch(short) and _initials(short, title, text):
        return True
    if _CAUSED.search(answer) and _specific(head):
        return _named(head, title, text, mentions)
    return any(_named(name, title, text, mentions) for name in ((answer, head) if _specific(head) else (answer,)))


def _named(answer: str, title: str, text: str, mentions: int | None) -> bool:
    diagnosis, synonyms = diagnosis_names(answer)
    shorter = (principal_part(diagnosis), *re.findall(r"\(([^()]{4,})\)", answer), re.sub(r"\([^()]*\)", " ", answer))
    known = (name for one in (diagnosis, principal_part(diagnosis)) for name in synonyms_of(one))
    names = [_wanted(name) for name in dict.fromkeys((diagnosis, *synonyms, *shorter, *known))]
    names += [name - _QUALIFIERS for name in names if name - _QUALIFIERS - _GENERAL]
    names += [frozenset(form.split()) for form in _forms(diagnosis)]
    wanted = [name for name in dict.fromkeys(names) if name]
    return any(_states(name, diagnosis, title, text, mentions) for name in wanted)


_SIDE_BEFORE = re.compile(r"^(?:R|L|B/l|left|right|bilateral) ")


def _cut_short(name: str, title: str, text: str) -> bool:
    """Whether a single word is the beginning of one that the article affirms: 'pheo'."""
    known = (word for _, words in _clauses(title, text) for word in words)
    return bool(re.fullmatch(r"[a-z]{4,8}", name)) and any(len(word) > 8 and word.startswith(name) for word in known)


def _initials(acronym: str, title: str, text: str) -> bool:
    """Whether words in a row of the title, or of a sentence that states something, have an acronym's letters."""
    acronym = acronym.rsplit(maxsplit=1)[-1]
    inner = "".join(rf"{letter}(?:[a-z-]*(?:[ -](?:of|the|and|with|in|on)\b)*[ -]*)" for letter in acronym.lower())
    pattern = re.compile(rf"\b{inner}(?![a-z])")
    return any(
        pattern.search(sentence.lower())
        for at, sentence in enumerate((title, *article_sentences(text)))
        if at == 0 or (_STATES.search(sentence) and not _CONSIDERED.search(sentence))
    )


def _wanted(name: str) -> frozenset[str]:
    return frozenset(_concepts(name)) - _LITTLE


_POSSESSIVE = re.compile(r"(?<=\w)['\u2019]s?\b(?!\w)")


@lru_cache(maxsize=4096)
def _concepts(text: str) -> tuple[str, ...]:
    """The concepts of a text's words, digits too."""
    return tuple(
        word_concept(token)
        for token in re.findall(r"[a-z0-9_]+", _POSSESSIVE.sub("", concepts_text(text.replace("*", " "))).lower())
    )


_LITTLE_TEXT = """a an the of and or in on at to for from by with without as due secondary caused associated disease
syndrome disorder case patient confirmed leading involving involvement induced related mediated
triggered complicated complicating resulting presenting diagnosed definite"""
_LITTLE = frozenset(root for word in _LITTLE_TEXT.split() for root in _concepts(word))


_QUALIFIERS_TEXT = """chronic puerperal infant infantile adult pediatric calcific severe mild recurrent extensive left
right bilateral typical classic extra stage grade spontaneous acquired idiopathic advanced
multi organ multiorgan systemic primary secondary first attack new onset newly"""
_QUALIFIERS = frozenset(root for word in _QUALIFIERS_TEXT.split() for root in _concepts(word))
"""Words without which a name is still that of the disease; 'chronic' only where the article has no 'acute' form."""
_GENERAL = frozenset(
    root
    for word in [
        "infection",
        "inflammation",
        "cancer",
        "tumor",
        "carcinoma",
        "anemia",
        "pain",
        "failure",
        "fever",
        "poisoning",
        "lesion",
        "mass",
        "thrombosis",
        "infarction",
        "fracture",
        "rupture",
        "abscess",
        "perforation",
        "obstruction",
        "ulcer",
        "hemorrhage",
    ]
    for root in _concepts(word)
)


@lru_cache(maxsize=256)
def _forms(name: str) -> tuple[str, ...]:
    """The forms of all names of the disease in MONDO."""
    numbers = frozenset(diseases_named(name))
    if not numbers or len(numbers) > 2:
        return ()
    return tuple(form for form, places in mondo().named.items() if numbers & frozenset(places) and len(form) > 4)


def _states(name: frozenset[str], diagnosis: str, title: str, text: str, mentions: int | None) -> bool:
    """Whether the title or a sentence that states something has the name, neither denied nor only considered.

    So many `mentions` in other sentences count as much; None if they do not.
    """
    typed = {one[1].lower() for one in _TYPED.finditer(diagnosis)}
    weak, near, every = 0, False, set[str]()
    for at, (sentence, words) in enumerate(_clauses(title, text)):
        every |= words
        stating = at == 0 or (_STATES.search(sentence) and not _PAST.search(sentence))
        near = near or (bool(stating) and len(name) > 2 and len(name & words) >= 0.6 * len(name))
        if len(name & words) < (0.8 if len(name) > 2 else 1.0) * len(name):
            continue
        others = {one[1].lower() for one in _TYPED.finditer(sentence)}
        if typed and others and not typed & others:
            continue
        if stating:
            return True
        weak += 1
    return mentions is not None and (weak >= mentions or (near and name <= every))


@lru_cache(maxsize=64)
def _clauses(title: str, text: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """(sentence, the roots it affirms) of the sentences that state something of the patient; the title first."""
    return tuple(_affirmed(title, text))


def _affirmed(title: str, text: str) -> Iterator[tuple[str, frozenset[str]]]:
    for sentence in (title, *article_sentences(text)):
        kept = " ".join(
            clause for clause in re.split(r"[;:]\s", _MISTAKEN.sub(" ", sentence)) if not _CONSIDERED.search(clause)
        )
        if _FAMILY.search(kept) and sentence != title:
            kept = ""
        denied = frozenset(word.concept for one in sentence_statements(kept) for word in one.words if word.denied)
        yield sentence, frozenset(_concepts(kept)) - denied


def nearest_sentence(answer: str, title: str, text: str) -> str:
    """The article's sentence that has most words of a diagnosis, '' if none has any."""
    name = _wanted(diagnosis_names(answer)[0])
    best = max((title, *article_sentences(text)), key=lambda one: len(name & frozenset(_concepts(one))))
    return best if name & frozenset(_concepts(best)) else ""
