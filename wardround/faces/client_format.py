"""The form in which a face and its client exchange views, actions, endings and rewards."""

from collections.abc import Mapping
from itertools import takewhile

import msgspec

from wardround.agents.dialogue import said_images, said_text
from wardround.engine.errors import UsageError
from wardround.engine.events import unstorable_field
from wardround.engine.records import LONGEST_REPLY, Action, Ending, Json, Message, Score, View, user_message

GO_ON = "Go on."
"""What a seat hears if nothing was said since its own last words."""


def client_text(view: View) -> str:
    """What a seat hears in this turn: everything since its own last words; at its first turn, also its brief."""
    return client_message(view).content


def client_message(view: View) -> Message:
    """What a seat hears in this turn with its images, by the reference that a log holds (`images_of`)."""
    since = list(takewhile(lambda said: said.seat != view.seat, reversed(view.heard)))[::-1]
    images = [image for said in since for image in said_images(said)]
    texts = [said_text(said) for said in since]
    if len(since) == len(view.heard):  # its first turn
        texts.insert(0, view.brief)
        images[:0] = (view.known.get("images") or ()) if isinstance(view.known, Mapping) else ()
    return user_message("\n\n".join(texts) or GO_ON, images)


def storable_action(action: Action) -> Action:
    """The action as a log keeps it; raises UsageError if it is not a text, is too long, or does not fit JSON."""
    text = action.text
    if not isinstance(text, str):
        raise UsageError(f"an action is a text, and this one is of the type {type(text).__name__}")
    if len(text) > LONGEST_REPLY:
        raise UsageError(f"an action has at most {LONGEST_REPLY:,} characters, and this one has {len(text):,}")
    if type(text) is str and text.isascii() and action == Action(action.verb, text):
        return action
    try:
        return msgspec.json.decode(msgspec.json.encode(msgspec.structs.replace(action, text=str(text))), type=Action)
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise UsageError(unstorable_field(action) or f"the action cannot be written as JSON: {error}") from error


def read_action(fields: Json) -> Action:
    """The action in a client's JSON: a text (a reply), or an object with `verb`, `text`, `args`.

    Raises UsageError that says what is wrong; the episode goes on.
    """
    if isinstance(fields, str):
        return Action("reply", fields)
    try:
        client_fields: dict[str, Json] = msgspec.convert(fields, dict[str, Json])
        action = msgspec.convert({"verb": "reply", **client_fields}, Action)
    except msgspec.ValidationError as error:
        raise UsageError(f'{error}; an action is a text or {{"verb": "reply", "text": "..."}}') from error
    if unknown := sorted(client_fields.keys() - set(Action.__struct_fields__)):
        raise UsageError(f"an action has no field {unknown[0]!r}; it has: {', '.join(Action.__struct_fields__)}")
    if not action.text and not action.args:
        raise UsageError("the action has neither `text` nor `args`: say what the seat does")
    return action


def client_ending(ending: Ending | None) -> dict[str, str] | None:
    """How an episode ended, for a client: without the facts, which hold what the rules read."""
    return None if ending is None else {"cause": ending.cause, "reason": ending.reason, "detail": ending.detail}


def rewards_of(scores: Mapping[str, Score]) -> tuple[dict[str, float | None], dict[str, str]]:
    """(rewards, missing): the value of each score, None and never 0.0 if it has none; the reasons of the latter."""
    rewards = {name: score.value for name, score in scores.items()}
    return rewards, {name: scores[name].reason for name, value in rewards.items() if value is None}


def missing_extra(name: str, error: ImportError) -> UsageError:
    """The error for a face whose extra `name` is not installed."""
    return UsageError(f"this face needs the extra {name!r} ({error}): pip install 'wardround[{name}]'")
