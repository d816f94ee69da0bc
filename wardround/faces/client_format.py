"""The form in which a face and its client exchange views, actions, endings and rewards."""

from collections.abc import Mapping

import msgspec

from wardround.agents.dialogue import dialogue
from wardround.engine.errors import UsageError
from wardround.engine.records import Action, Ending, Json, Message, Score, View

GO_ON = "Go on."


def client_text(view: View) -> str:
    """What a seat hears in this turn: all since its own last words; at its first turn, its brief and all so far."""
    return dialogue([Message("user", view.brief)], view.heard, view.seat, GO_ON)[-1].content


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
    """(rewards, missing): the value of each score, None and never 0.0 where it has none; and why those have none."""
    rewards = {name: score.value for name, score in scores.items()}
    return rewards, {name: scores[name].reason for name, value in rewards.items() if value is None}


def missing_extra(name: str, error: ImportError) -> UsageError:
    """The error that a library of the extra `name` is not installed."""
    return UsageError(f"this face needs the extra {name!r} ({error}): pip install 'wardround[{name}]'")
