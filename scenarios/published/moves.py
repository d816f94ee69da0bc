"""The work-up's parser under the published rules: a reply as a move."""

from wardround.scenarios.listing import items
from wardround.scenarios.moves import Conclusion, Move, Order, Pick, Unusable
from wardround.scenarios.published.actions import CODES, HEADINGS, Listed, action

_PICKS = {
    "PE": Pick("examination"),
    "LAB": Pick("lab"),
    "IMAGE": Pick("imaging"),
    "MICRO": Pick("microbiology"),
    "OUTPUT": Pick("output"),
}
_LISTS: dict[str, Listed] = {code: kind for kind, code in CODES.items()}


def read(text: str) -> Move:
    """The move in `text`: case-sensitive, by the parts of words it holds, with diagnosis and treatment together.

    An order's text is the whole of what the published parser keeps: its own examiner reads the list out of it.
    """
    said = action(text)
    if said.finished:
        return Conclusion(said.result[0])
    if said.choice in _LISTS:
        kind = _LISTS[said.choice]
        return Order(kind, items(said.kept.rpartition(HEADINGS[kind])[2]), said.kept)
    return _PICKS.get(said.choice) or Unusable(
        "unreadable", "the reply names no action as the published parser wants it"
    )
