"""Finds the known test that a name means: by name, synonym, word order, region, or a cautious fuzzy match."""

import re
from collections.abc import Sequence
from functools import lru_cache

import msgspec
from msgspec.structs import replace
from rapidfuzz import fuzz

from wardround.engine.text import regex
from wardround.scenarios.case import Kind
from wardround.scenarios.orders import axes, imaging
from wardround.scenarios.orders.catalogue import Catalogue, Test
from wardround.scenarios.orders.joined_names import order_words
from wardround.scenarios.orders.spelling import corrected, near
from wardround.scenarios.terms.wording import key, list_words, tokens

LEADING = frozenset(form for word in order_words("opening") for form in tokens(word))
"""Words at the beginning of a request that name no test, in the form that `tokens` gives them."""
TRAILING = frozenset(form for word in order_words("closing") for form in tokens(word))
"""Such words at the end of a request."""
SPECIMENS = list_words("serum plasma blood")
# Sites from which cultures and swabs are taken; the name without them must be a microbiology test.
BRACKET = regex(r"\(([^()]*)\)|\[([^\[\]]*)\]")

# Frequency, number and time: '2 sets', 'x3', 'q6h', 'in 3 hours', 'at 0 and 3 h'.
_AMOUNT = regex(
    r"(?i)\s*\b(?:with \d+(?:[/,]\s?\d+)+\s(?:min\w* )?(?:samples?|bloods?)|(?:today|tomorrow) (?:at )?\d{4}\b"
    r"|(?:cycle )?day\s\d+|(?:post|pre)[- ]?"
    r"(?:transfusion|op|operative|procedure|dialysis|hd|extubation"
    r"|intubation|bolus|exercise|delivery|treatment)\b|(?:\d\s?)?x\s?\d+(?:\s+sets?)?|\d+[\s-]?(?:hourly"
    r"|hrly)\b|q\.?\s?\d+\s?(?:h|hr|hrs"
    r"|hours)?|(?:in|at|after|every|over|for|à)\s+(?:the next\s+)?(?:\d+|one|two|three|four|six|eight|twelve"
    r"|an)[\d\s,/&-]*(?:and\s+\d+\s*)?(?:h|hr|hrs|hours?|min|minutes|days?|weeks?|months?)\b|(?:in the|this|tomorrow"
    r"|every|each)\s+(?:morning|evening|afternoon|night|am|pm|day)\b|tonight\b|overnight\b|(?:\d+|one|two|three"
    r"|four)\s*-?\s*(?:sets?(?: of)?|u(?:nits?)?(?:\s+(?:of\s+)?(?:prbcs?|packed (?:red )?(?:blood )?cells|blood|ffp"
    r"|platelets))?|times|views?|v|bottles?|samples?(?: of)?|am|pm)\b|\d+\s*(?:h|hrs?|hours?|min|minutes"
    r"|days?)\s+(?:apart|later)\b|\bin am\b|(?:\d+|one|two|three|four|six|eight)\s*(?:h|hrs?|hours?|min|minutes"
    r"|days?)(?:\s+(?:post|after)\b(?:(?!\s(?:[+&]|and|plus)\s)[^,;])*|\s*$))"
)
_DETAIL = regex(
    r"(?i)\s+(?:with|w/o|w/|w|no|without)\s*(?:(?:auto(?:mated)?|manual|iv|and without|or without)\s+)*"
    r"(?:reflex|microscop|micro\b"
    r"|diff|sensitivit|contrast|gram stain$|smear$|indices|western blot|immunoblot|bubble)(?:(?!\b(?:and|if"
    r"|unless|only)\b)[^,;()])*$"
    r"|\s+reflex\b[^,;()]*$"
)
# Shorthand for single words, in the form that `key` gives them.
_SHORT = {
    key(short): key(word)
    for word, shorts in {
        "antibody": "ab abs",
        "antigen": "ag ags",
        "serology": "serol sero",
        "culture": "cx cxs",
        "24 hour": "24h 24hr 24hrs",
        "hour": "hr hrs",
        "level": "lvl lvls",
        "biopsy": "bx",
        "blood": "bld bl",
        "serum": "ser srm",
        "urine": "ur urn",
        "abdominal": "abd",
        "hemoglobin": "hgb hb haemoglobin",
        "bilirubin": "bili",
        "coagulation": "coag",
        "creatinine": "creat",
        "cholesterol": "chol",
        "alkaline": "alk",
        "platelet": "plt",
        "reticulocyte": "retic",
        "troponin": "trop",
        "toxicology": "tox",
        "protein": "prot",
        "osmolality": "osm",
    }.items()
    for short in shorts.split()
}
_IN_NAME = regex(r"(?<=\w)\(\w{1,2}\)")
"""A bracket within a name ('Lp(a)')."""
_DAY = regex(r"(?i)\b24[\s-]*h(?:r|rs|our|ours)?\b\s*")
_PLURAL = regex(r"\b([A-Z]{2,5})s\b")
_AND = regex(r"\s*&\s*|(?<=[a-z])\s\+\s(?=[a-z])", re.IGNORECASE)
_LEVEL = list_words("level test testing")
_LISTED = regex(r"[,;]|\s\+\s|\band\b")


