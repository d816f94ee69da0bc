"""The shape of a reply: what goes over each kind of wire, and which values have it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.engine.errors import UsageError
from wardround.engine.models.chat import ChatModel, Endpoint
from wardround.engine.models.reply import chat_options, fits_schema, response_options, smallest_fit
from wardround.engine.models.sdk import AzureModel, ResponsesModel
from wardround.engine.protocols import Model
from wardround.engine.records import Json, Message
from wardround.testing.loopback import Loopback

SHAPE = {
    "type": "object",
    "properties": {
        "verdict": {"type": "string", "enum": ["yes", "no"]},
        "steps": {"type": "array", "items": {"type": "string"}},
        "sure": {"type": "boolean"},
        "count": {"type": "integer"},
        "share": {"type": "number"},
        "nothing": {"type": "null"},
    },
    "required": ["verdict", "steps", "sure", "count", "share", "nothing"],
    "additionalProperties": False,
}
GOOD = {"verdict": "no", "steps": ["a", ""], "sure": True, "count": 3, "share": 0.5, "nothing": None}
ASKED = [Message("user", "Well?")]


def made(path: str, server: Loopback) -> Model:
    if path == "chat":
        return ChatModel("m", Endpoint(server.base_url))
    return AzureModel("m", server.url, key="k") if path == "azure" else ResponsesModel("m", server.base_url)


@pytest.mark.parametrize("path", ["chat", "azure", "responses"])
async def test_every_door_is_told_in_its_own_words(path: str) -> None:
    async with Loopback(shapes="taken") as server:
        model = made(path, server)
        reply = await model.complete(ASKED, purpose="t", shape=SHAPE, temperature=0.5)
        plain = await model.complete(ASKED, purpose="t", shape={})
        await model.complete(ASKED, purpose="t", shape=None)
        await model.aclose()
    bodies = [asked.json() for asked in server.asked]
    named = {"name": "reply", "schema": SHAPE, "strict": True}
    if path == "responses":
        assert bodies[0]["text"] == {"format": {"type": "json_schema", **named}}
    else:
        assert bodies[0]["response_format"] == {"type": "json_schema", "json_schema": named}
    assert bodies[0]["temperature"] == 0.5
    assert all("shape" not in body for body in bodies)
    assert all(not {"text", "response_format"} & body.keys() for body in bodies[1:])
    assert fits_schema(json.loads(reply.text), SHAPE)
    assert plain.text == "Well?"


def test_two_words_on_what_the_reply_is_to_be_are_one_too_many() -> None:
    with pytest.raises(UsageError, match="response_format"):
        chat_options({"shape": SHAPE, "response_format": {"type": "json_object"}})
    with pytest.raises(UsageError, match="`text`"):
        response_options({"shape": SHAPE, "text": {"verbosity": "low"}})
    assert chat_options({"response_format": 1, "stop": None}) == {"response_format": 1}


@pytest.mark.parametrize(
    "change",
    [
        {"verdict": "maybe"},
        {"verdict": None},
        {"steps": "a"},
        {"steps": [1]},
        {"sure": 1},
        {"count": 1.5},
        {"count": True},
        {"share": "0.5"},
        {"share": False},
        {"nothing": 0},
        {"more": 1},
    ],
)
def test_a_value_that_differs_has_not_the_shape(change: dict[str, Json]) -> None:
    assert fits_schema(GOOD, SHAPE)
    assert not fits_schema({**GOOD, **change}, SHAPE)


def test_a_field_that_is_missing_and_no_object_at_all() -> None:
    for name in GOOD:
        assert not fits_schema({key: value for key, value in GOOD.items() if key != name}, SHAPE)
    for value in (None, [], [GOOD], "{}", 0):
        assert not fits_schema(value, SHAPE)


def test_one_is_not_true() -> None:
    assert not fits_schema(True, {"enum": [1, 0]})
    assert not fits_schema(1, {"enum": [True]})
    assert fits_schema(1, {"enum": [0, 1]})


_KINDS = st.sampled_from(["string", "boolean", "integer", "number", "null"]).map(lambda kind: {"type": kind})
_SCHEMAS = st.recursive(
    _KINDS | st.lists(st.integers() | st.text(), min_size=1).map(lambda choices: {"enum": choices}),
    lambda inner: (
        st.dictionaries(st.text(max_size=5), inner, max_size=3).map(lambda f: {"type": "object", "properties": f})
        | inner.map(lambda items: {"type": "array", "items": items})
    ),
    max_leaves=6,
)


@given(_SCHEMAS)
def test_the_least_value_has_the_shape(schema: dict[str, Json]) -> None:
    assert fits_schema(smallest_fit(schema), schema)
