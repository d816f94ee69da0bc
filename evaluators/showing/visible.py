"""Text of others as it may stand in a page: what would hide, reorder or break something is made visible."""

import re

_HIDDEN = re.compile(
    "[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    """`text` with control characters, signs that turn the direction of writing, and unseen letters as ‹U+202E›.

    A page that shows a quotation must not let it hide words from its reader, or write over those beside it.
    """
    return _HIDDEN.sub(_named, text)


def shortened(text: str, most: int) -> str:
    """The first `most` characters and how many follow."""
    return text if len(text) <= most else f"{text[:most].rstrip()} … ({len(text) - most:,} characters more)"


def _named(match: re.Match[str]) -> str:
    return f"\u2039U+{ord(match[0]):04X}\u203a"