def forms(name: str) -> list[str]:
    """Comparable forms of `name`, without repeats.

    These are: unchanged; without brackets; without amounts and details ('x2', 'with reflex'); without courtesy words
    and words such as 'level'; without 'serum'; the content of the only bracket; with shorthand expanded.
    """
    name = _DAY.sub("24 hour ", name)
    outer = name if _IN_NAME.search(name) else BRACKET.sub(" ", name)
    short = _DETAIL.sub("", unmeasured(outer))
    made = [
        key(name),
        key(outer),
        key(_AND.sub(" and ", outer)),
        key(short),
        strip_ends(key(short), tail=False),
        strip_ends(key(short)),
        strip_ends(key(name)),
        strip_ends(key(outer)),
    ]
    made += [
        strip_ends(key(short), drop_specimen=True),
        " ".join(word for word in key(short).split() if word not in _LEVEL),
    ]
    brackets = list(BRACKET.finditer(name))
    if len(brackets) == 1 and not _LISTED.search(outer):
        made.append(key(brackets[0][1] or brackets[0][2] or ""))
    single = _PLURAL.sub(r"\1", short)
    if single != short:
        made.append(strip_ends(key(single)))
    made += [" ".join(_SHORT.get(word, word) for word in form.split() if word != "for") for form in made[:5]]
    return [form for form in dict.fromkeys(made) if form]


def unmeasured(text: str) -> str:
    """`text` without frequencies, amounts and times."""
    return _AMOUNT.sub(" ", text.replace("\u00d7", "x"))


def strip_ends(form: str, *, drop_specimen: bool = False, tail: bool = True) -> str:
    """`form` without the words at its ends that name no test; with `tail` false, only at its beginning.

    `drop_specimen` also removes 'serum' and the like.
    """
    words = form.split()
    before = ""
    while len(words) > 1 and words[0] in LEADING and (words[0] != "us" or before == "let"):  # 'just get US abdomen'
        before, words = words[0], words[1:]
    while tail and len(words) > 1 and words[-1] in TRAILING:
        words = words[:-1]
    if drop_specimen and len(words) > 1:
        words = [word for word in words if word not in SPECIMENS] or words
    return " ".join(words)


LONGEST = 160
"""Longest text, in characters, that can be a single request."""


class Link(msgspec.Struct, frozen=True):
    """The test that a name means: its canonical name `test`, the `rule` that linked it, and a `score` from 0 to 1.

    `specimen` is the stated one, else the test's own; '' where it is open. `method` are the methods that are stated.
    """

    test: str
    kind: Kind
    rule: str
    score: float
    points: float
    reading: imaging.Reading | None = None
    specimen: str = ""
    method: tuple[str, ...] = ()


@lru_cache(maxsize=16384)
def link(name: str, table: Catalogue) -> Link | None:
    """The test that `name` means, or None.

    Tried in order: the name unchanged, without its brackets, without words such as 'please' and 'level', as modality
    and region of a study, fuzzily (a ratio of 90, then a corrected word). A text longer than 160 characters names no
    single test. A stated specimen that the table does not list with the test is kept beside it ('bile amylase').
    """
    if len(name) > LONGEST or _is_word(name, table) or (_LISTS.search(name) and _beside_procedure(name, table)):
        return None
    linked = _linked(name, table)
    return _placed(linked, name, table) if linked else _of_panel(name, table)


def _is_word(name: str, table: Catalogue) -> bool:
    """Whether a short name is a word of its own, written as no name of the table is ('pus', 'CP x 2')."""
    words = [word for word in unmeasured(name).split() if not set(tokens(word)) <= LEADING | TRAILING]
    said = (words[0] if len(words) == 1 else name).strip(" +?!.,")
    test = table.tests.get(table.names.get(key(said), ""))
    return test is not None and said.casefold() in order_words("word") and said not in test.synonyms


