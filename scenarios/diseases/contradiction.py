"""Says why two names cannot mean one disease: opposed words, other types, stages, causes or accompanying diseases."""

from collections.abc import Iterable, Mapping
from functools import cache

from wardround.engine.text import regex
from wardround.scenarios.diseases.disease import GENERIC_WEIGHT, SITE_WEIGHT, opposed
from wardround.scenarios.diseases.disease_name import Name, NamePart, is_site, weight
from wardround.scenarios.diseases.disease_wording import Token, paired
from wardround.scenarios.terms.wording import RootWords, cells, root, table_rows

ORGANISM = regex(
    r"(?:cocc|coccus|bacter\w*|virus|vir|vibrio|myces|mycet|monas|ella|phila|plasma|pox|spir\w*)$"
    r"|^(?:candida|aspergill|cryptococc|listeri|borreli|brucell|rickettsi|tuberculos|syphili|fung|parasit|bacteri"
    r"|nocardi"
    r"|legionell|salmonell|shigell|escherichi|proteus|clostridi|amoeb|ameb|gonococc|aureus|epidermid|pneumoni)\w*$"
)
BINOMIAL = regex(
    r"\b[A-Z][a-z]{3,} (?!infection|\w+(?:itis|osis|iasis|[ao]emia|uria|oma|ases)\b)"
    r"[a-z]{3,}(?:i|is|us|um|a|ae|ans|ens|es)\b"
)
_SPECIES = regex(
    r"\b(?P<genus>[A-Z](?:\.|[a-z]{3,}))\s(?P<species>(?!infection|antibod\w+|sensitization|\w+[ts]ion\b|species"
    r"|complex|lupus|asthma|malaria|cholera|angina|eczema|edema|coma"
    r"|(?!parapsilosis|tuberculosis)\w+(?:itis|osis|iasis|[ao]emia|uria|oma|ases|sepsis|pneumonia)\b)"
    r"[a-z]{3,}(?:i|is|us|um|a|ae|ans|ens|es|ile|ense|ale|ax|ix|ex|yx|or|in))\b"
)
"""An organism by genus and species: 'Candida glabrata', 'C. glabrata'."""
_LETTERED = regex(r"\b([A-Z])\.\s?([a-z]{3,})\b")
"""A genus by its letter: 'E. faecalis'."""
_STRAIN = regex(
    r"(?i)\b(?:(?:methicillin|vancomycin|penicillin|carbapenem|fluconazole|multi-?drug|extensively|drug)?[- ]?"
    r"(?:resistant|sensitive|susceptible)|esbl|producing|(?:sero)?(?:type|group|var)|serotype|strain|species|spp?\b\.?|group"
    r"|infection|culture|positive|blood|in|the|of|bacteria|virus|isolate|grown|isolated|confirmed|\d+\w?|[A-Y])(?!\w)"
)
"""What an answer may say of an organism besides its name: its strain, and where it was grown."""
_NO_GENUS = regex(r"(?:al|ic|ary|ous|ive|ed|ar|ent|ant|ute|ing|ory|able|ible|ial|ate)$")
_NEGATING = ("non", "un", "in", "im", "ir", "a", "an", "dis", "de", "anti", "pseudo", "extra", "intra", "sub", "epi")
_DECIDING = (
    (RootWords("insitu"), "in situ"),
    (RootWords("trait"), "a trait"),
    (RootWords("carrier"), "a carrier's state"),
)
_COMPLICATION = RootWords("complication")


def conflict(truth: Name, said: Name) -> str:
    """The reason why two names cannot be one disease, whatever their other words; "" if there is none."""
    if truth.form == said.form:  # which leaves out the species
        return _other_species(truth, said)
    return _exchanged(truth, said) or _opposed(truth, said) or _typed(truth, said) or _other_species(truth, said)


def species_of(text: str) -> dict[str, set[str]]:
    """The species that a text names, by genus in small letters: {'candida': {'glabrata'}}, {'c.': {'glabrata'}}."""
    named: dict[str, set[str]] = {}
    for match in _SPECIES.finditer(text[:1].upper() + text[1:]):
        if not _NO_GENUS.search(match["genus"]) and not is_site(root(match["species"])):
            named.setdefault(match["genus"].lower(), set()).add(match["species"])
    return named


def _other_species(truth: Name, said: Name) -> str:
    """The reason, if the two name species of one genus and none of these in common; else ""."""
    ours, theirs = species_of(truth.text), species_of(said.text)
    for genus, mine in ours.items():
        yours = [kinds for other, kinds in theirs.items() if _one_genus(genus, other)]
        every = set().union(*yours)
        if every and not mine & every:
            return f"another species: {', '.join(sorted(every))}, not {', '.join(sorted(mine))}"
    return ""


