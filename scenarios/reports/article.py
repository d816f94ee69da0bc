"""An article with a case report: its sections, its text and sentences, and the settings of a build."""

import re
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from wardround.scenarios.record import Record, Text

_TALKED = ("discussion", "conclusion", "comment")


class ArticleSection(Record):
    """A section of the body; `heading` is empty if the text has none."""

    heading: str = ""
    text: Text


class Candidate(Record):
    """A rare disease that the linker sees in the article; `id` is its id in the ontology."""

    id: Text
    name: Text


class Article(Record):
    """One article; unknown fields are '' or None."""

    id: Text = Field(description="PMC number, DOI, or the name in its file; it names the cases too.")
    title: str = ""
    abstract: str = ""
    sections: tuple[ArticleSection, ...] = ()
    kind: str = Field(default="", description="The type of article, as the source calls it.")
    published: date | None = Field(default=None, description="Earliest date of publication; the first of the month.")
    language: str = Field(default="", description="Two letters.")
    licence: str = Field(default="", description="Short name such as CC-BY-4.0, or the source's own words.")
    source: str = ""
    linked: bool = Field(default=False, description="Whether it was searched for rare diseases.")
    rare: tuple[Candidate, ...] = Field(default=(), description="Rare diseases in the article, the likeliest first.")
    data_class: Literal["public", "restricted"] = "restricted"

    @property
    def body(self) -> str:
        """All sections with their headings."""
        return "\n\n".join(f"{part.heading}\n{part.text}" if part.heading else part.text for part in self.sections)

    @property
    def text(self) -> str:
        """Title, abstract and body, without metadata: the text that a case may rest on."""
        return "\n\n".join(part for part in (self.title, self.abstract, self.body) if part)

    @property
    def full_text(self) -> str:
        """The whole article as it is sent to a model."""
        return _parts(("Title", self.title), ("Abstract", self.abstract), ("Text", self.body))

    @property
    def numbered_text(self) -> str:
        """The whole article, one sentence per line, each with its number in brackets; headings have no number."""
        parts = [
            ("Title", self.title),
            ("Abstract", self.abstract),
            *((one.heading, one.text) for one in self.sections),
        ]
        lines: list[str] = []
        number = 0
        for heading, text in parts:
            sentences = article_sentences(text)
            if sentences:
                lines += ["", *([heading] if heading else [])]
            for sentence in sentences:
                number += 1
                lines.append(f"[{number}] {sentence}")
        return "\n".join(lines).strip()

    @property
    def digest(self) -> str:
        """Title, abstract and discussion (MedR-Bench, prompts 1 and 4 to 6); without a discussion, all of it."""
        talked = [part for part in self.sections if any(word in part.heading.lower() for word in _TALKED)]
        if not talked:
            return self.full_text
        discussion = "\n\n".join(part.text for part in talked)
        return _parts(("Title", self.title), ("Abstract", self.abstract), ("Discussion", discussion))


@dataclass(frozen=True, slots=True)
class UnreadArticle:
    """A file or line that gives no article: it cannot be read, or repeats one. `rule` drops it; `why` says where."""

    id: str
    rule: str
    why: str


def _parts(*named: tuple[str, str]) -> str:
    return "\n\n".join(f"{name}:\n{text}" for name, text in named if text)


_SPACE = re.compile(r"[ \t\r\f\v\u00a0\u2009\u202f]+")
_LINES = re.compile(r"\s*\n\s*\n\s*")
_CITED = re.compile(r"[ \t]*\[(?:\s*\d+[a-z]?\s*[,;\u2013\u2014-]?\s*)+\]|[ \t]*\[[\s,;\u2013\u2014-]*\]")
_VISUAL = (
    r"(?<!mitotic )\b(?i:(?:extended |supplementary |supporting |supplemental )*(?:fig(?:ure)?s?\b\.?|tables?|videos?)"
    r"|supplementary (?:data|files?|materials?|appendix))\s*(?:S?\d|[A-Z]\b|[IVX]+\b)"
)
IN_BRACKETS = re.compile(r"[ \t]*[(\[](?i:as )?(?i:see |shown in |cf\.? )?(?i:also )?" + _VISUAL + r"[^()\[\]]*[)\]]")
"""A reference to a figure or table in brackets, which can be cut out without harm to the sentence."""

VISUAL = re.compile(
    _VISUAL
    + r"|(?<!mitotic )\b(?i:figure)\b(?!\s*-?\s*of\b)|\b(?i:(?:shown|seen|see|given|listed|summari[sz]ed|presented)"
    r" in (?:the )?(?:images?|photographs?|pictures?|tables?|panels?)\b"
    r"|(?:image|photograph|picture|table) (?:above|below)\b)"
)
"""A reference to a figure, table or picture."""

