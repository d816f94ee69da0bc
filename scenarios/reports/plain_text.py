"""Reads an article from plain text or from the text of a PDF, whose lines are broken and hyphenated."""

import re
from pathlib import Path

from wardround.engine.errors import UsageError
from wardround.engine.text import count_noun, file_text

TEXTS = (".txt", ".pdf")
_HYPHEN = re.compile(r"(?<=[a-z])-\n(?=[a-z])")
_SHORT = 0.75
"""A line shorter than this share of the usual line ends a paragraph."""
_PAGE = re.compile(
    r"(?i)^\s*(?:page )?\d{1,4}(?: of \d{1,4})?\s*$|^\s*(?:downloaded from|https?://\S+|doi:|www\.)\S*.*$"
)


def article_text(path: Path) -> str:
    """The text of a file, one block for each paragraph.

    Raises UsageError if it has fewer than 30 words or cannot be read.
    """
    raw = _pdf(path) if path.suffix.lower() == ".pdf" else file_text(path)
    text = unbroken(raw)
    if len(text.split()) < 30:
        raise UsageError(
            f"{path}: holds no text of an article ({count_noun(len(text.split()), 'word')}); was it scanned?"
        )
    return text


def unbroken(text: str) -> str:
    """A text without page numbers and without hyphens at line ends; the lines of a paragraph are joined."""
    lines = [line.rstrip() for line in _HYPHEN.sub("", text.replace("\r\n", "\n").replace("\f", "\n\n")).split("\n")]
    lines = ["" if _PAGE.match(line) else line for line in lines]
    long = sorted(len(line) for line in lines if len(line) > 20)
    usual = long[len(long) * 3 // 4] if long else 0
    if usual > 200 or not usual:
        return "\n".join(lines)  # each line is a paragraph already
    blocks: list[str] = []
    goes_on = False
    for line in lines:
        if line.strip() and goes_on:
            blocks[-1] = f"{blocks[-1]} {line.strip()}"
        elif line.strip():
            blocks.append(line.strip())
        goes_on = len(line) >= _SHORT * usual
    return "\n\n".join(blocks)


def _pdf(path: Path) -> str:
    try:
        from pypdf import PdfReader  # noqa: PLC0415 an extra, and only PDF files need it
        from pypdf.errors import PyPdfError  # noqa: PLC0415
    except ImportError as error:
        raise UsageError(f"{path}: reading PDF needs the extra: pip install 'wardround[search]'") from error
    try:
        return "\n\n".join(page.extract_text() for page in PdfReader(path).pages)
    except (PyPdfError, OSError, ValueError, KeyError) as error:
        raise UsageError(f"{path}: is no PDF that can be read ({error}); was it copied whole?") from error
