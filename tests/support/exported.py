"""A scripted doctor that thinks, for runs that are exported: `scripted/exported:reply`."""

from collections.abc import Sequence

from clinic import lines

from wardround.engine.records import Completion, Message, Usage


def reply(messages: Sequence[Message], purpose: str) -> Completion:
    """The next line of the workup, with thinking and usage."""
    del purpose
    said = lines("workup", messages)
    thought = f"I have read {len(messages)} messages."
    return Completion(
        said, thinking=thought, finish="stop", model="m-1", usage=Usage(prompt=len(messages), completion=9)
    )
