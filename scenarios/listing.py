"""Splitting a written list of tests into its items."""

import re

_MARKER = re.compile(r"^\s*(?:[-*•·–—+>]+|\(?\d{1,3}[.)](?!\d)|\(?[a-z]\))\s*", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[\w)]{3})\.\s+(?=[A-Z][a-z]+\s+[a-z])")
_LEADING = re.compile(r"^(?:and|or|plus|also|including)\s+", re.IGNORECASE)
_INNER_NUMBER = re.compile(r"(?:(?<=^)|(?<=[,;\s]))\(?\d{1,2}[.)]\s+")
_NOTHING = frozenset({"none", "n/a", "na", "nil", "nothing", "no", "not required", "not needed", "none required"})
_LONGEST = 300
_MOST = 200


def items(text: str) -> tuple[str, ...]:
    """The items of a list: one a line, bulleted, numbered, or parted by commas or semicolons outside brackets.

    'and' inside an item is left alone ('ova and parasites'). A sentence that follows the list is no item, nor is
    'none'. At most 200 items of at most 300 characters: what is longer is no name of a test.
    """
    found: dict[str, str] = {}
    for line in text.splitlines():
        for part in _parts(_SENTENCE.split(_unmarked(line), maxsplit=1)[0]):
            name = _LEADING.sub("", part.strip(" \t.;,:*_`\"'")).strip()
            if name and len(name) <= _LONGEST and name.lower() not in _NOTHING:
                found.setdefault(name.lower(), name)
                if len(found) == _MOST:
                    return tuple(found.values())
    return tuple(found.values())


def _unmarked(line: str) -> str:
    """The line without its bullet or number, and without numbers that open its inner items ('1. CBC, 2. BMP')."""
    return _INNER_NUMBER.sub(", ", _MARKER.sub("", line.replace("**", "")))


def _parts(line: str) -> list[str]:
    """`line` split at commas and semicolons outside brackets."""
    parts, depth, begin = [], 0, 0
    for index, sign in enumerate(line):
        if sign in "([":
            depth += 1
        elif sign in ")]":
            depth = max(0, depth - 1)
        elif sign in ",;，；、" and depth == 0:
            parts.append(line[begin:index])
            begin = index + 1
    parts.append(line[begin:])
    return parts


_LABEL = re.compile(r"^(?P<label>[^:(\[]{1,80}):\s+(?P<rest>\S.*)$")
_GROUP = re.compile(
    r"(?i)^(?:additional |further |other |specific |detailed |repeat |advanced |routine )*(?:lab(?:oratory)?|blood|"
    r"serum|urine|imaging|radiolog\w*|microbiolog\w*|patholog\w*|histolog\w*|histopatholog\w*|genetic\w*|molecular|serolog\w*|"
    r"immunolog\w*|endocrin\w*|hormon\w*|physical|clinical|neurolog\w*|cardiac|functional|ancillary|diagnostic|history|"
    r"tests?|procedures?|others?)\b"
)
_REASON = re.compile(
    r"(?i)^(?:to|for|if|in order|as|because|evaluate|assess|check|confirm|rule|exclude|look|determine)\b"
)


def requests(text: str) -> tuple[str, ...]:
    """The items of a request under headings ('1. Laboratory tests: CBC, CRP', '2. CT: to exclude an abscess').

    A label that names a group of tests is left out, and so is the reason that follows a test's name.
    """
    lines = []
    for line in text.splitlines():
        match = _LABEL.match(_MARKER.sub("", line.replace("**", "")).strip())
        if match is None:
            lines.append(line)
        elif _GROUP.match(match["label"]) and not _REASON.match(match["rest"]):
            lines.append(match["rest"])
        else:
            lines.append(match["label"] if _REASON.match(match["rest"]) else f"{match['label']}, {match['rest']}")
    return items("\n".join(lines))
