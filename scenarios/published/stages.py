"""The parser of the staged games under the published rules of MedR-Bench: a doctor's reply as a move."""

from wardround.scenarios.listing import requests
from wardround.scenarios.moves import Conclusion, Order, Unusable
from wardround.scenarios.published import reports
from wardround.scenarios.published.tables import Absent
from wardround.scenarios.reading import answer, answer_part

TRIES = 3
"""How often the one-turn game is begun anew from its first message before the case is given up."""


def read(text: str, game: str, *, last: bool) -> Order | Conclusion | Unusable:
    """The move in `text`, a reply of `game`: one-turn, free-turn, oracle or treatment.

    Free turns: the dialogue ends where the request holds 'Not required', and with the last turn whatever it requests.
    One turn: the first reply is a request even if nothing is required. Each has its two headings in an order of its
    own; the last reply of one turn, and the only one of the other games, is not parsed at all.
    """
    text = answer_part(text).replace("```", "").strip()
    if not text:
        return Unusable("empty", "the reply is empty")
    if game != "free-turn" and last:
        return Conclusion(answer(text, goal="") or text)
    try:
        conclusion, wanted = reports.sections(text, game.replace("-", "_"))
    except Absent:
        return Unusable("unreadable", "the two headings do not stand in the order that the published code wants")
    if game == "free-turn" and (last or reports.stops(wanted)):
        return Conclusion(conclusion) if conclusion else Unusable("empty", "the reply concludes nothing")
    return Order("any", requests(wanted), wanted)
