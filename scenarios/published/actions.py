"""A doctor's reply under the published rules: which action it is."""

import re
from dataclasses import dataclass
from typing import Literal

Listed = Literal["lab", "microbiology", "imaging"]
HEADINGS: dict[Listed, str] = {
    "imaging": "Imaging scans:",
    "lab": "Lab Tests:",
    "microbiology": "Microbiology tests:",
}
CODES: dict[Listed, str] = {"imaging": "IMAGE_s", "lab": "LAB_s", "microbiology": "MICRO_s"}
_CHOICES = ("PE", "LAB_s", "LAB", "IMAGE_s", "IMAGE", "MICRO_s", "MICRO", "OUTPUT")


@dataclass(frozen=True, slots=True)
class Reply:
    """What the published parser makes of a reply.

    `result` is the text that is searched for an action's name, or (diagnosis, treatment) if `finished`; `kept` is the
    part of the reply that stays in the conversation.
    """

    result: str | tuple[str, str]
    finished: bool
    kept: str

    @property
    def choice(self) -> str:
        """The action: the first of the names, in their fixed order, that occurs in `result`; '' for none."""
        if self.finished or isinstance(self.result, tuple):
            return ""
        return next((name for name in _CHOICES if name in self.result), "")


def action(reply: str) -> Reply:
    """Read a reply: what follows its last `Rationale:`; a list's heading; both answers; else what `Action:` says."""
    if "Rationale:" in reply:
        reply = "Rationale:" + reply.rpartition("Rationale:")[2]
    for kind, heading in HEADINGS.items():
        if heading in reply:
            return Reply(CODES[kind], False, reply)
    if "Diagnosis:" in reply and "Treatment:" in reply:
        return Reply((_first(reply, "Diagnosis"), _rest(reply)), True, reply)
    if "Action:" in reply:
        chosen = _last_line(reply, "Action:") or re.search("Action:(.*)\n", reply, re.IGNORECASE)
        assert chosen is not None  # "Action:" stands in the last line or has a line after it
        name = chosen[1].strip()
        return Reply(name, False, f"{reply.split('Action: ')[0]}Action: {name}")
    return Reply(reply, False, reply)


def _first(reply: str, heading: str) -> str:
    """What follows the first heading that has a line after it, else that in the last line."""
    found = re.search(f"{heading}:(.*)\n", reply, re.IGNORECASE) or _last_line(reply, f"{heading}:")
    return found[1].strip() if found else "None"


def _last_line(reply: str, heading: str) -> re.Match[str] | None:
    return re.search(rf"{heading}(.*)\Z", reply, re.IGNORECASE)


def _rest(reply: str) -> str:
    found = re.search(r"Treatment:(.*)\Z", reply, re.IGNORECASE | re.DOTALL)
    return found[1].strip() if found else "None"
