"""Pages that answer with all well and show an error, a barrier or a shop window; and medicine that is none of these."""

import gzip
import json
from pathlib import Path

import pytest

from wardround.evaluators.search.documents import cut_pieces
from wardround.evaluators.search.pages import html, plain_text, turned_away
from wardround.evaluators.search.results import SearchError

MEDICINE = "Appendicitis is an inflammation of the appendix. It causes fever and pain in the right lower abdomen. "


@pytest.mark.parametrize(
    "text",
    [
        "Error fetching page content: timeout",
        "Too many requests. You have exceeded the rate limit.",
        "Service temporarily unavailable. We are performing scheduled maintenance. Please try again later.",
        "Sorry, you have been blocked. You are unable to access this site. " * 20,
        "Access to this article is restricted. Please log in or purchase access to read the full text. " * 5,
        "Page not found. The page you are looking for does not exist.",
        "Checking your browser before accessing. Please enable JavaScript and cookies to continue.",
        "502 Bad Gateway\nnginx",
        "Internal Server Error",
        "Failed to load the page: connection timed out",
        "Sign in with your institution to continue.\nForgotten your password?\n" * 6,
        "\u8bf7\u6c42\u8fc7\u4e8e\u9891\u7e41\uff0c\u8bf7\u7a0d\u540e\u518d\u8bd5\u3002",
        "Seite nicht gefunden. Bitte pr\u00fcfen Sie die Adresse.",
    ],
)
def test_what_turns_a_reader_away_is_no_text(text: str) -> None:
    assert turned_away(text)
    for read in (plain_text, html):
        page = text if read is plain_text else f"<html><body><article><p>{text}</p></article></body></html>"
        with pytest.raises(SearchError) as refused:
            read(page.encode(), "utf-8")
        assert refused.value.kind == "refused"


@pytest.mark.parametrize(
    "text",
    [
        MEDICINE * 5 + "Please log in to read the comments.",
        MEDICINE * 5 + "This site requires scripts: enable JavaScript. Try again later.",
        "Beta receptors that have been blocked do not answer. Access to care is often denied to the poor.",
        "Vascular access was restricted to the left arm. The patient timed out of the trial.",
        "Maintenance therapy is given for two years. Remission was maintained in 404 of 503 patients.",
        MEDICINE * 400 + "Too many requests. " * 40,
    ],
)
def test_medicine_is_kept(text: str) -> None:
    assert not turned_away(text, "Appendicitis")
    assert plain_text(text.encode(), "utf-8").text


def test_a_title_tells_of_a_short_page_only() -> None:
    assert turned_away("Here are links to our departments. " * 20, "404 Not Found")
    assert not turned_away(MEDICINE * 100, "404 Not Found")


@pytest.mark.shared
@pytest.mark.long
@pytest.mark.timeout(600)
def test_no_answer_of_medquad_is_taken_for_a_refusal(shared: Path) -> None:
    with gzip.open(shared / "data" / "medquad" / "medquad_answered.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    assert len(rows) == 16407
    for row in rows:
        text, title = row["answer"], f"{row.get('focus')} {row.get('question')}"
        assert not turned_away(text, title), title
        assert not any(turned_away(text[start:end]) for start, end in cut_pieces(text, 1000)), title
