"""Splitting a written list of tests into its items."""

import re

from wardround.engine.text import later

_MARKER = later(r"^\s*(?:[-*•·–—+>]+|\(?\d{1,3}[.)](?!\d)|\(?[a-z]\))\s*", re.IGNORECASE)
_SENTENCE = later(r"(?<=[\w)]{3})\.\s+(?=[A-Z][a-z]+\s+[a-z])")
_LEADING = later(r"^(?:and|or|plus|also|including)\s+", re.IGNORECASE)
_INNER_NUMBER = later(r"(?:(?<=^)|(?<=[,;\s]))\(?\d{1,2}[.)]\s+")
_OF_WHAT = (
    "no more other additional further new extra specific special ancillary diagnostic laboratory lab imaging tests? "
    "testing investigations? examinations? exams? information studies study work-?up evaluations? assessments? "
    "procedures? requests? questions? is are was were be needed required requested necessary indicated applicable "
    "available asked recommended performed done ordered warranted at this the time point moment now currently today of "
    "these those present stage"
)
_OTHERS = (  # no, not needed, and the words that may follow: Chinese, Spanish, French, German
    (
        "\u6682\u65e0 \u65e0\u9700 \u65e0\u987b \u4e0d\u9700\u8981 \u4e0d\u9700 \u4e0d\u5fc5 \u6ca1\u6709 \u65e0",
        "\u8fdb\u4e00\u6b65 \u5176\u4ed6 \u5176\u5b83 \u989d\u5916 "
        "\u66f4\u591a \u4efb\u4f55 \u7684 \u68c0\u67e5 \u68c0\u9a8c \u5316\u9a8c \u4fe1\u606f "
        "\u8865\u5145 \u505a",
    ),
    (
        "ningun[oa]?s? no\\sse\\srequieren? no\\sse\\snecesitan?",
        "m[a\u00e1]s otr[ao]s? pruebas? ex[a\u00e1]men(?:es)? estudios? adicional(?:es)?",
    ),
    ("aucune?s?", "autres? examens? tests? suppl\u00e9mentaires?"),
    ("keine?", "weiteren? zus\u00e4tzlichen? untersuchung(?:en)? tests? erforderlich n\u00f6tig"),
)
_NONE = (
    rf"(?:no|none|not|nothing|nil|n/?a|n[.]a)\b(?:\W+(?:{'|'.join(_OF_WHAT.split())})\b)*",
    *(f"(?:{'|'.join(no.split())})(?: ?(?:{'|'.join(what.split())}))*" for no, what in _OTHERS),
)
_NOTHING = later(f"(?:{'|'.join(_NONE)})[\\s.!\u3002-]*", re.IGNORECASE)
_SODIUM = "Na"
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
            if name and len(name) <= _LONGEST and not nothing(name):
                found.setdefault(name.lower(), name)
                if len(found) == _MOST:
                    return tuple(found.values())
    return tuple(found.values())


def nothing(text: str) -> bool:
    """Whether a text says in so many words that nothing is asked for: "None", "No additional tests required."."""
    said = text.strip(" \t\r\n*_`\"'-([)]")
    return said != _SODIUM and _NOTHING.fullmatch(said) is not None


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


_LABEL = later(r"^(?P<label>[^:(\[]{1,80}):\s+(?P<rest>\S.*)$")
_GROUP = later(
    r"(?i)^(?:additional |further |other |specific |detailed |repeat |advanced |routine )*(?:lab(?:oratory)?|blood|"
    r"serum|urine|imaging|radiolog\w*|microbiolog\w*|patholog\w*|histolog\w*|histopatholog\w*|genetic\w*|molecular|serolog\w*|"
    r"immunolog\w*|endocrin\w*|hormon\w*|physical|clinical|neurolog\w*|cardiac|functional|ancillary|diagnostic|history|"
    r"tests?|procedures?|others?)\b"
)
_REASON = later(r"(?i)^(?:to|for|if|in order|as|because|evaluate|assess|check|confirm|rule|exclude|look|determine)\b")


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