# A full stop that ends a sentence; many sources lack the space after it ('established.The patient').
_STOP = re.compile(
    r"(?:(?<=[a-z0-9)\]%\u00b0\u00b2\u00b3\"'\u201d][.!?;])|(?<=[A-Z]{2}[.;])|(?<=[a-z/\u00b0][A-Z][.;]))"
    r"(?:\s+(?=[A-Z0-9(\"'\u201c])|(?=[A-Z][a-z]))"
)
_BULLET = re.compile(r"^\s*(?:[-*\u2022+]|\d{1,2}[.)])\s+")
_EMPHASIS = re.compile(r"\*\*|__|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)")
_WORD = re.compile(r"[^\W\d_]+")
_ENGLISH_TEXT = """the of and a an in to was were with is are for on that by at as from had has his her he she this 
which be not or after patient it no been who their"""
_ENGLISH = frozenset(_ENGLISH_TEXT.split())
ENGLISH_SHARE = 0.12
"""Least share that the commonest English words have in an English text; in medical English it is about 0.35."""


def tidy_text(text: str) -> str:
    """`text` without references to figures and citations in brackets, with single spaces and separate paragraphs."""
    plain = _CITED.sub("", IN_BRACKETS.sub("", _SPACE.sub(" ", text)))
    return _LINES.sub("\n\n", plain).strip()


def unmarked_line(line: str) -> str:
    """A line without its bullet and its emphasis."""
    return _EMPHASIS.sub("", _BULLET.sub("", line)).strip()


def article_sentences(text: str) -> tuple[str, ...]:
    """The sentences of a text, line by line, without bullets and emphasis."""
    return tuple(
        part.strip() for line in text.splitlines() for part in _STOP.split(unmarked_line(line)) if part.strip()
    )


_NUMBERED = re.compile(r"(?m)^\[\d+\] (.*)$")


@lru_cache(maxsize=64)
def numbered_sentences(text: str) -> tuple[str, ...]:
    """The sentences of an article's `numbered_text`, in order: number 1 comes first."""
    return tuple(_NUMBERED.findall(text))


def english(text: str) -> bool:
    """Whether a text is English, by the share of its commonest words; a text of fewer than 20 words passes."""
    words = [word.lower() for word in _WORD.findall(text[:20_000])]
    if len(words) < 20:
        return not words or text.isascii()
    return sum(word in _ENGLISH for word in words) >= ENGLISH_SHARE * len(words)


@lru_cache(maxsize=64)
def comparable(text: str) -> str:
    """`text` in comparable form: lower-case letters and digits, one space between words."""
    return re.sub(r"[^\w.%]+", " ", text.lower()).strip()


def sentence_key(sentence: str) -> str:
    """The form in which citations and verdicts name a sentence: comparable, without its full stop."""
    return comparable(sentence).strip(". ")


Kind = Literal["diagnosis", "treatment"]
KINDS: tuple[Kind, ...] = ("diagnosis", "treatment")
ARTICLE_RULES = ("article_type", "published_after", "body", "language", "length", "relevant")
CASE_RULES = ("sections", "visuals", "answer", "supported", "numbers", "faithful", "named", "leak", "outcome")


class CurationOptions(BaseModel):
    """The settings of a build from articles."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    also: tuple[str, ...] = Field(default=(), description="Further files and folders.")
    kinds: tuple[Kind, ...] = Field(default=KINDS, min_length=1, description="What cases are made of an article.")
    published_after: date | None = None
    without: tuple[str, ...] = Field(default=(), description="Rules switched off.")
    licence: str = Field(default="", description="Licence of articles that name none.")
    data_class: Literal["auto", "public", "restricted"] = "auto"
    on_bad_row: Literal["stop", "skip"] = "stop"
    limit: int | None = Field(default=None, ge=1, description="At most so many articles that pass the filters.")
    max_characters: int = Field(default=200_000, ge=1, description="Longest article.")
    rare_candidates: int = Field(default=5, ge=0, description="At most so many rare diseases are verified.")
    citations: bool = Field(
        default=False, description="Whether the article is shown by numbered sentences, which a case cites."
    )
    second_reader: bool = Field(default=False, description="Whether the seat `checker` reads each finding.")
    support: float = Field(default=35, ge=0, le=100, description="Least score of a sentence that the article supports.")
    unsupported: float = Field(default=0.35, ge=0, le=1, description="Largest share of sentences without support.")

    @field_validator("without")
    @classmethod
    def _known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if unknown := [name for name in names if name not in (*ARTICLE_RULES, *CASE_RULES)]:
            raise ValueError(f"there is no rule {unknown[0]!r}; rules: {', '.join((*ARTICLE_RULES, *CASE_RULES))}")
        return names

    @field_validator("kinds", mode="before")
    @classmethod
    def _listed(cls, kinds: object) -> object:
        """Split 'diagnosis,treatment' as the user writes it for `--set`."""
        return tuple(kinds.split(",")) if isinstance(kinds, str) else kinds
