"""Parsers that read a doctor's reply as the published code of MultiCogEval, MedR-Bench and AgentClinic does.

Work-up (MultiCogEval): `action`, `read_move`. Staged scenarios (MedR-Bench): `published_sections`, `reasoning_steps`,
`read_stage`. Consultation (AgentClinic): `read_talk`.
"""

import re
from typing import Literal, NamedTuple

import msgspec

from wardround.engine.models.reply import split_thinking
from wardround.scenarios.parsers.moves import Conclusion, DoctorOrder, Move, PatientQuestion, Pick, Unusable
from wardround.scenarios.parsers.reply_text import clean_value, final_answer, listed_names, requested_tests
from wardround.scenarios.published.imaging_words import Absent

Listed = Literal["lab", "microbiology", "imaging"]
HEADINGS: dict[Listed, str] = {
    "imaging": "Imaging scans:",
    "lab": "Lab Tests:",
    "microbiology": "Microbiology tests:",
}
CODES: dict[Listed, str] = {"imaging": "IMAGE_s", "lab": "LAB_s", "microbiology": "MICRO_s"}
_CHOICES = ("PE", "LAB_s", "LAB", "IMAGE_s", "IMAGE", "MICRO_s", "MICRO", "OUTPUT")


class BothAnswers(NamedTuple):
    """The diagnosis and the treatment, which end an encounter together."""

    diagnosis: str
    treatment: str


class PublishedReply(msgspec.Struct, frozen=True):
    """What the published parser reads from a reply.

    `kept` is the part of the reply that stays in the conversation. `result` is the text that is searched for an
    action's name; it is empty if the reply has both `answers`.
    """

    kept: str
    result: str = ""
    answers: BothAnswers | None = None

    @property
    def choice(self) -> str:
        """The action: the first name, in their fixed order, that occurs in `result`; '' if none does."""
        return next((name for name in _CHOICES if name in self.result), "")


def action(reply: str) -> PublishedReply:
    """Read a reply from its last `Rationale:` on: a list's heading, else both answers, else what `Action:` names.

    Without any of these, the whole text is searched for the name of an action.
    """
    if "Rationale:" in reply:
        reply = "Rationale:" + reply.rpartition("Rationale:")[2]
    for kind, heading in HEADINGS.items():
        if heading in reply:
            return PublishedReply(reply, CODES[kind])
    if "Diagnosis:" in reply and "Treatment:" in reply:
        return PublishedReply(reply, answers=BothAnswers(_first(reply, "Diagnosis"), _rest(reply)))
    if "Action:" in reply:
        chosen = _last_line(reply, "Action:") or re.search("Action:(.*)\n", reply, re.IGNORECASE)
        assert chosen is not None  # "Action:" is in the last line or has a line after it
        name = chosen[1].strip()
        return PublishedReply(f"{reply.split('Action: ')[0]}Action: {name}", name)
    return PublishedReply(reply, reply)


def _first(reply: str, heading: str) -> str:
    """The text after the first heading that has a line after it, else the text after the heading in the last line."""
    match = re.search(f"{heading}:(.*)\n", reply, re.IGNORECASE) or _last_line(reply, f"{heading}:")
    return match[1].strip() if match else "None"


def _last_line(reply: str, heading: str) -> re.Match[str] | None:
    return re.search(rf"{heading}(.*)\Z", reply, re.IGNORECASE)


def _rest(reply: str) -> str:
    match = re.search(r"Treatment:(.*)\Z", reply, re.IGNORECASE | re.DOTALL)
    return match[1].strip() if match else "None"


MOST = 10
"""Most steps of a reply that the published code reads."""

_HEADS = {
    "one_turn": ("### Conclusion:", "### Additional Information Required:"),
    "free_turn": ("### Additional Information Required:", "### Conclusion:"),
}
STEP = re.compile(r"<step\s+\d+>\s*(.*?)(?=\n<step\s+\d+>|$)", re.DOTALL)


def published_sections(reply: str, protocol: str) -> tuple[str, str]:
    """Split a reply into (conclusion, requested information).

    `protocol` is one_turn or free_turn; each has its own order of the two headings. Raises Absent if the two headings
    are not in that order.
    """
    first, second = _HEADS[protocol]
    _, has_first, rest = reply.partition(first)
    one, also, other = rest.partition(second)
    if not (has_first and also):
        raise Absent("no_sections", "Could not parse answer format - missing expected sections")
    parts = {first: one.strip(), second: other.strip()}
    return parts["### Conclusion:"], parts["### Additional Information Required:"]


