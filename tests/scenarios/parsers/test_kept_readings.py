"""Readings of short replies are kept: the same reply is read once, and no other reply gets its reading."""

from wardround.engine.text import SHORT, kept_if_short
from wardround.scenarios.parsers.choices import Answered, read_choice


def test_a_short_text_is_read_once_and_a_long_one_each_time() -> None:
    texts: list[str] = []

    @kept_if_short
    def read(text: str) -> int:
        texts.append(text)
        return len(text)

    short, long = "a" * SHORT, "a" * (SHORT + 1)
    assert [read(short), read(long), read(short), read(long)] == [SHORT, SHORT + 1, SHORT, SHORT + 1]
    assert texts == [short, long, long]


def test_the_same_reply_answers_questions_with_other_options_by_theirs() -> None:
    first, second = ("gout", "lupus"), ("lupus", "gout")
    for _ in range(2):
        assert read_choice("The answer is gout.", first, "AB") == Answered(0)
        assert read_choice("The answer is gout.", second, "AB") == Answered(1)
