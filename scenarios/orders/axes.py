"""The axes of a test, as LOINC has them: component, specimen, method and timing, read from any wording of it."""

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache

import msgspec

from wardround.engine.text import regex
from wardround.scenarios.orders.catalogue import Catalogue, Test, catalogue
from wardround.scenarios.terms.table_cache import cached_table
from wardround.scenarios.terms.wording import cells, key, list_words, table_rows, tokens

Phrases = Mapping[str, Sequence[tuple[tuple[str, ...], str]]]
"""First word -> (words, value) of the phrases that begin with it, the longest first."""

BLOOD = "blood"
_NO_SPECIMEN = (
    list_words(
        "cell count pressure urea group gas type typing smear film sugar bank loss work test bloods in parasite"
    ),
    list_words("red white occult cord count complete full hidden visible whole"),
)
"""Words after 'blood', and before it, with which it names no specimen ('blood pressure', 'occult blood')."""
_OF_JOINT = list_words(
    "culture gram crystal cell count white wbc protein glucose ldh sample swab pcr afb fungal cytology"
)
"""Words behind 'joint' with which it names its fluid, and no part of the body ('joint pains')."""
_OF_NAMES = {"bile": list_words("acid salt pigment duct"), "tissu": list_words("transglutaminase factor")}
"""Words behind a specimen with which it is none ('bile acids' are measured in blood)."""
_SHORTHAND = regex(r"(?<![\w/-])[uU][\s-]?(?=(?:Na|K|Cl|Cr|osm|Osm|creat|prot|alb|ACR|PCR|lytes|tox|preg|hCG|HCG)\b)")
_SERUM = regex(r"(?<![\w/-])[sSpP](?=(?:Na|osm|Osm|Cr|PEP|pep)\b)")
_SWABBED = regex(
    r"(?i)(\b(?:screen(?:s|ing)?|swabs?|cultures?|cx|pcr|naat|mrsa|vre|cre|cpe|gbs)\s(?:(?:of|from|in|left"
    r"|right|l|r|both|the)\s)*"
    r"(?:nose|nostrils?|groins?|axillae?|armpits?|perineum|perianal|vagina|vag|rectum|rectal|cervix|cornea|eyes?"
    r"|ears?))\b(?! swab)"
)
"""A site behind the test of a swab."""
SERIES = regex(r"(?i)\b(?:serial(?:ly)?|trend(?:s|ed|ing)?|series of|over time|time course|q\s?\d+\s?h|every \d+)\b")
"""What orders all measurements of a test."""
NEXT = regex(r"(?i)\b(?:repeat(?:ed|ing)?|rpt|re-?check(?:ed|ing)?|follow-?up|another|again)\b")
"""What orders the next measurement of a test."""
_TIMING = (
    ("series", SERIES),
    ("next", NEXT),
    ("trough", regex(r"(?i)\b(?:trough|pre-?dose|nadir)\b")),
    ("peak", regex(r"(?i)\b(?:peak|post-?dose)\b(?!\s+(?:flow|expiratory))")),
    ("fasting", regex(r"(?i)\bfasting\b")),
    ("random", regex(r"(?i)\b(?:random|spot)\b")),
    ("24 h", regex(r"(?i)\b24[\s-]?(?:h|hr|hrs|hours?)\b")),
    (
        "later",
        regex(
            r"(?i)\b(?:in|after)\s+\d+\s*(?:h|hr|hrs|hours?|min|minutes|days?|weeks?)\b|\btomorrow\b"
            r"|\bin the morning\b"
        ),
    ),
)


class Axis(msgspec.Struct, frozen=True):
    """One value of an axis; `phrases` name it, `within` is the wider value that contains it, or its group."""

    name: str
    within: str
    phrases: tuple[tuple[str, ...], ...]


@cache
def _axis(table: str, column: str, above: str) -> Sequence[Axis]:
    return [
        Axis(row[column], row[above], tuple(dict.fromkeys(tokens(phrase) for phrase in cells(row["words"]))))
        for row in table_rows(table)
    ]


@cache
def _phrases(table: str, column: str, above: str) -> Phrases:
    """The phrases of an axis by their first word, the longest first."""
    phrases: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for value in _axis(table, column, above):
        for phrase in value.phrases:
            phrases.setdefault(phrase[0], []).append((phrase, value.name))
    return {first: sorted(pairs, key=lambda one: -len(one[0])) for first, pairs in phrases.items()}