def _of_panel(name: str, table: Catalogue) -> Link | None:
    """A test named behind a panel that has it: 'ABG pH', 'CBC platelets', 'UA nitrites'."""
    if _ITEMS.search(_INITIALS.sub("", name)):  # 'CBC with platelets' orders both
        return None
    words = unmeasured(name).split()
    for at in range(1, min(len(words), 4)):
        panel = _named(key(" ".join(words[:at])), table)
        if panel is None or not table.below.get(panel):
            continue
        own, rest = axes.own_specimen(table.tests[panel]), " ".join(words[at:])
        said = rest if own in ("", axes.BLOOD) else f"{own} {rest}"
        linked = _linked(said, table)
        if linked and linked.test in table.below[panel]:
            return _placed(linked, said, table)
        if ":" in name:
            return None
    return None


_LISTS = regex(r"[/,;&+]")
_TAPS = regex(r"(?i)\b(?:lp|msu|csu|taps?|\w*(?: puncture|centesis))\b")


def _beside_procedure(name: str, table: Catalogue) -> bool:
    """Whether a procedure that yields a specimen stands beside another test: 'ESR, lumbar puncture' is no ESR in CSF.

    Behind a comma a specimen is the other test's ('glucose, CSF'), a procedure is not.
    """
    parts = [part.strip() for part in _LISTS.split(name) if part.strip()]
    procedures = [part for part in parts if axes.specimen(part) and not axes.without_specimen(part)]
    if "/" not in name and not any(map(_TAPS.search, procedures)):
        return False
    return 0 < len(procedures) < len(parts) and all(link(part, table) for part in parts)


@lru_cache(maxsize=16384)
def link_as_written(name: str, table: Catalogue) -> Link | None:
    """The test that `name` means by its words as they are spelt, or None."""
    linked = _linked(name, table, spelt=True) if len(name) <= LONGEST and not _is_word(name, table) else None
    return _placed(linked, name, table) if linked else None


def _linked(name: str, table: Catalogue, *, spelt: bool = False) -> Link | None:
    tried = forms(name)
    if (_JOINS.search(name) or ":" in name) and key(name) not in table.names and len(axes.specimens(name)) > 1:
        return None
    for form in tried:
        test = _named(form, table)
        if test and not (table.tests[test].kind == "examination" and _DETAIL.search(name)):  # 'pelvis with contrast'
            return _link(test, "exact" if key(test) == form else "synonym", 1.0, name, table)
    if _examines(name, table):
        return None
    for text in (name, unmeasured(BRACKET.sub(" ", name))):
        study = imaging.read_study(text, table)
        if study.whole:
            return _study(study, table)
    return (
        _of_something(name, table)
        or _in_specimen(name, table)
        or _of_class(name, table)
        or _with_place(name, table)
        or (None if spelt else _fuzzy(name, tried, table))
    )


def _placed(linked: Link, name: str, table: Catalogue) -> Link:
    """The link with its specimen and method; the component's test of another specimen where that is stated."""
    test = table.tests.get(linked.test)
    if test is None or test.kind not in ("lab", "microbiology"):
        return linked
    stated, own = axes.specimen(name), axes.own_specimen(test)
    if not stated and not own and test.kind == "lab":
        said = set(tokens(name))
        stated = axes.BLOOD if said & _QUANTITY else "urine" if said & _URINE else ""  # 'quantitative hCG', 'UDS'
    apart = own and not axes.same_specimen(own, stated) and not axes.same_specimen(stated, own)
    if stated and (apart or not own):
        other = axes.in_specimen(linked.test, stated, table)
        linked = replace(linked, test=other) if other else linked
    method = axes.methods(name) or axes.methods(linked.test) if test.kind == "microbiology" else linked.method
    return replace(linked, specimen=stated or own, method=method)


_QUANTITY = list_words("quantitative quant")
_URINE = list_words("uds utox upt uhcg")
_JOINS = regex(r"(?i)\s(?:and|or|&|\+|plus)\s|[/,]")
_INITIALS = regex(r"(?<=\b[A-Z])&(?=[A-Z]\b)")
"""The sign within initials ('U&E')."""
_ITEMS = regex(r"(?i)\s*[,;&+]\s*|\s+(?:and|then|plus|with|w/?|followed by)\s+")


