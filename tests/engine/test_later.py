"""A pattern that is compiled at its first use does what the compiled one does."""

import re

import pytest

from wardround.engine.text import regex

TEXT = "One fish, two fish; red Fish"


def test_every_method_answers_as_the_compiled_pattern() -> None:
    made, compiled = regex(r"(?P<n>\w+) fish", re.IGNORECASE), re.compile(r"(?P<n>\w+) fish", re.IGNORECASE)
    assert [place.span() for place in made.finditer(TEXT)] == [place.span() for place in compiled.finditer(TEXT)]
    assert made.findall(TEXT) == compiled.findall(TEXT) == ["One", "two", "red"]
    assert made.sub("x", TEXT, count=1) == compiled.sub("x", TEXT, count=1)
    assert made.subn("x", TEXT) == compiled.subn("x", TEXT)
    assert made.split(TEXT) == compiled.split(TEXT)
    for ask in ("search", "match", "fullmatch"):
        one, other = getattr(regex(r"one fish", re.I), ask)(TEXT), getattr(re.compile(r"one fish", re.I), ask)(TEXT)
        assert (one and one.span()) == (other and other.span())
    assert (made.pattern, made.groups, dict(made.groupindex)) == (compiled.pattern, 1, {"n": 1})
    assert regex(r"x", re.I).flags == re.compile(r"x", re.I).flags


def test_what_cannot_be_compiled_is_said_at_the_first_use() -> None:
    broken = regex("(")
    with pytest.raises(re.error):
        broken.search("x")


def test_what_a_pattern_has_not_is_named() -> None:
    with pytest.raises(AttributeError, match="nothing"):
        _ = regex("x").nothing  # type: ignore[attr-defined]
