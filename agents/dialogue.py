"""Turns what a seat has heard into the messages of a chat model."""

from collections.abc import Iterable, Mapping, Sequence

from wardround.engine.errors import UsageError
from wardround.engine.images import images_of, user_message
from wardround.engine.records import Json, Message, Said
from wardround.engine.seat import Seat, Voice


def model_of(seat: Seat) -> Voice:
    """The seat's model. Raises UsageError if it has none."""
    if seat.model is None:
        raise UsageError(f"{seat.name}: this agent needs a model; write provider/model, for instance openai/gpt-4o")
    return seat.model


SILENCE = "(no reply)"
"""Replaces an empty message, because several endpoints refuse one."""


def dialogue(opening: Sequence[Message], heard: Iterable[Said], seat: str, go_on: str) -> list[Message]:
    """`opening`, then the words heard: the seat's own in the role assistant, all others in the role user.

    The roles alternate: consecutive user messages are joined, and `go_on` separates two messages of the seat itself.
    The last message is always the user's. The messages of a turn therefore begin with those of the turn before.
    """
    messages = list(opening)
    for said in heard:
        if said.seat == seat:
            if messages and messages[-1].role == "assistant":
                messages.append(Message("user", go_on))
            messages.append(Message("assistant", said_words(said)))
        elif messages and messages[-1].role == "user":
            images = [*images_of(messages[-1]), *said_images(said)]
            messages[-1] = user_message(f"{messages[-1].content}\n\n{said_words(said)}", images)
        else:
            messages.append(user_message(said_words(said), said_images(said)))
    if not messages or messages[-1].role != "user":
        messages.append(Message("user", go_on))
    return messages


def said_images(said: Said) -> list[str]:
    """The images of the results that were told, by reference (engine/images.py)."""
    rows = said.args.get("answers") or ()
    return [str(image) for row in rows if isinstance(row, Mapping) for image in row.get("images") or ()]


def said_words(said: Said) -> str:
    """The text of what was said; an action without text is rendered as its verb and arguments."""
    if said.text.strip():
        return said.text
    if not said.args:
        return SILENCE
    return f"{said.verb}: " + "; ".join(_value_text(value) for value in said.args.values() if value)


def _value_text(value: Json) -> str:
    return ", ".join(str(part) for part in value) if isinstance(value, list | tuple) else str(value)


def token_estimate(messages: Iterable[Message]) -> int:
    """The approximate tokens of messages: a quarter of their UTF-8 bytes, plus four for each message."""
    return sum(4 + size(message.content) for message in messages)


def size(text: str) -> int:
    """The approximate tokens of a text; an overestimate for English, and still enough for Chinese."""
    return len(text.encode("utf-8", "surrogatepass")) // 4 + 1


def pieces(texts: Iterable[str], most: int) -> list[str]:
    """Join texts by blank lines, in order, into as few pieces of at most about `most` tokens as possible.

    A single text that is longer is cut.
    """
    joined: list[str] = []
    for text in texts:
        for part in _cut(text, most):
            if joined and size(joined[-1]) + size(part) <= most:
                joined[-1] = f"{joined[-1]}\n\n{part}"
            else:
                joined.append(part)
    return joined


def _cut(text: str, most: int) -> list[str]:
    if size(text) <= most:
        return [text]
    step = max(1, len(text) * most // (size(text) + 1))
    return [text[start : start + step] for start in range(0, len(text), step)]
