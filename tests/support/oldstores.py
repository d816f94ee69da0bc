"""Who played and judged the runs of the kept stores (tests/fixtures/make_stores.py), whose headers name them.

What they say must stay as it is: a resumed run goes on with it, and a replay asks for nothing else. `asked` holds what
was asked of them since it was cleared. Where the variable KILL_AT is set, that call never comes back: the process is
killed in it, as by a power cut.
"""

import json
import os
import re
import signal
from collections.abc import Sequence

from curating import answered

from wardround.engine.errors import ProviderError
from wardround.engine.records import Action, Message, View

KILL_AT = "WARDROUND_FIXTURE_KILL_AT"
asked: list[tuple[str, tuple[str, ...]]] = []
"""Each call: its purpose, and the texts of its messages."""

_WORKUP = (
    "Rationale: I want to examine first.\nAction: PE",
    "Rationale: and blood.\nAction: LAB",
    "Rationale: these.\nLab Tests: White Blood Cells, Lipase",
    "Rationale: enough.\nAction: OUTPUT",
    "Diagnosis: Acute appendicitis",
)
_STAGED = (
    "### Chain of Thought:\n<step 1> The symptoms have lasted for months.\n\n### Conclusion:\nunclear\n\n"
    "### Additional Information Required:\n1. Ceruloplasmin\n2. MRI of the brain\n",
    "### Chain of Thought:\n<step 1> Copper is raised.\n\n### Additional Information Required:\nNot required.\n\n"
    "### Conclusion:\nWilson disease\n",
)
_ORACLE = ("### Reasoning:\n<step 1> Copper is raised.\n<step 2> It fits.\n\n### Answer:\nWilson disease",)
_TREATMENT = ("### Reasoning:\n<step 1> Copper must go.\n\n### Answer:\nPenicillamine",)
_CONSULTATION = ("ASK: Since when does it hurt?", "ORDER: White Blood Cells", "DIAGNOSIS: Acute appendicitis")
_PASSAGE = re.compile(
    r"^----- begin Passage 1 (\S+) -----\n(.*?)\n----- end Passage 1 \1 -----$", re.DOTALL | re.MULTILINE
)


def _met(messages: Sequence[Message], purpose: str) -> None:
    asked.append((purpose, tuple(message.content for message in messages)))
    if len(asked) == int(os.environ.get(KILL_AT, "0")):
        os.kill(os.getpid(), signal.SIGKILL)


def _line(lines: Sequence[str], messages: Sequence[Message]) -> str:
    said = sum(message.role == "assistant" for message in messages)
    return lines[min(said, len(lines) - 1)]


def workup(messages: Sequence[Message], purpose: str) -> str:
    """A doctor in `workup`."""
    _met(messages, purpose)
    return _line(_WORKUP, messages)


def staged(messages: Sequence[Message], purpose: str) -> str:
    """A doctor in `one-turn` and `free-turn`."""
    _met(messages, purpose)
    return _line(_STAGED, messages)


def oracle(messages: Sequence[Message], purpose: str) -> str:
    """A doctor in `oracle`."""
    _met(messages, purpose)
    return _line(_ORACLE, messages)


def treatment(messages: Sequence[Message], purpose: str) -> str:
    """A doctor in `treatment`."""
    _met(messages, purpose)
    return _line(_TREATMENT, messages)


def consultation(messages: Sequence[Message], purpose: str) -> str:
    """A doctor in `consultation`."""
    _met(messages, purpose)
    return _line(_CONSULTATION, messages)


def patient(messages: Sequence[Message], purpose: str) -> str:
    """A patient who says little."""
    _met(messages, purpose)
    return "For a day or so."


def forgetful(messages: Sequence[Message], purpose: str) -> str | ProviderError:
    """A doctor in `workup` whose context is short: it writes notes in its third turn, which makes three calls."""
    _met(messages, purpose)
    if purpose == "summarise":
        return "Examined; blood is wanted."
    noted = any("Examined; blood is wanted." in message.content for message in messages)
    if noted:
        return _line(_WORKUP[3:], messages)
    if sum(message.role == "assistant" for message in messages) == 2:
        return ProviderError("context_overflow", "this conversation is too long")
    return _line(_WORKUP, messages)


def unreachable(messages: Sequence[Message], purpose: str) -> ProviderError:
    """A doctor whose endpoint is down."""
    _met(messages, purpose)
    return ProviderError("server", "the endpoint answers 503")


def babble(messages: Sequence[Message], purpose: str) -> str:
    """A doctor whose replies cannot be read."""
    _met(messages, purpose)
    return "Hmm."


def judge(messages: Sequence[Message], purpose: str) -> str:
    """A judge who finds every step right and every answer wrong."""
    _met(messages, purpose)
    name, text = purpose.partition(" #")[0], messages[1].content
    if name == "keywords":
        return "wilson, copper, ceruloplasmin"
    passage = _PASSAGE.search(text)
    quote = passage[2].split(". ")[0] if passage else ""
    evidence = [{"passage": 1, "quote": quote}] if quote else []
    known: dict[str, object] = {
        "step_class": {"classification": "reasoning"},
        "judgment": {
            "judgment": "correct" if quote else "search",
            "keywords_to_search": "None",
            "evidence": evidence,
        },
        "reference": {"steps": ["What was found", "The answer"]},
        "found": {"found": True},
        "diagnosis": {"verdict": "incorrect"},
    }
    return json.dumps(known.get(name, {"verdict": "incorrect"}))


def curator(messages: Sequence[Message], purpose: str) -> str:
    """The curator without a language model."""
    _met(messages, purpose)
    return answered(messages)


class Broken:
    """A doctor that fails in its first act."""

    async def act(self, view: View) -> Action:
        """Raise."""
        raise ValueError(f"{view.seat} has lost the notes")
