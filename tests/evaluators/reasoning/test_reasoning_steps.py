"""Splitting a reply's reasoning into steps: every form that replies take, and what must hold for any text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.evaluators.reasoning.steps import MANY, split
from wardround.scenarios.parsers.published import reasoning_steps
from wardround.scenarios.parsers.reply_text import reply_steps
from wardround.scenarios.published.imaging_words import Absent

TABLE = "| test | value |\n|---|---|\n| CRP | 80 |"


@pytest.mark.parametrize(
    ("text", "how", "found"),
    [
        ("### Reasoning:\n<step 1> a\n<Step 2>b\nc\n### Answer:\nd", "tags", ["a", "b\nc"]),
        ("<step 1>a</step>\n<step 2>b</step>\n### Conclusion:\nc", "tags", ["a", "b"]),
        ("Here it is.\n**<step 1>** a\n> <step 2> b", "tags", ["a", "b"]),
        ("### Reasoning\n1. a\n2. b\n   - c\n   - d\n3. e\n\n## Answer\nf", "numbers", ["a", "b\n   - c\n   - d", "e"]),
        ("My reasoning:\n1) a\n2) b", "numbers", ["a", "b"]),
        ("It began at night.\n\n1. a\n2. b", "numbers", ["It began at night.", "a", "b"]),
        ("Step 1: a\nStep 2: b", "numbers", ["a", "b"]),
        ("**Step 1: Look at it**\n\na\n\n**Step 2: Weigh it**\n\nb", "numbers", ["Look at it\n\na", "Weigh it\n\nb"]),
        ("### Step 1\na\n### Step 2\nb", "numbers", ["a", "b"]),
        ("1. **Fever**: a\n2. **Pain**: b", "numbers", ["**Fever**: a", "**Pain**: b"]),
        (
            "\u7b2c\u4e00\u6b65\uff1a\u53d1\u70ed\n\u7b2c\u4e8c\u6b65\uff1a\u8179\u75db",
            "numbers",
            ["\u53d1\u70ed", "\u8179\u75db"],
        ),
        ("1\u3001\u53d1\u70ed\n2\u3001\u8179\u75db", "numbers", ["\u53d1\u70ed", "\u8179\u75db"]),
        ("\u4e00\u3001\u53d1\u70ed\n\u4e8c\u3001\u8179\u75db", "numbers", ["\u53d1\u70ed", "\u8179\u75db"]),
        ("\uff081\uff09\u53d1\u70ed\n\uff082\uff09\u8179\u75db", "numbers", ["\u53d1\u70ed", "\u8179\u75db"]),
        ("- a\n  - a1\n- b", "bullets", ["a\n  - a1", "b"]),
        ("\u2022 a\n\u2022 b\n\u2022 c", "bullets", ["a", "b", "c"]),
        ("a\nb\n\nc", "paragraphs", ["a\nb", "c"]),
        ("a\n\nb\n\nc\n\n1. d\n2. e", "paragraphs", ["a", "b", "c", "1. d\n2. e"]),
        ("1. a\n2. b\n\nc\n\nd\n\ne", "paragraphs", ["1. a\n2. b", "c", "d", "e"]),
        ("### First\n\na\n\n**Second:**\n\nb", "paragraphs", ["### First\na", "**Second:**\nb"]),
        (
            "The tests show:\n\n- a\n\n- b\n\nSo it is c.\n\nAnd d.",
            "paragraphs",
            ["The tests show:\n- a\n- b", "So it is c.", "And d."],
        ),
        (
            f"Look at this:\n\n{TABLE}\n\nSo it is an infection.",
            "paragraphs",
            [f"Look at this:\n{TABLE}", "So it is an infection."],
        ),
        (f"a\n{TABLE}\nb", "lines", ["a", TABLE, "b"]),
        ("a\r\nb", "lines", ["a", "b"]),
        ("```\na\n---\nb\n```", "paragraphs", ["a", "b"]),
        ("Fever, so flu.", "lines", ["Fever, so flu."]),
        ("2. March: fever\nthen pain", "lines", ["2. March: fever", "then pain"]),
        ("It was 38.5\n39. then\n3. later", "lines", ["It was 38.5", "39. then", "3. later"]),
    ],
)
def test_every_form_of_steps(text: str, how: str, found: list[str]) -> None:
    told = split(text)
    assert (told.how, list(told.steps), told.reason) == (how, found, "")


@pytest.mark.parametrize(
    "end",
    [
        "### Conclusion:\nGout",
        "**Conclusion:** Gout",
        "Conclusion: Gout",
        "### Answer:\n1. Gout\n2. Flu",
        "## Final diagnosis\nGout",
        "### Conclusion:\nGout\n\nI hope this helps.\n### Answer:\nGout",
        "### Additional Information Required:\n1. CT\n2. MRI",
        "### Additional Information Required:\nNot required.\n### Conclusion:\nGout",
        "### \u7ed3\u8bba\uff1a\n\u75db\u98ce",
        "**\u6700\u7ec8\u8bca\u65ad**\uff1a\u75db\u98ce",
        "\u7b54\u6848: \u75db\u98ce",
    ],
)
@pytest.mark.parametrize("body", ["<step 1> a\n<step 2> b", "1. a\n2. b", "- a\n- b", "a\n\nb", "a\nb"])
def test_what_the_reply_concludes_is_no_step(body: str, end: str) -> None:
    assert split(f"### Chain of Thought:\n{body}\n\n{end}").steps == ("a", "b")


def test_steps_go_on_behind_a_conclusion_on_the_way() -> None:
    tags = "<step 1> a\n**Conclusion:** x\n<step 2> b\n### Answer:\nc"
    numbers = "1. a\nConclusion: x\n2. b"
    assert split(tags).steps == split(numbers).steps == ("a", "b")


def test_an_answer_that_comes_first_has_its_reasons_behind_it() -> None:
    assert split("Final diagnosis: gout\n\na\n\nb").steps == ("a", "b")
    assert split("**Answer:** gout\n\n1. a\n2. b").steps == ("a", "b")
    assert split("### Answer: gout\n### Reasoning:\na\n\nb").steps == ("a", "b")
    assert split("Reasoning: x\n1. a\nReasoning: y\n2. b\nReasoning: z").steps == (
        "Reasoning: x",
        "a\nReasoning: y",
        "b\nReasoning: z",
    )


def test_the_thinking_part_is_nothing_but_reasoning() -> None:
    text = "It may be gout.\n\n### Answer:\nGout?\n\nWait, the joint is not red."
    assert split(text, "thinking").steps == ("It may be gout.", "### Answer:\nGout?", "Wait, the joint is not red.")
    assert split(text).steps == ("It may be gout.",)


def test_thinking_left_in_the_answer_is_not_its_reasoning() -> None:
    assert split("<think>\nmaybe\n</think>\n### Reasoning:\na\n### Answer:\nb").steps == ("a",)


@pytest.mark.parametrize(
    ("text", "part", "reason"),
    [
        ("", "formal", "empty_reply"),
        (" \n\t", "formal", "empty_reply"),
        ("<think>all of it", "formal", "empty_reply"),
        ("", "thinking", "no_thinking"),
        ("### Answer:\nGout", "formal", "no_reasoning"),
        ("### Conclusion:\nGout", "formal", "no_reasoning"),
        ("### Reasoning:\n\n### Answer:\nGout", "formal", "no_reasoning"),
        ("### Reasoning:\n---\n***", "formal", "no_reasoning"),
        ("...", "thinking", "no_reasoning"),
    ],
)
def test_no_steps_have_a_typed_reason(text: str, part: str, reason: str) -> None:
    told = split(text, "thinking" if part == "thinking" else "formal")
    assert (told.steps, told.reason) == ((), reason)


def test_two_hundred_steps_are_kept_and_more_are_counted() -> None:
    text = "\n".join(f"<step {n}> s{n}" for n in range(1, 251))
    told = split(text)
    assert told.steps == tuple(f"s{n}" for n in range(1, MANY + 1))
    assert (told.reason, told.left_out) == ("too_many_steps", 50)
    whole = split("\n".join(f"<step {n}> s{n}" for n in range(1, 201)))
    assert (len(whole.steps), whole.reason, whole.left_out) == (200, "", 0)


def test_the_published_rules_keep_ten_and_the_conclusion() -> None:
    text = "### Reasoning:\n" + "\n".join(f"<step {n}> s{n}" for n in range(1, 10)) + "\n### Conclusion:\nGout"
    told = split(text, rules="published")
    assert told.steps[-1] == "s9\n### Conclusion:\nGout"
    more = split(text.replace("### Conclusion:", "<step 10> x\n<step 11> y"), rules="published")
    assert len(more.steps) == 10
    assert split("### Reasoning:", rules="published").reason == "no_reasoning"


HEADED = [
    "<Step 1> a\n<Step 2> b\n### Answer: x",
    "<step1> a\n<step2> b",
    "  <step 1> a\n  <step 2> b",
    "**<step 1>** a\n**<step 2>** b",
    "> <step 1> a\n> <step 2> b",
    "```\n<step 1> a\n<step 2> b\n```",
    "<step 1> a\n### Reasoning:\n<step 2> b",
    "para one\n\npara two\n\n\n\npara three",
    "<step 1>\n<step 2> b",
    "<step 1> a ```code``` b\n<step 2> c",
]


@pytest.mark.parametrize("text", HEADED)
def test_behind_the_published_heading_the_published_code_splits(text: str) -> None:
    whole = f"### Reasoning:\n{text}"
    assert list(split(whole, rules="published").steps) == reasoning_steps(whole)


@pytest.mark.parametrize("heading", ["### Chain of Thought:", "### Resoning:", "**Reasoning:**", ""])
def test_without_its_heading_the_published_code_finds_nothing_which_is_not_imitated(heading: str) -> None:
    text = f"{heading}\n<step 1> a\n<step 2> b\n\n### Answer:\nx"
    with pytest.raises(Absent, match="no heading"):
        reasoning_steps(text)
    assert split(text, rules="published").steps == ("a", "b")
    assert split(f"{heading}\n\n### Answer:\nx", rules="published").reason == "no_reasoning"


PIECES = [
    "### ",
    "Answer:",
    "Reasoning:",
    "Conclusion:",
    "\n",
    "\n\n",
    "**",
    "<step 1>",
    "</step>",
    "1. ",
    "2. ",
    "3) ",
]
PIECES += [
    "- ",
    "  ",
    "|a|",
    "x ",
    "\u7b2c\u4e8c\u6b65",
    "\u4e8c\u3001",
    "---",
    "```",
    "Step 2:",
    "So:",
    "\r\n",
    "<think>",
]
MIXTURES = st.lists(st.sampled_from(PIECES), max_size=40).map("".join) | st.text()


@given(MIXTURES, st.sampled_from(["formal", "thinking"]), st.sampled_from(["default", "published"]))
def test_any_text_has_steps_or_a_reason(text: str, part: str, rules: str) -> None:
    told = split(
        text, "thinking" if part == "thinking" else "formal", "published" if rules == "published" else "default"
    )
    assert bool(told.steps) != bool(told.reason)
    assert all(step.strip() for step in told.steps)
    assert bool(told.how) == bool(told.steps)


@given(MIXTURES)
def test_steps_are_the_words_of_the_text_in_their_order(text: str) -> None:
    """Nothing is invented, doubled or moved: the letters of all steps are a subsequence of the text's."""
    letters = iter([sign for sign in text if sign.isalnum()])
    assert all(sign in letters for step in split(text, "thinking").steps for sign in step if sign.isalnum())


