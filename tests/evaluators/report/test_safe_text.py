"""Text and addresses of others: nothing hidden, nothing that a reader should not follow, no word that is not stored."""

from hypothesis import given
from hypothesis import strategies as st

from wardround.engine.events import digest_of
from wardround.evaluators.reasoning.reasoning_record import EvidenceQuote
from wardround.evaluators.report.episode_page import quotation
from wardround.evaluators.report.rendering import host, safe_link, shortened, visible


def test_what_hides_or_turns_words_is_named() -> None:
    assert visible("a\u202eb\x1b\u200b\ud800") == "a‹U+202E›b‹U+001B›‹U+200B›‹U+D800›"
    assert visible("two\nlines\t中文 عربى é 👩\u200d⚕️") == "two\nlines\t中文 عربى é 👩\u200d⚕️"


@given(st.text(st.characters(codec=None)))
def test_what_is_visible_can_be_written_and_stays_so(text: str) -> None:
    once = visible(text)
    once.encode("utf-8")
    assert visible(once) == once


def test_long_text_is_cut_and_says_how_much_follows() -> None:
    assert shortened("x" * 1_300, 300) == "x" * 300 + " … (1,000 characters more)"
    assert shortened("abc", 3) == "abc"


def test_plain_web_addresses_are_links() -> None:
    for url in ("https://a.example/b?c=d&e=f#g", "http://a.example:8080/", "https://a.example/ä"):
        assert safe_link(url) == url
    assert host("https://A.example:8080/b") == "a.example"


@given(st.text() | st.from_regex(r"[a-z]{1,6}:/{0,3}[^ ]{0,20}"))
def test_a_link_is_always_to_the_web_or_none(url: str) -> None:
    found = safe_link(url)
    assert found in ("", url)
    assert not found or found.lower().startswith(("http://", "https://"))


@given(st.text(), st.integers(-5, 60), st.integers(-5, 60))
def test_quoted_words_are_those_of_the_stored_text_or_there_is_a_fault(text: str, start: int, end: int) -> None:
    text = text.encode("utf-8", "replace").decode()
    quoted = EvidenceQuote(digest_of(text), start, end)
    found = quotation(quoted, {quoted.digest: text})
    assert bool(found.words) != bool(found.fault)
    if found.words:
        assert found.words == text[start:end]
        assert found.before.removeprefix("… ") + found.words + found.after.removesuffix(" …") in text


def test_context_is_some_words_on_each_side_none_of_them_cut() -> None:
    text = "word " * 200 + "HERE" + " after" * 200
    at = text.index("HERE")
    found = quotation(EvidenceQuote(digest_of(text), at, at + 4), {digest_of(text): text})
    assert found.before.startswith("… word ")
    assert found.after.endswith("after …")
    assert len(found.before) < 170
    assert len(found.after) < 170
