"""Finds the asserted disease that is the truth's principal part, and the asserted diseases that are unrelated to it."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from wardround.scenarios.answers.answer_markup import is_marked_list
from wardround.scenarios.answers.commitment import MOST_CAUSES, Asserted
from wardround.scenarios.diseases.contradiction import core
from wardround.scenarios.diseases.disease import GROWTH, expanded
from wardround.scenarios.diseases.disease_heads import consequence, disease_like, effect, general
from wardround.scenarios.diseases.disease_name import parse_name, weight
from wardround.scenarios.diseases.disease_wording import clinical
from wardround.scenarios.diseases.names_within import names_within
from wardround.scenarios.diseases.relations import complicates, in_tables, other_agent, relation
from wardround.scenarios.terms.wording import RootWords, key

MOST_FOREIGN = 1
"""Most unrelated diseases that an answer may assert besides the true one."""
MOST_CONSEQUENCES = 3
"""Most common consequences (shock, effusion) that are accepted as complications without asking a table."""
HeadRule = Literal["head", "cause", "beside", "none"]


def head(
    items: Sequence[Asserted], hits: Sequence[bool], belongs: Sequence[bool], truth: str
) -> tuple[int | None, HeadRule]:
    """(position of the asserted disease that is the principal part, the rule that found it).

    `hits` tells which items are the principal part, `belongs` which are any part of the truth. Other parts of the truth
    may come before the principal one. The cause of the first disease counts if the first is its consequence
    (`follows`), and a disease that goes with the first counts if the first is its cause (`leads_to`).
    """
    for place, item in enumerate(items):
        if hits[place]:
            return place, "cause" if item.link == "due" and place and not belongs[place - 1] else "head"
        nearer = items[place + 1] if place + 1 < len(items) else None
        leads = nearer is not None and (
            (general(item.name) and general(nearer.name))
            or (nearer.link in ("due", "with", "shown") and follows(item, nearer))
        )
        if not (leads or (belongs[place] and nearer is not None)):
            break
    place = next((place for place, hit in enumerate(hits) if hit), 0)
    between = all(item.link in ("with", "then", "shown") for item in items[1:place])
    if place > 1 and items[place].link == "due" and between and _caused(items[0].name, items[place]):
        return place, "cause"  # 'shock with ascites, due to cirrhosis'
    one_clause = all(item.link in ("with", "then", "shown") for item in items[1 : place + 1])
    if place and one_clause and (belongs[0] or leads_to(items[0].name, items[place].name, truth)):
        return place, "beside"
    return None, "none"


def follows(item: Asserted, cause: Asserted) -> bool:
    """Whether `item` follows from `cause`, so that an answer which names `item` first commits to `cause`.

    `item` must be a typical effect, or no disease of the tables. A disease of the tables follows only from what the
    tables relate it to. A growth never causes a growth.
    """
    if parse_name(item.name).noun == parse_name(cause.name).noun:
        return False  # 'leprosy due to lepromatous leprosy' gives one disease twice
    if cause.link in ("with", "shown") and described(item.name):
        return True
    name = _complete_name(item.name)
    if cause.link == "due" and (effect(name) or not (_grown(name, cause.name) or in_tables(name))):
        return True
    related = relation(name, cause.name)
    return related == "complication" or (cause.link == "due" and related is not None)


def _complete_name(name: str) -> str:
    """The last complete name of a disease within a phrase ('pneumonia' of 'pneumonia flare'), or else the phrase."""
    within = names_within(name)
    return within[-1].name if within else name


def _caused(name: str, cause: Asserted) -> bool:
    """Whether a disease is a typical effect, or by the tables a complication of `cause`, which is named later."""
    return effect(name) or any(relation(name, one) == "complication" for one in (cause.name, *cause.aliases))


_DESCRIBING = RootWords("anomaly malformation abnormality syndrome disorder")


@lru_cache(maxsize=4096)
def described(name: str) -> bool:
    """Whether a phrase only describes the disease beside it: 'complex congenital syndrome', 'cervical anomaly'."""
    words = tuple(parse_name(name).head.words)
    return bool(words) and words[-1] in _DESCRIBING and not in_tables(name)


def _grown(one: str, other: str) -> bool:
    return all(GROWTH.search(parse_name(name).noun) for name in (one, other))


def leads_to(first: str, other: str, truth: str) -> bool:
    """Whether `first` leads to `other`, so that an answer with both commits to `other` as well.

    This is so if the truth itself names `first`, if the tables know `other` as a complication of it, or if `other` is a
    state that always has a cause ('pulmonary vein occlusion') and the truth names no other cause.
    """
    if parse_name(first).noun == parse_name(other).noun:
        return False  # 'leprosy with lepromatous leprosy' gives one disease twice
    if _named_by(truth, first):
        return True
    if core(parse_name(truth).cause.words) and not relation(other, first):
        return False
    if general(other):
        return False
    if effect(other) and not general(first):
        return True
    return relation(other, first) == "complication"


def explanatory(items: Sequence[Asserted], head: int, foreign: Sequence[int]) -> list[int]:
    """The unrelated diseases that only explain the head: what it presents with, and its causes.

    They are no further answers. Only the disease that is asserted first is explained in this way. More than one
    manifestation, or more than two causes, are a list and explain nothing.
    """
    if head:
        return []
    manifest = [place for place in foreign if items[place].link == "shown"]
    causes = [place for place, item in enumerate(items) if item.link == "due"]
    return [
        *(manifest if len(manifest) <= MOST_FOREIGN else ()),
        *(place for place in causes if place in foreign and len(causes) <= MOST_CAUSES),
    ]


def _states_cause(truth: str, item: Asserted) -> bool:
    """Whether a cause in the answer contains everything that the truth says of the disease's cause."""
    cause = core(parse_name(truth).cause.words)
    return bool(cause) and item.link == "due" and cause <= parse_name(item.text).words


