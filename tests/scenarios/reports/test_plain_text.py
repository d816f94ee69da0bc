"""Articles as plain text and as PDF."""

from pathlib import Path

import pytest

from wardround.engine.errors import UsageError
from wardround.scenarios.reports.article import Article, UnreadArticle
from wardround.scenarios.reports.article_files import articles
from wardround.scenarios.reports.plain_text import article_text, unbroken

BROKEN = (
    "A gardener with nodules\n\nCase presentation\nA 41-year-old gardener presented with a painful nodule on the right"
    "\nindex finger. He had pricked the fin-\nger on a thorn five weeks before, and two further nodules had come\n"
    "along the forearm.\n3\nDiscussion\nSporotrichosis is an infection that gardeners know, and the culture grew the\n"
    "fungus after twelve days in this patient as well.\n"
)


def test_broken_lines_are_joined_and_page_numbers_go() -> None:
    assert unbroken(BROKEN).split("\n\n") == [
        "A gardener with nodules",
        "Case presentation",
        "A 41-year-old gardener presented with a painful nodule on the right index finger. He had pricked the finger "
        "on a thorn five weeks before, and two further nodules had come along the forearm.",
        "Discussion",
        "Sporotrichosis is an infection that gardeners know, and the culture grew the fungus after twelve days in this "
        "patient as well.",
    ]


def test_a_text_is_an_article_with_its_sections(tmp_path: Path) -> None:
    (tmp_path / "gardener.txt").write_text(BROKEN, encoding="utf-8")
    (article,) = articles([tmp_path])
    assert isinstance(article, Article)
    assert (article.id, article.title) == ("gardener", "A gardener with nodules")
    assert [part.heading for part in article.sections] == ["Case presentation", "Discussion"]


@pytest.mark.parametrize(
    ("name", "content"), [("a.txt", b"too short"), ("b.pdf", b"%PDF-1.4 broken"), ("c.txt", b"\xff\xfe")]
)
def test_what_holds_no_article_is_named_and_the_rest_goes_on(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    (tmp_path / "z.txt").write_text(BROKEN, encoding="utf-8")
    found = list(articles([tmp_path]))
    assert [type(one) for one in found] == [UnreadArticle, Article]
    assert isinstance(found[0], UnreadArticle)
    assert name in found[0].why


@pytest.mark.shared
def test_a_scanned_pdf_is_said_to_hold_no_text(shared: Path) -> None:
    with pytest.raises(UsageError, match="was it scanned"):
        article_text(shared / "data" / "climedbench" / "example" / "CS.pdf")


def test_a_pdf_with_text_is_read(tmp_path: Path) -> None:
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context({"pdf.fonttype": 42}):
        page = Figure(figsize=(8, 6))
        page.text(0.05, 0.2, BROKEN)
        page.savefig(tmp_path / "paper.pdf")
    assert "Sporotrichosis is an infection that gardeners know" in article_text(tmp_path / "paper.pdf")


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        article_text(tmp_path / "none.txt")