def _examines(name: str, table: Catalogue) -> bool:
    """Whether one item of a list is a part of the physical examination: 'pelvic exam, CT abdomen' is no study."""
    items = [item for item in _ITEMS.split(name) if {"exam", "examination"} & set(tokens(item))]
    tests = (_named(form, table) for item in items for form in forms(item)) if _ITEMS.search(name) else ()
    return any(test is not None and table.tests[test].kind == "examination" for test in tests)


_BETWEEN = list_words("swab of on off from in the for a level sample specimen by 24 24h hr hour")


def _several(name: str, table: Catalogue) -> bool:
    """Whether `name` lists tests ('serum ketones, VBG', 'joint tap with Gram stain'), so that it is none itself."""
    items = [item for item in _ITEMS.split(name) if axes.without_specimen(item)]
    named = [item for item in items if any(_named(form, table) for form in forms(item))]
    whole = axes.alike(axes.without_specimen(name), table)
    with_more = " with " in name and not whole
    return with_more or (len(items) > 1 and not whole and (len(named) > 1 or not name.count(",")))


def _in_specimen(name: str, table: Catalogue) -> Link | None:
    """A laboratory test named with a specimen that the table does not list it with ('amylase in pleural fluid')."""
    if not axes.specimen(name) or _several(name, table):
        return None
    for text in (name, unmeasured(BRACKET.sub(" ", name))):
        said = [_SHORT.get(word, word) for word in axes.without_specimen(text).split()]
        words = [word for word in said if word not in _BETWEEN]
        lettered = [word for word in said if word == "a" or word not in _BETWEEN]  # 'group A strep'
        for form in dict.fromkeys((" ".join(lettered), " ".join(words), strip_ends(" ".join(words)))):
            test = (axes.alike(form, table) or _named(form, table)) if form else None
            if test and table.tests[test].kind in ("lab", "microbiology"):
                taken = _taken_from(axes.specimen(name), table.tests[test], table)
                return _link(test, "synonym", 1.0, name, table) if taken else None
    return None


_OF_GERMS = list_words("sputum throat nasopharynx wound skin eye ear cervix tracheal catheter urine stool")
"""First words of the specimens that a blood count, a panel of the blood or a serology is never done on."""


def _taken_from(specimen: str, test: Test, table: Catalogue) -> bool:
    """Whether a test is done on a specimen: no blood count or serology on sputum or a swab, no panel on urine."""
    serology = axes.methods(test.name) == ("antibody",) or test.usual == axes.BLOOD
    blood = axes.own_specimen(test) == axes.BLOOD or (test.kind == "microbiology" and serology)
    single = test.kind == "lab" and specimen in ("urine", "stool") and test.name not in table.below
    return not blood or single or specimen.partition(" ")[0] not in _OF_GERMS


_CLASSES = list_words("igm igg iga")


def _of_class(name: str, table: Catalogue) -> Link | None:
    """Antibodies named by their classes alone ('EBV IgM and IgG', 'anticardiolipin IgG/IgM')."""
    if "ig" not in name.casefold():
        return None
    words = [word for word in key(unmeasured(name)).split() if word not in ("and", "or", "for", "w", "o")]
    bare = strip_ends(" ".join(word for word in words if word not in _CLASSES))
    if not bare or len(bare.split()) == len(words) or not _CLASSES & set(words):
        return None
    for form in (f"{bare} serology", f"{bare} antibody", f"anti {bare} antibody", bare):
        test = _named(form, table)
        if test and {"antibody", "serology"} & {*axes.methods(test), *tokens(test)}:
            return replace(_link(test, "synonym", 1.0, name, table), method=axes.methods(name))
    return None


def _with_place(name: str, table: Catalogue) -> Link | None:
    """A study or procedure before the place where it is made ('DEXA hip and spine', 'visual acuity OU')."""
    words = key(unmeasured(BRACKET.sub(" ", name))).split()
    for end in range(len(words) - 1, 0, -1):
        if not imaging.only_place(words[end], table) and words[end] != "and":
            return None
        test = _named(strip_ends(" ".join(words[:end])), table)
        if test is not None and table.tests[test].kind not in ("lab", "microbiology"):
            return (
                _link(test, "synonym", 1.0, name, table) if imaging.only_place(" ".join(words[end:]), table) else None
            )
    return None


