"""The shape a reply is asked to have, a JSON schema: how endpoints want it said, and whether a value has it."""

from collections.abc import Mapping, Sequence

from wardround.engine.errors import UsageError
from wardround.engine.records import Json

OPTION = "shape"
NAME = "reply"
"""What the schema is called where it must have a name: the same always, for endpoints that keep what they compiled."""


def chat_options(options: Mapping[str, Json]) -> dict[str, Json]:
    """A call's options as chat completions take them: without those that are None, `shape` as `response_format`."""
    sent, shape = _parted(options, "response_format")
    if shape:
        named = {"name": NAME, "schema": shape, "strict": True}
        sent["response_format"] = {"type": "json_schema", "json_schema": named}
    return sent


def response_options(options: Mapping[str, Json]) -> dict[str, Json]:
    """A call's options as the Responses API takes them: without those that are None, `shape` as `text.format`."""
    sent, shape = _parted(options, "text")
    if shape:
        sent["text"] = {"format": {"type": "json_schema", "name": NAME, "schema": shape, "strict": True}}
    return sent


def _parted(options: Mapping[str, Json], field: str) -> tuple[dict[str, Json], Json]:
    sent = {name: value for name, value in options.items() if value is not None}
    shape = sent.pop(OPTION, None)
    if shape and field in sent:
        raise UsageError(f"a call has the options `{OPTION}` and `{field}`, which both say what its reply is to be")
    return sent, shape


def fits(value: Json, schema: Mapping[str, Json]) -> bool:
    """Whether a value has the shape, for the schemas that strict endpoints take: types, `enum`, closed objects."""
    if "enum" in schema:
        return any(value == one and type(value) is type(one) for one in schema["enum"])
    match schema.get("type"):
        case "object":
            fields: Mapping[str, Json] = schema.get("properties", {})
            return (
                isinstance(value, dict)
                and value.keys() == fields.keys()
                and all(fits(value[name], fields[name]) for name in fields)
            )
        case "array":
            return isinstance(value, list) and all(fits(one, schema.get("items", {})) for one in value)
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "null":
            return value is None
    return True


def least(schema: Mapping[str, Json]) -> Json:
    """The smallest value that has the shape: what the loopback server says where it is held to one."""
    choices: Sequence[Json] = schema.get("enum", ())
    if choices:
        return choices[0]
    match schema.get("type"):
        case "object":
            return {name: least(field) for name, field in schema.get("properties", {}).items()}
        case "array":
            return []
        case "boolean":
            return False
        case "integer" | "number":
            return 0
        case "string":
            return ""
    return None