def _met(
    words: Sequence[str], phrases: Mapping[str, Sequence[tuple[tuple[str, ...], str]]]
) -> list[tuple[int, int, str]]:
    """(start, end, value) of each phrase in `words`, from the left, the longest at each place."""
    met, at = [], 0
    while at < len(words):
        hit = next((one for one in phrases.get(words[at], ()) if tuple(words[at : at + len(one[0])]) == one[0]), None)
        if hit:
            met.append((at, at + len(hit[0]), hit[1]))
        at += len(hit[0]) if hit else 1
    return met


def _specimens(words: Sequence[str]) -> list[tuple[int, int, str]]:
    met = _met(words, _phrases("specimens.csv", "specimen", "within"))
    kept = []
    for start, end, name in met:
        # 'PSA pre-biopsy', 'albumin after the tap'
        if start and words[start - 1] in ("pre", "post", "before", "after"):
            continue
        if words[start:end] == ("blood",):
            after, before = words[end : end + 1], words[:start][-1:]
            if set(after) & _NO_SPECIMEN[0] or set(before) & _NO_SPECIMEN[1]:
                continue
        if set(words[end : end + 1]) & _OF_NAMES.get(" ".join(words[start:end]), frozenset()):
            continue
        if words[start:end] == ("joint",) and not set(words[end : end + 1]) & _OF_JOINT:
            continue
        kept.append((start, end, name))
    return kept


def _written_out(text: str) -> str:
    """'UNa' and 'Sosm' with their specimen as a word, and the site of a swab behind its test ('MRSA screen nose')."""
    return _SERUM.sub("serum ", _SHORTHAND.sub("urine ", _SWABBED.sub(r"\1 swab", text)))


@lru_cache(maxsize=32768)
def specimen(text: str) -> str:
    """The specimen that `text` states, '' if none; a fluid other than blood wins over 'blood'.

    ::

        specimen("CSF glucose")  # 'CSF'
    """
    named = [name for _, _, name in _specimens(tokens(_written_out(text)))]
    other = [name for name in named if name != BLOOD]
    closer = [name for name in other if name != "body fluid"]  # 'fluid from the joint'
    return next(iter(closer or other or named), "")


@cache
def stated_as(name: str) -> str:
    """The words that state a specimen: its name where that does, else the first that names it ('eye swab')."""
    words = next((one.phrases for one in _axis("specimens.csv", "specimen", "within") if one.name == name), ())
    return name if not words or specimen(name) == name else " ".join(words[0])


@lru_cache(maxsize=32768)
def only_specimen(text: str) -> str:
    """The specimen that `text` states and nothing else, a site as that of a swab ('groin'); '' if it says more."""
    words = " ".join(word for word in text.split() if not word[0].isdigit() and not set(tokens(word)) <= _ROUND)
    said = words if specimen(words) else f"{words} swab"
    return specimen(said) if words and not set(without_specimen(said).split()) - _ALONE else ""


_ROUND = list_words("a an the at in of from on wk week h hr hour one too also as well both x left right")
_ALONE = list_words("sample swab specimen one level paired")


@lru_cache(maxsize=32768)
def specimens(text: str) -> frozenset[str]:
    """All specimens that `text` states ('serum and urine osmolality')."""
    return frozenset(name for _, _, name in _specimens(tokens(text)))


@lru_cache(maxsize=32768)
def without_specimen(text: str) -> str:
    """The comparable form of `text` without the words that state its specimen."""
    words = list(tokens(_written_out(text)))
    for start, end, _ in _specimens(tuple(words)):
        words[start:end] = [""] * (end - start)
    return " ".join(word for word in words if word)


@lru_cache(maxsize=32768)
def methods(text: str) -> tuple[str, ...]:
    """The methods that `text` states, in its order, each once ('CMV IgM and IgG' gives IgM, IgG)."""
    met = _met(tokens(text), _phrases("methods.csv", "method", "group"))
    return tuple(dict.fromkeys(name for _, _, name in met))


@lru_cache(maxsize=32768)
def only_method(text: str) -> bool:
    """Whether `text` names a method and nothing that it is to look for ('PCR', 'antibodies')."""
    words = [word for word in tokens(text) if word not in _IDLE]
    met = _met(words, _phrases("methods.csv", "method", "group"))
    return bool(met) and sum(end - start for start, end, _ in met) == len(words)


_IDLE = list_words("a the of some any test testing please panel")


@lru_cache(maxsize=32768)
def timing(text: str) -> str:
    """The timing that `text` states ('trough', 'next', 'series', 'fasting', '24 h'), '' if none."""
    return next((name for name, pattern in _TIMING if pattern.search(text)), "")