def _lists(target: str, table: Catalogue) -> bool:
    """Whether what stands behind 'of' lists further tests ('conduction velocity of both legs, B12, SPEP')."""
    items = _ITEMS.split(target)
    return any(_named(form, table) for item in items[1:] for form in forms(item) if item.strip())


_GUIDED = regex(r"(?i)\s(?:under|using|with)\s.*$")
_LONGEST_PLACE = 60


def _of_something(name: str, table: Catalogue) -> Link | None:
    """A procedure named with its target ('FNA of the nodule', 'biopsy of a cervical lymph node')."""
    head, of, target = name.partition(" of ")
    if (
        not of
        or len(target) > _LONGEST_PLACE
        or ". " in name
        or _ITEMS.search(head)
        or "fluid" in name
        or _lists(target, table)
    ):
        return None
    words = [word for word in key(_GUIDED.sub("", BRACKET.sub(" ", target))).split() if word not in LEADING]
    places = [words[at : at + size] for size in range(len(words), 0, -1) for at in range(len(words) - size + 1)]
    whole, last = strip_ends(key(head)), key(head).rpartition(" ")[2]
    narrower = [f"{' '.join(place)} {whole}" for place in places]
    open_ended = _named(whole, table) in (None, "Biopsy", "Fine-needle aspiration")
    narrower += [f"{' '.join(place)} {last}" for place in places if open_ended or place[-1] is words[-1]]
    taps = bool(axes.specimen(head)) and not axes.without_specimen(head)  # 'arthrocentesis of the right knee'
    for form in (*narrower, strip_ends(key(head))):
        test = _named(form, table)
        tapped = test is not None and test.endswith("fluid analysis")
        if test and (taps or tapped or table.tests[test].kind in ("investigation", "examination")):
            return _link(test, "synonym", 1.0, name, table)
    return None


def _fuzzy(name: str, tried: Sequence[str], table: Catalogue) -> Link | None:
    """The test with a similar spelling: first by a ratio of 90, then with misspelt words corrected."""
    for form in tried:
        hit = near(form, table)
        if hit:
            return _link(table.names[hit[0]], "fuzzy", hit[1] / 100, name, table)
    for form in tried:
        right = corrected(form, table)
        test = _named(right, table) if right else None
        if right and test:
            return _link(test, "fuzzy", fuzz.ratio(form, right) / 100, name, table)
    right = corrected(tried[0], table) if tried else None
    study = imaging.read_study(right, table) if right else None
    return replace(_study(study, table), rule="fuzzy", score=0.9) if study is not None and study.whole else None


_ARTICLE = ("a ", "i ")
"""What begins with these is no name written apart: 'a CT' is no ACT."""


def _named(form: str, table: Catalogue) -> str | None:
    return (
        table.names.get(form)
        or table.bags.get(" ".join(sorted(form.split())))
        or (table.closed_up.get(form.replace(" ", "")) if len(form) > 4 and not _two_names(form, table) else None)
    )


def _two_names(form: str, table: Catalogue) -> bool:
    """Whether a form begins with an article or joins the names of two tests ('UE LFT', which is no 'UELFT')."""
    words = form.split()
    halves = ((" ".join(words[:at]), " ".join(words[at:])) for at in range(1, len(words)))
    return form[:2] in _ARTICLE or any(one in table.names and other in table.names for one, other in halves)


def _link(test: str, rule: str, score: float, asked: str, table: Catalogue) -> Link:
    entry = table.tests[test]
    if entry.modality and not entry.regions:  # 'MRV brain' by the name 'MRV': the region stands separately
        study = imaging.read_study(asked, table)
        if len(study.modalities) == 1 and study.regions:
            return _study(study, table)
    return Link(test, entry.kind, rule, score, entry.points, imaging.of_test(entry, asked, table))


def _study(study: imaging.Reading, table: Catalogue) -> Link:
    """A study composed of its modality and regions, under the table's name if it lists exactly that study."""
    test = table.studies.get((study.modalities[0], study.regions)) if not study.side else None
    if test is not None:
        return Link(test.name, "imaging", "synonym", 1.0, test.points, study)
    points = table.modalities[study.modalities[0]].points
    return Link(imaging.study_title(study), "imaging", "region", 1.0, points, study)


def content(text: str) -> tuple[str, ...]:
    """The words of `text` that carry meaning: without 'please', 'the', 'level' and the like."""
    return tuple(word for word in tokens(text) if word not in LEADING | TRAILING | {"of", "and", "for", "with", "in"})
