"""Defines the kinds of event in a log, their stored form, and the hash chain that reveals an altered event."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Protocol, TypeVar

import msgspec

from wardround.engine.errors import LogError
from wardround.engine.records import Action, Completion, Ending, EpisodeRow, Json, Message
from wardround.engine.text import count_noun


class Opened(msgspec.Struct, frozen=True, tag_field="kind", tag="opened", omit_defaults=True):
    """The first event: which case is played, in which repeat, by which scenario, with which seed.

    `seq` is the number of an event in its log, `at` its time in seconds since the epoch, as in every kind of event.
    `case_hash` is the digest of the case's text. A fork names its origin by `parent` (episode) and `forked_at`
    (action).
    """

    seq: int
    at: float
    episode: str
    case: str
    case_hash: str
    scenario: str
    seed: int
    repeat: int
    parent: str = ""
    forked_at: int = -1


class Called(msgspec.Struct, frozen=True, tag_field="kind", tag="called", omit_defaults=True):
    """One call of a model.

    The messages sent are those of the call numbered `since` (none if -1), its reply if `echo`, then `new`: a
    conversation is stored once, however many turns it has. `key` is the hash of seat, purpose, messages and options;
    `nth` is the number of earlier calls with this key in the same act. Exactly one of `reply` and `error` is set.
    `error` is (kind, message); `status` is its HTTP status, 0 if it had none or the log is older than this field.
    `label` names the model of a seat that has several.
    """

    seq: int
    at: float
    seat: str
    purpose: str
    key: str
    nth: int
    new: Sequence[Message]
    since: int = -1
    echo: bool = False
    options: Mapping[str, Json] = {}
    reply: Completion | None = None
    error: tuple[str, str] | None = None
    status: int = 0
    label: str = ""


class Acted(msgspec.Struct, frozen=True, tag_field="kind", tag="acted", omit_defaults=True):
    """One action of a seat. The stored form leaves out text and thinking that repeat the reply of call `of`.

    `finish` says why the reply behind the action stopped, if it did not end normally: the endpoint's reason (`length`,
    `tool_calls`, `content_filter`), or `refusal` if the model formally declined.
    """

    seq: int
    at: float
    seat: str
    action: Action
    of: int = -1
    finish: str = ""


class Closed(msgspec.Struct, frozen=True, tag_field="kind", tag="closed", omit_defaults=True):
    """The last event, unless the episode is reopened."""

    seq: int
    at: float
    ending: Ending


class Reopened(msgspec.Struct, frozen=True, tag_field="kind", tag="reopened", omit_defaults=True):
    """A closed episode goes on after event `keep`, its last action that did not end it; events in between are void.

    `causes` are the causes of ending that the user asked to retry.
    """

    seq: int
    at: float
    causes: Sequence[str]
    keep: int


Event = Opened | Called | Acted | Closed | Reopened
"""An event of any kind."""

_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)


class Row(msgspec.Struct, frozen=True, gc=False):
    """An event as a store keeps it: its number, the chained hash (16 bytes) and its JSON."""

    seq: int
    hash: bytes
    body: bytes


def chain(previous: bytes, body: bytes) -> bytes:
    """The hash of an event, over the hash of its predecessor and its own stored bytes."""
    return blake2b(previous + body, digest_size=16).digest()


def unstorable_field(action: Action) -> str:
    """The field of an action that no log can keep, as a sentence that says why; "" if all can be kept."""
    for name, value in msgspec.structs.asdict(action).items():
        try:
            _encoder.encode(value)
        except UnicodeEncodeError as error:
            code = ord(error.object[error.start])
            return (
                f"`{name}` of the action holds U+{code:04X}, half of a surrogate pair, which is no text: leave it out"
            )
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            return f"`{name}` of the action cannot be written as JSON: {error}"
    return ""


def encode(event: Event, previous: bytes, reply: Completion | None = None) -> Row:
    """The stored form of `event`; `reply` is the reply of the call that an action repeats (`Acted.of`)."""
    if isinstance(event, Acted) and reply is not None:
        event = msgspec.structs.replace(event, action=msgspec.structs.replace(event.action, text="", thinking=""))
    body = _encoder.encode(event)
    return Row(event.seq, chain(previous, body), body)


def decode(rows: Iterable[Row]) -> tuple[Event, ...]:
    """Decode the events of one episode, from the first on; raises LogError naming the first altered or missing one."""
    events: list[Event] = []
    for row in _follow_chain(-1, b"", rows):
        event = _decode(row)
        events.append(_with_text(event, events) if type(event) is Acted and event.of >= 0 else event)
    return tuple(events)


def check_log(rows: Sequence[Row], known: EpisodeRow) -> None:
    """Raise LogError if an event of an episode was altered or is missing, including the last; decodes only the last."""
    before = b""
    for number, row in enumerate(rows):
        if row.seq != number or chain(before, row.body) != row.hash:
            list(_follow_chain(number - 1, before, (row,)))  # raises the error that says what is wrong
        before = row.hash
    check_end(_decode(rows[-1]) if rows else None, known)


def _follow_chain(last: int, before: bytes, rows: Iterable[Row]) -> Iterator[Row]:
    """The rows that follow event `last` with the hash `before`; raises LogError naming the first altered or missing."""
    for row in rows:
        own = row.hash
        if row.seq != last + 1:
            raise LogError(f"event {last + 1} is missing: the log goes on with event {row.seq}", last + 1)
        if chain(before, row.body) != own:
            raise LogError(f"event {row.seq} was altered: its hash does not follow from event {last}", row.seq)
        last, before = last + 1, own
        yield row


def decode_last(rows: Sequence[Row]) -> tuple[Event, ...]:
    """Decode an episode's last rows except the first of them, which only serves to check the hash of the next.

    Actions stay as stored, without the text that repeats a reply. Raises LogError as `decode` does.
    """
    return tuple(_decode(row) for row in _follow_chain(rows[0].seq, rows[0].hash, rows[1:])) if rows else ()


def check_end(last: Event | None, known: EpisodeRow) -> None:
    """Raise LogError if events are missing at the end, or if the last one is not the ending that the store lists.

    `known` is the store's row of the episode, read before its events. The chain of hashes cannot show that the last
    link is gone; the row, which is written in the same commit as the events, can.
    """
    there = 0 if last is None else last.seq + 1
    if there < known.events:
        raise LogError(
            f"event {there} is missing: the store has counted {count_noun(known.events, 'event')} and holds {there}",
            seq=there,
        )
    if last is None or known.cause is None or there > known.events:
        return
    listed = (known.cause, known.reason)
    if not isinstance(last, Closed):
        raise LogError(
            f"event {last.seq} is not an ending, but the store lists {' '.join(listed).strip()}", seq=last.seq
        )
    if (ending := (last.ending.cause, last.ending.reason)) != listed:
        said, stands = " ".join(ending).strip(), " ".join(listed).strip()
        raise LogError(f"event {last.seq} ends the episode by {said}, but the store lists {stands}", seq=last.seq)


class Numbered(Protocol):
    """An event in any form; the events of exported tables have fewer fields than those of a log."""

    @property
    def seq(self) -> int:
        """Its number."""


EventT = TypeVar("EventT", bound=Numbered)


def effective(events: Sequence[EventT]) -> Sequence[EventT]:
    """The events that count, without those that a later reopening made void."""
    if Reopened not in map(type, events):
        return tuple(events)
    kept: list[EventT] = []
    for event in events:
        if isinstance(event, Reopened):
            kept = [earlier for earlier in kept if earlier.seq <= event.keep]
        kept.append(event)
    return kept


def _decode(row: Row) -> Event:
    try:
        return _decoder.decode(row.body)
    except msgspec.DecodeError as error:
        raise LogError(f"event {row.seq} cannot be read: {error}", seq=row.seq) from error


def _with_text(event: Acted, before: Sequence[Event]) -> Acted:
    """An action with text and thinking, which its stored form leaves out because the reply of call `of` has them."""
    called = before[event.of]
    if not isinstance(called, Called) or called.reply is None:
        raise LogError(f"event {event.seq} rests on event {event.of}, which is not an answered call", seq=event.seq)
    action = msgspec.structs.replace(event.action, text=called.reply.text, thinking=called.reply.thinking)
    return msgspec.structs.replace(event, action=action)


def digest_of(text: str | bytes) -> str:
    """The blake2b digest of a text as 32 hex digits (16 bytes); a string is hashed as UTF-8."""
    body = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return blake2b(body, digest_size=16).hexdigest()
