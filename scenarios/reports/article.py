"""A case report as it was published: what of it is read, kept with a run, and sent to a model."""

from dataclasses import dataclass
from datetime import date
from typing import Literal

from pydantic import Field

from wardround.scenarios.case import Record, Text

_TALKED = ("discussion", "conclusion", "comment")


class Section(Record):
    """A part of the body; `heading` is empty where the text has none."""

    heading: str = ""
    text: Text


class Candidate(Record):
    """A rare disease that the linker found named in the article, `id` in the ontology."""

    id: Text
    name: Text


class Article(Record):
    """One article; what the source does not say is '' or None."""

    id: Text = Field(description="PMC number, DOI, or the name in its file; it names the cases too.")
    title: str = ""
    abstract: str = ""
    sections: tuple[Section, ...] = ()
    kind: str = Field(default="", description="The type of article, as the source calls it.")
    published: date | None = Field(default=None, description="Earliest date of publication; the first of the month.")
    language: str = Field(default="", description="Two letters.")
    licence: str = Field(default="", description="Short name such as CC-BY-4.0, or the source's own words.")
    source: str = ""
    linked: bool = Field(default=False, description="Whether it was searched for rare diseases.")
    rare: tuple[Candidate, ...] = Field(default=(), description="Those found, the likeliest first.")
    data_class: Literal["public", "restricted"] = "restricted"

    @property
    def body(self) -> str:
        """All sections with their headings."""
        return "\n\n".join(f"{part.heading}\n{part.text}" if part.heading else part.text for part in self.sections)

    @property
    def text(self) -> str:
        """Everything that can be quoted."""
        return "\n\n".join(part for part in (self.title, self.abstract, self.body) if part)

    @property
    def told(self) -> str:
        """The whole article as a model reads it."""
        return _parts(("Title", self.title), ("Abstract", self.abstract), ("Text", self.body))

    @property
    def digest(self) -> str:
        """Title, abstract and discussion (paper 002, prompts 1 and 4 to 6); without a discussion the whole."""
        talked = [part for part in self.sections if any(word in part.heading.lower() for word in _TALKED)]
        if not talked:
            return self.told
        discussion = "\n\n".join(part.text for part in talked)
        return _parts(("Title", self.title), ("Abstract", self.abstract), ("Discussion", discussion))


@dataclass(frozen=True, slots=True)
class Unread:
    """What is no article: a file that cannot be read, or the same article again; `rule` drops it, `why` says where."""

    id: str
    rule: str
    why: str


def _parts(*named: tuple[str, str]) -> str:
    return "\n\n".join(f"{name}:\n{text}" for name, text in named if text)
