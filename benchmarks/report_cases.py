"""Reads articles written for this project, with several wordings of each finding, and draws cases from them by seed."""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from wardround.scenarios.case import Category
from wardround.scenarios.reports.article import Article, ArticleSection
from wardround.scenarios.reports.case_summary import CaseDraft, cited_draft

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "data" / "report_articles"


@dataclass
class WrittenArticle:
    """An article; `items` lists the findings of each item, each in several wordings that say the same."""

    id: str
    title: str = ""
    sections: list[tuple[str, str]] = field(default_factory=list)
    answers: Sequence[str] = ()
    wrong: Sequence[str] = ()
    items: dict[str, list[Sequence[str]]] = field(default_factory=dict)

    def article(self) -> Article:
        """The article as the checks read it."""
        sections = tuple(ArticleSection(heading=heading, text=text) for heading, text in self.sections)
        return Article(id=self.id, title=self.title, sections=sections, data_class="public")


def written(name: str) -> Sequence[WrittenArticle]:
    """Return the articles of a file.

    Its lines are '# id', 'title:', '## heading', text, 'answer:', 'wrong:', '== item' and 'one wording | another'.
    """
    return tuple(_articles((FOLDER / f"{name}.txt").read_text(encoding="utf-8")))


def _articles(text: str) -> Iterator[WrittenArticle]:
    for block in re.split(r"(?m)^# ", text)[1:]:
        lines = [line for line in block.splitlines() if line.strip()]
        one, item = WrittenArticle(lines[0].strip()), ""
        for line in lines[1:]:
            if line.startswith("title:"):
                one.title = line.removeprefix("title:").strip()
            elif line.startswith("## "):
                one.sections.append((line[3:].strip(), ""))
            elif line.startswith(("answer:", "wrong:")):
                names = [name.strip() for name in line.split(":", 1)[1].split(" | ")]
                one.answers, one.wrong = (names, one.wrong) if line.startswith("answer:") else (one.answers, names)
            elif line.startswith("== "):
                item = line[3:].strip()
                one.items[item] = []
            elif item:
                one.items[item].append([wording.strip() for wording in line.split(" | ")])
            else:
                heading, before = one.sections[-1]
                one.sections[-1] = (heading, f"{before}\n{line}".strip())
        yield one


def faithful_case(written_article: WrittenArticle, draw: random.Random) -> tuple[str, str]:
    """Return the (summary, answer) of a faithful case.

    Each finding stands in one of its wordings. Some are left out, the order changes, and they are joined as models join
    them.
    """
    style = draw.choice(("sentences", "semicolons", "bold", "lines"))
    mark = "**" if style == "bold" else ""
    blocks = []
    for item, findings in written_article.items.items():
        chosen = [draw.choice(wordings) for wordings in findings if len(findings) < 3 or draw.random() > 0.1]
        if item not in ("Patient Information", "Chief Complaint") and draw.random() < 0.5:
            draw.shuffle(chosen)
        below = item == "Ancillary Tests" or style == "lines"
        if below and len(chosen) > 1:
            blocks.append(f"- {mark}{item}:{mark}" + "".join(f"\n  - {_sentence(one, '')}" for one in chosen))
        elif style == "semicolons":
            blocks.append(f"- {item}: " + "; ".join(chosen) + ".")
        else:
            blocks.append(f"- {mark}{item}:{mark} " + " ".join(_sentence(one, ".") for one in chosen))
    return "\n".join(blocks), draw.choice(list(written_article.answers))


def handed_in(sections: Mapping[str, Sequence[str]], cited: Mapping[str, Sequence[Sequence[int]]] | None = None) -> str:
    """Return the summary of a case that is written as statements by item, as a model hands it in.

    `cited` are the numbers of the article's sentences behind each statement.
    """
    blocks = []
    for item, statements in sections.items():
        marks = [f" {list(numbers)}" if numbers else "" for numbers in cited[item]] if cited else [""] * len(statements)
        said = [_sentence(one.rstrip(".") + mark, ".") for one, mark in zip(statements, marks, strict=True)]
        below = item == "Ancillary Tests" and len(said) > 1
        blocks.append(
            f"- {item}:" + "".join(f"\n  - {one}" for one in said) if below else f"- {item}: " + " ".join(said)
        )
    return "\n".join(blocks)


def _sentence(text: str, end: str) -> str:
    return text[0].upper() + text[1:] + ("" if text.endswith(".") else end)


def case_draft(article: Article, summary: str, answer: str) -> CaseDraft:
    """Return a diagnosis case of an article as a model hands it in; its reasoning is filled in and plays no part."""
    sections: Mapping[str, str] = {
        "summary": summary, "differential": "Not at issue.", "explanation": "Not at issue.", "answer": answer,
    }  # fmt: skip
    return cited_draft("diagnosis", article, sections, Category())
