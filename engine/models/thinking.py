"""Takes the thinking part of a model's text from its answer part."""

import re

_TAG = re.compile(r"<(/?)think>", re.IGNORECASE)


def split_thinking(text: str) -> tuple[str, str]:
    """(answer, thinking) of a text.

    Only a `<think>` block that opens the text counts: a later one is something the answer talks about. A block that is
    never closed is all thinking. Blocks within the block belong to it. A text that begins inside the block (the chat
    template of several models has written the opening tag itself, so that only `</think>` comes) is split there.
    A text without such a block comes back unchanged.
    """
    first = _TAG.search(text)
    if first is None:
        return text, ""
    if first[1]:
        return text[first.end() :].lstrip(), text[: first.start()].strip()
    if text[: first.start()].strip():
        return text, ""
    close = _close(text, first.end())
    if close is None:
        return "", text[first.end() :].strip()
    return text[close.end() :].lstrip(), text[first.end() : close.start()].strip()


def _close(text: str, start: int) -> re.Match[str] | None:
    """The tag that closes a block: where opening and closing tags balance, else the last closing one."""
    depth, last = 1, None
    for tag in _TAG.finditer(text, start):
        depth += -1 if tag[1] else 1
        if tag[1]:
            last = tag
        if depth == 0:
            return tag
    return last
