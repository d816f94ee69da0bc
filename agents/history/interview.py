"""One question of an interview, answered from a patient's story.

reply({"History": "I have had a cough for two weeks."}, "Cough", ["And since when?"])
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from wardround.agents.history import questions, wording
from wardround.agents.history.facts import story_facts
from wardround.agents.history.recall import Memory, Recollection

MOST = 3
_EARLIER = 6
"""How many earlier questions say what 'it' is."""

_PLAIN = {
    "unknown": wording.UNKNOWN,
    "unnoticed": wording.UNNOTICED,
    "family": wording.NO_RELATIVE,
    "opinion": wording.OPINION,
    "results": wording.RESULTS,
    "greeting": wording.GREETING,
    "nothing_more": wording.NOTHING_MORE,
}


@dataclass(frozen=True, slots=True)
class PatientReply:
    """What the patient says, and the sections of the story that it comes from."""

    text: str
    sections: tuple[str, ...]


@lru_cache(maxsize=256)
def _memory(story: tuple[tuple[str, str], ...], complaint: str) -> tuple[Memory, wording.Speaker]:
    sheet = dict(story)
    return Memory(story_facts(sheet, complaint)), wording.speaker_of(sheet, complaint)


def answer_from_story(story: Mapping[str, str], complaint: str, asked: Sequence[str], before: str = "") -> PatientReply:
    """The answer to the last question of `asked`; `before` is what the patient has said so far."""
    memory, voice = _memory(tuple(story.items()), complaint)
    if not memory.facts:
        return PatientReply(wording.UNKNOWN, ())
    earlier = [
        questions.parse_question(part)
        for text in reversed(asked[-_EARLIER:-1])
        for part in reversed(questions.split_questions(text))
    ]
    said: list[str] = []
    sections: list[str] = []
    parts = questions.split_questions(asked[-1]) if asked else []
    if len(parts) == 1 and questions.GREETING.search(parts[0]) and not questions.OPENING.search(parts[0]):
        return PatientReply(wording.GREETING, ())
    for part in parts[:MOST]:
        question = questions.parse_question(part)
        recalled = memory.recall(question, earlier, before.lower())
        said += [line for line in _lines(recalled, voice) if line not in said]
        sections += [fact.section for fact in recalled.facts]
        earlier.insert(0, question)
    known = [line for line in said if line not in (wording.UNKNOWN, wording.UNNOTICED)]
    return PatientReply(" ".join((known or said)[:MOST]) or wording.UNKNOWN, tuple(sections))


def _lines(recalled: Recollection, voice: wording.Speaker) -> list[str]:
    if recalled.kind == "no":
        return (
            [wording.say_denied(recalled.denied)]
            if recalled.denied
            else [f"No. {wording.say_fact(recalled.facts[0], voice)}"]
        )
    if recalled.kind == "age":
        return [wording.say_age(recalled.facts[0], voice)]
    if recalled.kind in _PLAIN:
        return [_PLAIN[recalled.kind]]
    lines = [wording.say_fact(fact, voice) for fact in recalled.facts]
    return [f"Yes. {lines[0]}", *lines[1:]] if recalled.kind == "yes" else lines
