"""Takes the thinking part from a recorded reply, however the recording wrote it down."""

import re

from wardround.engine.models.reply import split_thinking

# Replies of o3-mini in the published MedR-Bench results come from its web page: a first line "> Reasoning", a summary
# of the model's reasoning (with headings of its own, so headings are no border), and a line with the time it took.
_OPEN = re.compile(r"\s*> Reasoning[ \t]*\n")
_CLOSE = re.compile(r"^Reasoned (?:for|about) [^\n.,]{1,40}$\n?", re.MULTILINE)


def parted(content: str, thinking: str = "") -> tuple[str, str]:
    """(answer part, thinking part) of a recorded reply; `thinking` is what the recording already keeps apart.

    A `<think>` block that opens the content and a web page's "> Reasoning" section are thinking. A content that has
    neither is the answer, word for word, even if it reasons aloud: that is what the model said.
    """
    answer, within = split_thinking(content)
    opened = _OPEN.match(answer)
    closed = _CLOSE.search(answer, opened.end()) if opened else None
    if opened and closed:
        within = "\n\n".join(part for part in (within, answer[opened.end() : closed.start()].strip()) if part)
        answer = answer[closed.end() :].lstrip()
    return answer, "\n\n".join(part for part in (thinking.strip(), within) if part)
