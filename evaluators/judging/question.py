"""One question to a judge: which prompt, and the texts it is about, each with whose words they are."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from wardround.engine.records import Json
from wardround.evaluators.judging.noticing import FIELD

LONGEST = 24_000
"""Characters that a judge is shown of a text for which nothing else is said."""

Origin = Literal["case", "reference", "reply", "page"]
"""Whose words a text is: the case's, its reference's, the judged reply's, a page's or passage's."""


class Material(msgspec.Struct, frozen=True):
    """A text to judge or to judge by, under a `label` that the prompt and every judge know it by.

    Of one of more than `longest` characters a prompt shows the beginning and the end.
    """

    label: str
    text: str
    origin: Origin
    longest: int = LONGEST


class Question(msgspec.Struct, frozen=True):
    """What is asked: `name` is that of its prompt (prompts/judge/NAME.md) and the purpose of the call.

    The same under other `rules` has a prompt of its own, NAME_RULES.md, and readers and judges know it by its name.
    `materials` fill the prompt's placeholder `materials`, fenced off from it; `said` fills its others, with our own
    words only. `shape` is the JSON schema of the reply; empty where it is plain text.
    """

    name: str
    materials: tuple[Material, ...]
    said: Mapping[str, str] = {}
    shape: Mapping[str, Json] = {}
    rules: str = ""

    @property
    def prompt(self) -> str:
        """The name of its prompt."""
        return f"judge/{self.name}_{self.rules}" if self.rules else f"judge/{self.name}"

    def text(self, label: str) -> str:
        """The text under `label`, "" if there is none."""
        return next((material.text for material in self.materials if material.label == label), "")

    def swapped(self) -> "Question":
        """The same with the materials in the opposite order."""
        return msgspec.structs.replace(self, materials=self.materials[::-1])


def shape(**fields: Json) -> dict[str, Json]:
    """The JSON schema of an object with exactly these fields, as strict endpoints want it."""
    return _object(fields)


def reply(**fields: Json) -> dict[str, Json]:
    """The same for a whole reply, which also says whether a text spoke to the judge."""
    return _object({**fields, FIELD: {"type": "boolean"}})


def _object(fields: dict[str, Json]) -> dict[str, Json]:
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
