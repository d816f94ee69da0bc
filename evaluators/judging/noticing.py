"""Whether a judge says of itself that a text spoke to it: a sign in any language, where the judge is a model."""

from wardround.evaluators.judging.payload import Payload, field, payload, single

FIELD = "addressed"
"""The field of a reply in which a judge says so (prompts/judge/system.md)."""
NOTICED = "noticed_by_judge"
"""The flag of a text of which a judge said so."""


def noticing(reply: str) -> bool:
    """Whether the JSON of a reply says it; what is not plainly true is no."""
    if FIELD not in reply:
        return False
    held = payload(reply)
    return isinstance(held, Payload) and field(single(held.value), (FIELD,)) is True