def stops(information: str) -> bool:
    """Whether this request ends the free-turn dialogue: it contains 'Not required'."""
    return "Not required" in information


def reasoning_steps(reply: str) -> list[str]:
    """The first ten steps of a reply: by its tags, else its paragraphs, else its lines.

    Empty steps among the ten are left out here; the published code asks its judge about them too. Raises Absent if the
    reply lacks the heading '### Reasoning:' (`no_heading`), or has no text under it (`no_reasoning`).
    """
    text = reply.replace("```", "").strip()
    if "### Reasoning:" not in text:
        raise Absent("no_heading", "the reply has no heading '### Reasoning:'; the published code loses its steps")
    text = text.split("### Reasoning:")[1].strip().split("### Answer:")[0].strip()
    tagged = [step.strip() for step in STEP.findall(text)]
    steps = (tagged or text.split("\n\n" if "\n\n" in text else "\n"))[:MOST]
    kept = [step for step in steps if step.strip()]
    if not kept:
        raise Absent("no_reasoning", "nothing stands under the heading; the published code has one empty step there")
    return kept


_READY, _TEST = "DIAGNOSIS READY", "REQUEST TEST"
_NOTHING = "..."


def read_talk(text: str) -> DoctorOrder | PatientQuestion | Conclusion:
    """Read the move in `text`, a reply of a consultation. No reply is unusable, so every reply uses up a turn.

    `DIAGNOSIS READY` anywhere concludes; otherwise `REQUEST TEST` anywhere orders. Both count only in capitals.
    Everything else, even an empty reply, goes to the patient. The text of an order is the whole reply, since the
    published code shows all of it to its measurement agent.
    """
    text = " ".join(split_thinking(text)[0].split())
    if _READY in text:
        return Conclusion(clean_value(text.rpartition(_READY)[2]) or text)
    if _TEST in text:
        asked = text.partition(_TEST)[2].replace(_TEST, ",")
        names = requested_tests(asked.replace("_", " ").replace("[", " ").replace("]", " ").lstrip(" :"))
        return DoctorOrder("any", tuple(dict.fromkeys(names)), text)
    return PatientQuestion(text or _NOTHING)


_PICKS = {
    "PE": Pick("examination"),
    "LAB": Pick("lab"),
    "IMAGE": Pick("imaging"),
    "MICRO": Pick("microbiology"),
    "OUTPUT": Pick("output"),
}
_LISTS: dict[str, Listed] = {code: kind for kind, code in CODES.items()}


def read_move(text: str) -> Move:
    """Read the move in `text`, a reply of a work-up, by substrings in exact case; an answer must have a treatment too.

    The text of an order is everything that the published parser keeps, since the published examiner extracts the list
    from it.
    """
    said = action(text)
    if said.answers:
        return Conclusion(said.answers.diagnosis)
    if said.choice in _LISTS:
        kind = _LISTS[said.choice]
        return DoctorOrder(kind, listed_names(said.kept.rpartition(HEADINGS[kind])[2]), said.kept)
    return _PICKS.get(said.choice) or Unusable(
        "unreadable", "the reply names no action as the published parser wants it"
    )


TRIES = 3
"""How often the one-turn scenario tries a case from its first message before it gives the case up."""


def read_stage(text: str, game: str, *, last: bool) -> DoctorOrder | Conclusion | Unusable:
    """Read the move in `text`, a reply of `game`: one-turn, free-turn, oracle or treatment.

    Free turns: the dialogue ends if the request contains 'Not required', and with the last turn in any case. One turn:
    the first reply is a request even if it requires nothing. Each of the two has its headings in an order of its own.
    The last reply of one turn, and the only reply of oracle and treatment, need no headings.
    """
    text = split_thinking(text)[0].replace("```", "").strip()
    if not text:
        return Unusable("empty", "the reply is empty")
    if game != "free-turn" and last:
        return Conclusion(final_answer(text, goal="") or text)
    try:
        conclusion, wanted = published_sections(text, game.replace("-", "_"))
    except Absent:
        return Unusable("unreadable", "the two headings do not stand in the order that the published code wants")
    if game == "free-turn" and (last or stops(wanted)):
        return Conclusion(conclusion) if conclusion else Unusable("empty", "the reply concludes nothing")
    return DoctorOrder("any", requested_tests(wanted), wanted)