@cache
def _within(table: str, column: str, above: str) -> Mapping[str, str]:
    return {value.name: value.within for value in _axis(table, column, above)}


def same_specimen(wanted: str, taken: str) -> bool:
    """Whether a result of specimen `taken` answers an order of `wanted`; '' of either leaves it open."""
    if not wanted or not taken or wanted == taken:
        return True
    within = _within("specimens.csv", "specimen", "within")
    return within.get(taken, "") == wanted or (within.get(wanted, "") == taken and wanted not in _STRICT)


_STRICT = ("pleural fluid", "ascitic fluid", "synovial fluid", "pericardial fluid", "amniotic fluid")
"""An order of these is not answered by a result of an unnamed body fluid."""


def same_method(wanted: Sequence[str], used: Sequence[str]) -> bool:
    """Whether a result by the methods `used` answers an order by `wanted`: none stated fits all, IgM never IgG."""
    if not wanted or not used:
        return True
    group = _within("methods.csv", "method", "group")
    if not {group[name] for name in wanted} & {group[name] for name in used}:
        return False
    ours, theirs = (frozenset(name for name in side if name in _CLASSES) for side in (wanted, used))
    return not ours or not theirs or bool(ours & theirs)


_CLASSES = ("IgM", "IgG", "IgA", "IgE")

_OPEN = frozenset(
    tokens_name
    for tokens_name in (
        "Pregnancy test", "Toxicology screen", "Amphetamines", "Cocaine", "Opiates", "Cannabinoids", "Benzodiazepines",
        "Barbiturates", "Phencyclidine", "Immunofixation", "Flow cytometry", "Metanephrines",
        "5-hydroxyindoleacetic acid", "Genetic testing", "Karyotype", "Heavy metal screen",
        "Fluorescence in situ hybridization", "JAK2 mutation", "BCR-ABL", "Acetylcholinesterase", "D-xylose test",
        "Methadone", "Oxycodone", "Fentanyl", "Cytology", "Rapid aneuploidy test",
    )
)  # fmt: skip
"""Laboratory tests that are done on blood and on other specimens alike."""


@cache
def own_specimen(test: Test) -> str:
    """The specimen of a test by its name; blood for a laboratory test without one, '' where it is open."""
    if test.kind not in ("lab", "microbiology"):
        return ""
    stated = specimen(test.name)
    if not stated:
        stated = _BY_NAME.get(test.name, "")
    if stated or test.kind != "lab" or test.name in _OPEN:
        return stated
    return BLOOD


_BY_NAME = {
    "Urinalysis": "urine",
    "IgG index": "CSF",
    "Ova and parasites": "stool",
    "Rotavirus antigen": "stool",
    "Giardia antigen": "stool",
    "Clostridioides difficile toxin": "stool",
    "Gastrointestinal pathogen panel": "stool",
    "Rapid streptococcal antigen test": "throat",
    "Malaria smear": "blood",
    "HIV viral load": "blood",
    "Sweat chloride test": "sweat",
    "Bronchoalveolar lavage": "bronchial lavage",
    "Vaginal wet mount": "cervix",
    "Fractional exhaled nitric oxide": "breath",
    "Fetal fibronectin": "cervix",
    "Rupture of membranes test": "cervix",
    "Lamellar body count": "amniotic fluid",
    "Laxative screen": "urine",
    "Fractional excretion of sodium": "urine",
    "Diuretic screen": "urine",
    "Bladder tumor marker": "urine",
    "Ovulation test": "urine",
}
_ALIKE = {
    key(word): test
    for word, test in (
        ("protein", "Total protein"),
        ("leukocytes", "White blood cell count"),
        ("red cells", "Red blood cell count"),
        ("cell count", "White blood cell count"),
        ("cell counts", "White blood cell count"),
        ("cells", "White blood cell count"),
        ("cell ct", "White blood cell count"),
        ("cell cts", "White blood cell count"),
        ("cell count with diff", "White blood cell count"),
        ("cell count and diff", "White blood cell count"),
        ("cells and diff", "White blood cell count"),
        ("cell count and differential", "White blood cell count"),
        ("cell count with differential", "White blood cell count"),
        ("ketones", "Beta-hydroxybutyrate"),
        ("osmolality", "Serum osmolality"),
        ("protein electrophoresis", "Serum protein electrophoresis"),
        ("bilirubin", "Total bilirubin"),
        ("cholesterol", "Total cholesterol"),
        ("pH", "Blood pH"),
        ("cytology", "Cytology"),
        ("culture", "Bacterial culture"),
        ("cultures", "Bacterial culture"),
        ("cx", "Bacterial culture"),
        ("culture and sensitivity", "Bacterial culture"),
        ("MC&S", "Bacterial culture"),
        ("MCS", "Bacterial culture"),
        ("C&S", "Bacterial culture"),
        ("microscopy and culture", "Bacterial culture"),
        ("bacteriology", "Bacterial culture"),
        ("culture and sensitivities", "Bacterial culture"),
        ("routine culture", "Bacterial culture"),
        ("aerobic culture", "Bacterial culture"),
        ("TC/DC", "White blood cell count"),
        ("crystals", "Synovial fluid crystals"),
    )
}
"""What a test is called without its specimen, where the table names the same component in blood otherwise."""


