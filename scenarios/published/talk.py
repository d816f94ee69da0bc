"""The consultation's parser under the published rules of AgentClinic: a doctor's reply as a move."""

from wardround.scenarios.listing import requests
from wardround.scenarios.moves import Conclusion, Order, Question
from wardround.scenarios.reading import answer_part, clean

_READY, _TEST = "DIAGNOSIS READY", "REQUEST TEST"
_NOTHING = "..."


def read(text: str) -> Order | Question | Conclusion:
    """The move in `text`: no reply is unusable, so that each one uses up a turn.

    `DIAGNOSIS READY` anywhere concludes, and is looked for first; `REQUEST TEST` anywhere orders; both in capitals.
    Everything else, an empty reply too, is put to the patient. An order's text is the whole reply, as the published
    measurement agent is shown it.
    """
    text = " ".join(answer_part(text).split())
    if _READY in text:
        return Conclusion(clean(text.rpartition(_READY)[2]) or text)
    if _TEST in text:
        asked = text.partition(_TEST)[2].replace(_TEST, ",")
        names = requests(asked.replace("_", " ").replace("[", " ").replace("]", " ").lstrip(" :"))
        return Order("any", tuple(dict.fromkeys(names)), text)
    return Question(text or _NOTHING)


def same(reply: str) -> bool:
    """Whether the moderator's reply says that two diagnoses are the same: 'yes' in any case, and not a sign more."""
    return reply.lower() == "yes"
