"""Parsing of case reports and staged replies under the published rules of MedR-Bench."""

import re

from wardround.scenarios.published.tables import Absent

MOST = 10
"""Steps of a reply that the published code looks at."""

_TESTS = "Ancillary Tests"
_HEADS = {
    "one_turn": ("### Conclusion:", "### Additional Information Required:"),
    "free_turn": ("### Additional Information Required:", "### Conclusion:"),
}
STEP = re.compile(r"<step\s+\d+>\s*(.*?)(?=\n<step\s+\d+>|$)", re.DOTALL)


def ancillary_split(summary: str) -> tuple[str, str]:
    """(open part, hidden part): cut before the first line that names ancillary tests. Raises Absent without one."""
    lines = summary.strip().split("\n")
    for place, line in enumerate(lines):
        if _TESTS in line:
            return "\n".join(lines[:place]), "\n".join(lines[place:])
    raise Absent("no_tests", f"no line holds {_TESTS!r}; the published code stops")


def sections(reply: str, protocol: str) -> tuple[str, str]:
    """(conclusion, information required) of a reply to `protocol`: one_turn or free_turn, each with its own order.

    Raises Absent where the two headings do not stand in that order.
    """
    first, second = _HEADS[protocol]
    _, found, rest = reply.partition(first)
    one, also, other = rest.partition(second)
    if not (found and also):
        raise Absent("no_sections", "Could not parse answer format - missing expected sections")
    parts = {first: one.strip(), second: other.strip()}
    return parts["### Conclusion:"], parts["### Additional Information Required:"]


def stops(information: str) -> bool:
    """Whether the free-turn dialogue ends with this request."""
    return "Not required" in information


def reasoning_steps(reply: str) -> list[str]:
    """At most ten steps of a reply: by its tags, else its paragraphs, else its lines.

    Of the ten those are left out that hold nothing: there the published code asks its judge about an empty step. Raises
    Absent for a heading other than the one that it knows (`no_heading`), and where nothing stands under it.
    """
    text = reply.replace("```", "").strip()
    if "### Reasoning:" not in text:
        raise Absent("no_heading", "the reply has no heading '### Reasoning:'; the published code loses its steps")
    text = text.split("### Reasoning:")[1].strip().split("### Answer:")[0].strip()
    tagged = [step.strip() for step in STEP.findall(text)]
    found = (tagged or text.split("\n\n" if "\n\n" in text else "\n"))[:MOST]
    kept = [step for step in found if step.strip()]
    if not kept:
        raise Absent("no_reasoning", "nothing stands under the heading; the published code has one empty step there")
    return kept


def extracted_answer(reply: str) -> str:
    """What the accuracy judge is shown: all behind the last `### Answer`, without colons and line ends, else all."""
    _, found, rest = reply.rpartition("### Answer")
    return rest.replace("\n", "").replace(":", "") if found else reply
