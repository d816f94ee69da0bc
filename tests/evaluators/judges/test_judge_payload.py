"""The JSON value of a judge's reply, whole, in a block, in prose, or broken."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.evaluators.judges.strict_reply import Payload, Unread, field, only_entry, payload, strings


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('Sure.\n```\n[{"a": 1}]\n```\nI hope this helps.', [{"a": 1}]),
        ('The result is {"a": "x]}"}', {"a": "x]}"}),
        ('{"a": 1,\n}', {"a": 1}),
        ('[{"a": [1, 2,]},]', [{"a": [1, 2]}]),
        ("[]", []),
        ('```json\n{"a": "```"}\n```', None),
    ],
)
def test_one_value_is_found(text: str, value: object) -> None:
    found = payload(text)
    if value is None:
        assert isinstance(found, Unread)
    else:
        assert isinstance(found, Payload)
        assert found.value == value


@pytest.mark.parametrize("text", ["", "Correct", "[Correct]", "[Correct|Wrong]", "(a)", "```\nYes\n```"])
def test_text_without_json_is_left_to_the_words(text: str) -> None:
    assert payload(text) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": ', "half_json"),
        ('{"a": 1} {"a": 2}', "half_json"),
        ('{"a": 1, "a": 2}', "half_json"),
        ("{'a': 1}", "half_json"),
        ('{"a": NaN}', "half_json"),
        ('```\n{"a": 1}\n```\n```\n{"a": 2}\n```', "several"),
        ("[" * 90_000 + "]" * 9_000, "half_json"),
        ("{" * 200_000, "too_long"),
    ],
)
def test_broken_json_has_a_typed_reason(text: str, why: str) -> None:
    found = payload(text)
    assert isinstance(found, Unread)
    assert found.why == why


def test_what_stands_behind_is_kept() -> None:
    found = payload('```json\n{"a": 1}\n```\nWrong.')
    assert isinstance(found, Payload)
    assert found.after.strip() == "Wrong."


def test_a_field_by_any_of_its_names() -> None:
    assert field({" Judgment": "x"}, ("verdict", "judgment")) == "x"
    assert field({"other": "x"}, ("judgment",)) is None
    assert field(["judgment"], ("judgment",)) is None


def test_keys_that_look_alike_are_two_and_neither_is_chosen() -> None:
    found = payload('{"judgment": {"": 1, "\\u0085": 2}, "b": {"a": 1, "A ": 2}}')
    assert isinstance(found, Payload)
    assert found.value == {"judgment": {"": 1, "\x85": 2}, "b": {"a": 1, "A ": 2}}
    assert field({"Judgment": "Correct", "judgment ": "Wrong"}, ("judgment",)) is None


def test_half_a_surrogate_pair_is_escaped() -> None:
    found = payload('{"quote": "\\ud83d", "\\ud83d": 1}')
    assert isinstance(found, Payload)
    assert found.value == {"quote": "\\ud83d", "\\ud83d": 1}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8", exclude_characters="`")),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8", exclude_characters="`")), inner)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["judgment", "b", "c"]), JSON, min_size=1))
def test_what_a_judge_writes_comes_back(value: dict[str, object]) -> None:
    written = json.dumps(value)
    for text in (written, f"```json\n{written}\n```", f"My judgment: {written}"):
        found = payload(text)
        assert isinstance(found, Payload)
        assert found.value == value


@given(st.text('{}[]",:` ab1\n'))
def test_any_text_is_taken(text: str) -> None:
    assert isinstance(payload(text), Payload | Unread | None)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": ["x", " ", "y"]}', ("x", "y")),
        ('{"b": ["x"]}', ("x",)),
        ('{"a": []}', ()),
        ('{"a": ["x", 5]}', "no_field"),
        ('{"a": "x"}', "no_field"),
        ('[{"a": ["x"]}]', "no_field"),
        ("x, y", "prose"),
        (" ", "empty"),
        ('{"a": [', "half_json"),
    ],
)
def test_a_list_of_texts(text: str, found: tuple[str, ...] | str) -> None:
    listed = strings(text, ("a", "b"))
    assert (listed.why if isinstance(listed, Unread) else listed) == found


def test_an_object_may_stand_alone_in_a_list() -> None:
    assert only_entry([{"a": 1}]) == only_entry({"a": 1}) == {"a": 1}
    assert only_entry([1, 2]) == [1, 2]
    assert only_entry([]) == []