def _one_genus(one: str, other: str) -> bool:
    return one == other or (one[0] == other[0] and "." in one + other)


def genera_in_full(name: str, other: str) -> str:
    """A name with the genus that it abbreviates written out by the table, or as in the other name."""
    name = genus_in_full(name)
    full = {(genus[0], kind): genus for genus, kinds in species_of(other).items() if "." not in genus for kind in kinds}
    return _SPECIES.sub(
        lambda match: (
            f"{full[key].capitalize()} {match['species']}"
            if match["genus"].endswith(".") and (key := (match["genus"][0].lower(), match["species"])) in full
            else match[0]
        ),
        name,
    )


@cache
def _genera() -> Mapping[tuple[str, str], str]:
    """(first letter of the genus, species) -> genus."""
    return {
        (row["genus"][0], species): row["genus"]
        for row in table_rows("species.csv")
        for species in cells(row["species"])
    }


def genus_in_full(text: str) -> str:
    """A text in which each genus of the table that stands as its letter is written out.

    >>> genus_in_full("endocarditis (E. faecalis)")
    'endocarditis (Enterococcus faecalis)'
    """
    return _LETTERED.sub(
        lambda match: f"{genus} {match[2]}" if (genus := _genera().get((match[1], match[2]))) else match[0], text
    )


def organism(phrase: str) -> bool:
    """Whether a phrase names one organism and nothing else but its strain: 'Streptococcus pneumoniae, serotype 3'."""
    found = [match for match in _SPECIES.finditer(phrase) if (match["genus"][0], match["species"]) in _genera()]
    if len(found) != 1 or found[0]["genus"] != _genera()[found[0]["genus"][0], found[0]["species"]]:
        return False
    rest = phrase[: found[0].start()] + phrase[found[0].end() :]
    return not any(map(str.isalnum, _STRAIN.sub(" ", rest)))


def _exchanged(truth: Name, said: Name) -> str:
    """The reason, if each name has the other's disease as its cause; else ""."""
    ours, theirs = core(truth.head.words), core(said.head.words)
    if not ours or not theirs or ours == theirs:
        return ""
    if ours <= set(said.cause.words) and theirs <= set(truth.cause.words):
        return "cause and consequence are exchanged"
    return ""


def _opposed(truth: Name, said: Name) -> str:
    """The reason, if the two have different values on one axis, or one has what the other is without; else ""."""
    for ours, theirs in (
        (truth.head, said.head),
        (truth.cause, said.cause),
        (truth.beside, said.beside),
        (truth.effect, said.effect),
    ):
        for axis in sorted(ours.axes.keys() & theirs.axes.keys()):
            several = axis in _ONE_OF and theirs.axes[axis] > ours.axes[axis]
            if several or not ours.axes[axis] & theirs.axes[axis]:
                return f"another {axis}: {list_values(theirs.axes[axis])}, not {list_values(ours.axes[axis])}"
    if reason := _related_axes(truth.head, said.head):
        return reason
    for axis in ("side", "trimester", "output"):
        mine, yours = truth.anywhere(axis), said.anywhere(axis)
        if mine and yours and not mine & yours:
            return f"another {axis}: {list_values(yours)}, not {list_values(mine)}"
    lost, new = truth.words - said.words, said.words - truth.words
    for word in sorted(lost | new):
        rest = next((word.removeprefix(one) for one in _NEGATING if word.removeprefix(one) in lost | new), word)
        if rest != word and (rest in lost) != (word in lost):
            return f"the opposite: {word} and {rest}"
    for one, other, who in ((truth, said, "truth"), (said, truth, "answer")):
        gone = (core(one.lacking.words) or set(one.lacking.words)) - one.words
        if gone and gone <= other.words:
            return f"with and without: {write_words(one.lacking.words, gone)} (without in the {who})"
        if gone and gone <= _COMPLICATION and core(other.beside.words) - set(one.words):
            return f"with and without complication (without in the {who})"
    for words, meaning in _DECIDING:
        alone = [name.text for name in (truth, said) if not words.isdisjoint(name.words)]
        if len(alone) == 1:
            return f"only '{alone[0]}' is {meaning}"
    for scale in ("stage", "grade"):
        first, second = ([value for kind, value in name.stages if kind == scale] for name in (truth, said))
        alike = any(one.startswith(two) or two.startswith(one) for one in first for two in second)
        if first and second and not alike:
            return f"another {scale}: {list_values(second)}, not {list_values(first)}"
    return ""