WORDS = st.text("abcdefgh ", min_size=1, max_size=30).filter(str.strip).map(lambda text: " ".join(text.split()))


@given(st.lists(WORDS, min_size=2, max_size=30), st.sampled_from(["tags", "numbers", "bullets", "paragraphs", "lines"]))
def test_what_is_written_as_steps_is_read_as_the_same_steps(written: list[str], how: str) -> None:
    marks = {"tags": "<step {}> ", "numbers": "{}. ", "bullets": "- "}
    between = "\n\n" if how == "paragraphs" else "\n"
    body = between.join(marks.get(how, "").format(n) + step for n, step in enumerate(written, 1))
    for text in (body, f"### Reasoning:\n{body}\n\n### Answer:\ngout"):
        told = split(text)
        assert (told.how, list(told.steps)) == (how, written)


@given(st.lists(st.sampled_from(["x", "y z", "So it is:"]), min_size=1, max_size=8))
def test_tags_are_read_as_the_staged_reader_reads_them(written: list[str]) -> None:
    text = "### Reasoning:\n" + "\n".join(f"<step {n}> {step}" for n, step in enumerate(written, 1))
    assert list(split(text).steps) == reply_steps(text)


@pytest.mark.long
@pytest.mark.parametrize(
    "piece", [" ", "*", "- a\n", "1. a\n", "|a|\n", "a:\n\n", "Conclusion: x\n", "### Answer:\n", "\u53d1\u70ed"]
)
def test_a_megabyte_is_split(piece: str) -> None:
    """Ends at all: quadratic work would outlast the time limit of a test."""
    told = split(piece * (1_000_000 // len(piece)) + "\n### Answer:\nGout")
    assert bool(told.steps) or told.reason == "no_reasoning"
    assert len(told.steps) <= MANY