class _Variants(msgspec.Struct, frozen=True):
    """Test -> component; (component, specimen) -> test."""

    components: dict[str, str]
    by_axes: dict[tuple[str, str], str]


@lru_cache(maxsize=8)
def _variants(table: Catalogue) -> _Variants:
    """The variants of the tests of a table; those of the package's own table are kept on disk."""
    ours = table is catalogue()
    return cached_table("variants", _Variants, lambda: _variants_of(table)) if ours else _variants_of(table)


def _variants_of(table: Catalogue) -> _Variants:
    component: dict[str, str] = {}
    by_axes: dict[tuple[str, str], str] = {}
    for test in table.tests.values():
        if test.kind not in ("lab", "microbiology"):
            continue
        bare = re.sub(r"^24 hour ", "", without_specimen(test.name)) if specimen(test.name) else ""
        named = _ALIKE.get(bare) or table.names.get(bare, "") if bare else test.name
        known = named in table.tests and table.tests[named].kind == test.kind
        component[test.name] = named if known else bare or test.name
        place = (component[test.name], own_specimen(test))
        if place not in by_axes or key(test.name) == f"{key(place[1])} {bare}":
            by_axes[place] = test.name
    return _Variants(component, by_axes)


def component(test: str, table: Catalogue) -> str:
    """What a test measures, without its specimen: 'Urine sodium' gives 'Sodium'."""
    return _variants(table).components.get(test, test)


def alike(form: str, table: Catalogue) -> str:
    """The component that a bare word means beside a specimen ('protein', 'culture'); '' if it has a name of its own."""
    test = _ALIKE.get(form, "")
    return test if test in table.tests else ""


def in_specimen(test: str, wanted: str, table: Catalogue) -> str:
    """The table's test of the same component in the specimen `wanted`; '' if the table has none."""
    return _variants(table).by_axes.get((component(test, table), wanted), "")


@cache
def _by_test() -> Mapping[str, Sequence[tuple[str, tuple[int, ...]]]]:
    """Test -> (specimen, item numbers) of each row of the table."""
    table: dict[str, list[tuple[str, tuple[int, ...]]]] = {}
    for row in table_rows("item_ids.csv"):
        numbers = tuple(int(number) for number in cells(row["item_ids"]))
        table.setdefault(row["test"], []).append((row["specimen"], numbers))
    return table


@cache
def _by_number() -> Mapping[str, tuple[tuple[str, str], ...]]:
    """Item number -> (test, specimen) of each row that lists it."""
    table: dict[str, tuple[tuple[str, str], ...]] = {}
    for test, taken in _by_test().items():
        for specimen, numbers in taken:
            for number in numbers:
                table[str(number)] = (*table.get(str(number), ()), (test, specimen))
    return table


def item_numbers(test: str, specimen: str, table: Catalogue) -> tuple[int, ...]:
    """The item numbers of `test` in `specimen` ('' for any), those of its members if it is a panel, in order."""
    ids: set[int] = set()
    for name in (test, *table.below.get(test, ())):
        wanted = specimen or (own_specimen(table.tests[name]) if name in table.tests else "")
        ids.update(
            number for taken, listed in _by_test().get(name, ()) if same_specimen(wanted, taken) for number in listed
        )
    return tuple(sorted(ids))


def specimen_of(number: str, test: str, table: Catalogue) -> str:
    """The specimen that an item number means, if it is one of this test's component; else ''."""
    known = {
        specimen for name, specimen in _by_number().get(number, ()) if component(name, table) == component(test, table)
    }
    return known.pop() if len(known) == 1 else ""