_ONE_OF = frozenset(
    {
        "agent", "origin of shock", "feeding", "blood", "hearing", "flow", "stability", "iron", "water", "lineage",
        "cells of blood", "leprosy", "inheritance", "linkage", "trimester", "output", "stool", "mother", "seeing",
        "angle",
    }
)  # fmt: skip
"""Axes on which a disease has only one value: a name with two of them names two siblings."""
_OF_ONE_KIND = (("origin", "heredity"), ("age", "onset"), ("cell", "tissue"), ("front", "order"))
"""Pairs of axes of the same kind: a value on one of them in place of a value on the other makes a sibling."""


def _related_axes(ours: NamePart, theirs: NamePart) -> str:
    """The reason, if one part has a value on one axis of a pair and the other part has one on the other axis."""
    for pair in _OF_ONE_KIND:
        mine, yours = [axis for axis in pair if axis in ours.axes], [axis for axis in pair if axis in theirs.axes]
        if len(mine) == len(yours) == 1 and mine != yours and "nonsmallcell" not in ours.axes[mine[0]]:
            return f"another {mine[0]}: {list_values(theirs.axes[yours[0]])}, not {list_values(ours.axes[mine[0]])}"
    return ""


def _typed(truth: Name, said: Name) -> str:
    """The reason, if the numbers or letters of types differ, or the answer leaves the truth's type open; else ""."""
    if truth.types and said.types and not truth.types <= said.types and not said.types <= truth.types:
        return f"another type: {list_values(said.types)}, not {list_values(truth.types)}"
    ours, theirs = truth.all_types - truth.types, said.all_types - said.types
    if ours and theirs and not ours <= theirs and not theirs <= ours:
        return f"another number: {list_values(theirs)}, not {list_values(ours)}"
    if truth.types - said.all_types - truth.asides:
        return f"the type is left open: {list_values(truth.types - said.types)}"
    return ""


def caused(truth: Name, said: Name) -> str:
    """The reason, if both name a cause or an organism and these differ; else ""."""
    agents = [{word for word in name.head.words if ORGANISM.search(word)} for name in (truth, said)]
    ours, theirs = core(truth.cause.words), core(said.cause.words)
    missing, extra = paired(
        sorted((ours | agents[0]) - said.words - truth.asides), sorted((theirs | agents[1]) - truth.words - said.asides)
    )
    if not extra and missing and ours and len(core(truth.head.words)) == 1:
        extra = sorted(core(said.head.words) - truth.words)
    organism = "organism" in kinds(missing) | kinds(extra)
    strong = {word for word in ours if weight(word) > SITE_WEIGHT} or ours
    if not organism and 2 * len(strong & said.words) >= len(strong) > 0:
        return ""
    if missing and extra and (ours or organism):
        kind = "organism" if organism else "cause"
        words = {**truth.head.words, **truth.cause.words, **said.head.words, **said.cause.words}
        return f"another {kind}: {write_words(words, extra)}, not {write_words(words, missing)}"
    return ""


def beside_others(truth: Name, said: Name) -> tuple[str, bool]:
    """(the reason, if the two diseases are accompanied by different things; whether these are of one kind: sites)."""
    ours, theirs = core(truth.beside.words), core(said.beside.words)
    missing, extra = paired(sorted(ours - said.words), sorted(theirs - truth.words))
    if not missing or not extra:
        return "", False
    alike = kinds([*missing, *extra]) == {"site"} or any(opposed(one, other) for one in missing for other in extra)
    if not alike and ours & theirs and not ours & theirs <= _COMPLICATION:
        alike = len(missing) == len(extra) == 1
        if not alike:
            return "", False
    return f"with {write_words(said.beside.words, extra)}, not {write_words(truth.beside.words, missing)}", alike


def core(words: Iterable[str]) -> set[str]:
    """The words that make the disease: all but those of degree and kind."""
    return {word for word in words if weight(word) > GENERIC_WEIGHT}


def list_values(values: Iterable[str]) -> str:
    """Values in plain words, with letters of types in capitals."""
    return ", ".join(sorted(value.removeprefix("letter").upper() if "letter" in value else value for value in values))


def write_words(words: Mapping[str, Token], chosen: Iterable[str]) -> str:
    """The chosen words as written."""
    return ", ".join(dict.fromkeys(words[word].surface for word in words if word in set(chosen)))


def kinds(words: Iterable[str]) -> frozenset[str]:
    """The kinds of the words: 'site', 'organism' or 'other'. A word can replace only words of its own kind."""
    return frozenset("site" if is_site(word) else "organism" if ORGANISM.search(word) else "other" for word in words)