def _named_by(truth: str, name: str) -> bool:
    """Whether the truth contains the noun and all distinctive words of a disease, as its cause or beside it."""
    whole, said = parse_name(truth).words, parse_name(name)
    return said.noun in whole and all(word in whole for word in said.words if weight(word) == 1.0)


def foreign(
    items: Sequence[Asserted], head: int, belongs: Sequence[bool], parts: Sequence[str], past: str, truth: str
) -> list[int]:
    """The positions of asserted diseases that are unrelated to the truth; the head is never among them.

    The tables of `relations` take seconds to load, so they are asked last, and only if they can change the result.
    """
    others = [place for place in range(len(items)) if place != head and not belongs[place]]
    history = f" {key(past)} "
    others = [place for place in others if not _in_past(items[place], history)]
    others = [place for place in others if not _named_by(truth, items[place].name)]
    others = [place for place in others if not _states_cause(truth, items[place])]
    free = [place for place in others if _goes_along(items[place])][:MOST_CONSEQUENCES]
    others = [place for place in others if place not in free and not (place < head and described(items[place].name))]
    others = [place for place in others if not _follows_from(items[place], parts)]
    if len(others) <= MOST_FOREIGN:
        return others
    return [place for place in others if not _related(items[place], items[head].name, parts)]


def _goes_along(item: Asserted) -> bool:
    """Whether a phrase is a consequence of the disease beside it: a bare word ('fever'), or joined as one ('with').

    One with a longer name may be a rival of the disease before it ('pneumonia, pulmonary embolism'); then the tables
    decide.
    """
    name = clinical(item.name)
    if not consequence(name):
        return False
    return item.link in ("with", "then", "shown", "due") or not disease_like(name) or len(parse_name(name).words) == 1


def _follows_from(item: Asserted, parts: Sequence[str]) -> bool:
    """Whether a phrase is a consequence of a part by the project's own tables, which are quick to ask."""
    return consequence(item.name) and any(complicates(item.name, part) for part in parts)


def most_beside(answer: str, said: Sequence[bool]) -> int:
    """Most unrelated diseases that an answer may assert besides the truth; `said` tells which parts it states.

    A list with bullets or numbers may assert none, unless the truth has several parts and the list states them all.
    """
    return 0 if is_marked_list(answer) and not (len(said) > 1 and all(said)) else MOST_FOREIGN


def _related(item: Asserted, head: str, parts: Sequence[str]) -> bool:
    """Whether the tables relate a disease to a part of the truth, as more than a complication with another organism."""
    related = {relation(item.name, part) for part in parts}
    return bool(related - {None}) and not (related <= {None, "complication"} and other_agent(item.name, head))


def _in_past(item: Asserted, history: str) -> bool:
    return any(f" {key(name)} " in history for name in (item.name, expanded(item.name)) if key(name))
