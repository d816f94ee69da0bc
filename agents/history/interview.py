"""One question of an interview, answered from a patient's story in the patient's words.

::

    answer_from_story({"History": "I have had a cough for two weeks."}, "Cough", ["And since when?"])

No model is asked and nothing is drawn at random: the same question gets the same answer.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache

import msgspec

from wardround.agents.history import question_kinds, speech
from wardround.agents.history.facts import Fact, story_facts
from wardround.agents.history.figures import SILENT, Weights
from wardround.agents.history.recall import Memory, Recollection
from wardround.agents.history.voice import PatientVoice, patient_voice
from wardround.agents.history.weighing import weigh

MOST = 3
"""The most questions of a turn that are answered, and the most sentences of an answer."""
_QUESTIONS_BEFORE = 6
"""How many earlier questions say what 'it' is."""

_PLAIN = {
    "unknown": speech.UNKNOWN,
    "unnoticed": speech.UNNOTICED,
    "family": speech.NO_RELATIVE,
    "opinion": speech.OPINION,
    "results": speech.RESULTS,
    "greeting": speech.GREETING,
    "nothing_more": speech.NOTHING_MORE,
}


_DENIALS = (speech.UNKNOWN, speech.UNNOTICED, speech.NO_RELATIVE)


class PatientReply(msgspec.Struct, frozen=True):
    """What the patient says, and the sections of the story and the sentences that it comes from."""

    text: str
    facts: tuple[Fact, ...]

    @property
    def sections(self) -> tuple[str, ...]:
        """The sections that the sentences stand in."""
        return tuple(fact.section for fact in self.facts)


@lru_cache(maxsize=256)
def memory_of(story: tuple[tuple[str, str], ...], complaint: str) -> tuple[Memory, PatientVoice]:
    """What a patient of this story remembers, and its voice."""
    sheet = dict(story)
    return Memory(story_facts(sheet, complaint)), patient_voice(sheet, complaint)


def answer_from_story(
    story: Mapping[str, str], complaint: str, asked: Sequence[str], before: str = "", weights: Weights | None = None
) -> PatientReply:
    """The answer to the last question of `asked`; `before` is what the patient has said so far.

    `weights` replace the fitted ones, for instance to measure on the questions of authors that were left out of a fit.
    """
    memory, voice = memory_of(tuple(story.items()), complaint)
    if not memory.facts:
        return PatientReply(speech.UNKNOWN, ())
    earlier = [
        question_kinds.parse_question(part)
        for text in reversed(asked[-_QUESTIONS_BEFORE:-1])
        for part in reversed(question_kinds.split_questions(text))
    ]
    said: list[tuple[str, tuple[Fact, ...]]] = []
    parts = question_kinds.split_questions(asked[-1]) if asked else []
    if len(parts) == 1 and question_kinds.GREETING.search(parts[0]) and not question_kinds.OPENING.search(parts[0]):
        return PatientReply(speech.GREETING, ())
    silent = untold = False
    for place, part in enumerate(parts[:MOST]):
        question = question_kinds.parse_question(part)
        if place and silent and question.bare and not question.words:
            continue
        others = [one for one in earlier if one.text != question.text]  # asked again, it is answered as before
        recalled = weigh(memory, question, others, memory.recall(question, others, before.lower()), weights)
        silent = recalled.kind in SILENT
        untold = untold or silent or recalled.nearest
        lines = say(recalled, voice)
        each = (
            [(fact,) for fact in recalled.facts] if len(lines) == len(recalled.facts) else [recalled.facts] * len(lines)
        )
        for line, facts in zip(lines, each, strict=True):
            if all(_bare(line) != _bare(other) for other, _ in said):
                said.append((line, facts))
        earlier.insert(0, question)
    known = [one for one in said if one[0] not in _DENIALS]
    kept = known[:MOST] or said[:1]
    if known and untold:
        kept.append((speech.REST_UNKNOWN, ()))
    cited = tuple(dict.fromkeys(fact for _, facts in kept for fact in facts))
    return PatientReply(" ".join(line for line, _ in kept) or speech.UNKNOWN, cited)


def _bare(line: str) -> str:
    return line.removeprefix("Yes. ").removeprefix("No. ")


def say(recalled: Recollection, voice: PatientVoice) -> list[str]:
    """The sentences that tell what was recalled."""
    if recalled.kind == "no":
        return (
            [speech.say_denied(recalled.denied)]
            if recalled.denied
            else [f"No. {speech.say_fact(recalled.facts[0], voice)}"]
        )
    if recalled.kind == "age":
        return [speech.say_age(recalled.facts[0], voice)]
    if recalled.kind in _PLAIN:
        return [_PLAIN[recalled.kind]]
    lines = [speech.say_fact(fact, voice) for fact in recalled.facts]
    return [f"Yes. {lines[0]}", *lines[1:]] if recalled.kind == "yes" else lines
