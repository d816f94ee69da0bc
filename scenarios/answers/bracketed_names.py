"""The names in an answer's brackets: other names of the disease by the tables, details of it, or second answers."""

from collections.abc import Sequence

from msgspec.structs import replace

from wardround.engine.text import regex
from wardround.scenarios.answers.commitment import Asserted, may_name
from wardround.scenarios.diseases.contradiction import organism
from wardround.scenarios.diseases.disease_heads import disease_like, is_detail
from wardround.scenarios.diseases.disease_name import parse_name
from wardround.scenarios.diseases.relations import relation
from wardround.scenarios.diseases.same_disease import same_disease

PIECE = regex(r"(?i)[,()]|\b(?:with|due to|secondary to|caused by|and|after)\b")


def own_names(item: Asserted) -> Asserted:
    """Drop a bracket that names another disease: 'gout (lupus)' commits to gout."""
    text = item.text
    for alias in item.aliases:
        if may_name(alias) and not organism(alias) and not _one_disease(item.name, alias):
            text = text.replace(f"({alias})", " ")
    return replace(item, text=" ".join(text.split()))


def second_names(items: Sequence[Asserted], targets: Sequence[str]) -> tuple[str, ...]:
    """The diseases in brackets that are second answers: no other name of the disease before them, by the tables.

    A bracket is no second answer if it has the head noun of the name before it or only words of the `targets`, the
    names of the truth.
    """
    words = {word for target in targets for word in parse_name(target).words}
    return tuple(
        alias
        for item in items
        for alias in item.aliases
        if disease_like(alias)
        and not _detail(alias)
        and alias not in other_names(item)
        and parse_name(alias).noun not in parse_name(item.name).words
        and not parse_name(alias).words <= words
        and not any(same_disease(target, alias).same for target in targets)
    )


def _detail(alias: str) -> bool:
    """Whether a bracket only adds detail to a disease and names none itself."""
    return organism(alias) or (is_detail(alias) and not any(disease_like(part) for part in PIECE.split(alias)))


def other_names(item: Asserted) -> list[str]:
    """The other names that an answer gives a disease."""
    return sorted({alias for alias in item.aliases if not _detail(alias) and _one_disease(item.name, alias)})


def full_text(item: Asserted) -> str:
    """All that an answer says of a disease, without the brackets that name another disease."""
    full = item.text
    for alias in item.aliases:
        if not _detail(alias) and alias not in other_names(item):
            full = full.replace(f"({alias})", " ")
    return full


def _one_disease(name: str, alias: str) -> bool:
    """Whether a bracket is another name for the disease before it, not a second answer.

    The tables or the words must say that both are one disease or that one is a kind of the other. An abbreviation must
    have its letters, in order, in the name.
    """
    if alias.replace(".", "").isupper() and len(alias) < 8:
        return _initials(alias.lower(), name.lower())
    head, _, rest = alias.partition(",")
    alias = head if is_detail(rest) else alias
    compared = same_disease(name, alias), same_disease(alias, name)
    if any(one.same for one in compared):
        return True
    if any(one.contrary for one in compared):
        return False
    related = relation(alias, name)
    return related in ("same", "descendant") or (related == "ancestor" and bool(rest))


def _initials(letters: str, name: str) -> bool:
    """Whether the letters of an abbreviation occur in the name in their order."""
    rest = iter(name)
    return all(letter in rest for letter in letters if letter.isalpha())
