"""A doctor played by a language model.

It acts by text, tools or JSON (`dialogue`), keeps a long conversation within the model's context by summaries in its
memo, and asks once more after a reply that cannot be used.
"""

from collections.abc import Sequence
from typing import ClassVar

import msgspec

from wardround.agents.dialogue import (
    DECLINED,
    INTERFACES,
    SILENCE,
    InterfaceName,
    UnreadableReply,
    model_of,
    said_text,
    system_text,
    token_estimate,
    token_pieces,
    token_size,
)
from wardround.agents.persona import bias_text
from wardround.engine.errors import ProviderError, UsageError
from wardround.engine.records import Action, Completion, Json, Message, Said, View, user_message
from wardround.engine.seat import Seat


class Notes(msgspec.Struct, frozen=True):
    """The doctor's memo: a summary of what was said after the brief, up to the event numbered `upto`."""

    summary: str = ""
    upto: int = -1


class DoctorOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The seat's options.

    `context` is the model's context length in tokens, including its answer. `reserve` is the number of these tokens
    kept for the answer; the default is a quarter, at most 8192. `interface` is how the model acts: in the scenario's
    own text, by calling tools, or as JSON. `bias` is one of the biases of agents/data/biases.toml.
    """

    context: int = 32_768
    reserve: int | None = None
    interface: InterfaceName = "text"
    bias: str = ""

    @property
    def room(self) -> int:
        """The most tokens of a conversation."""
        return self.context - (min(8_192, self.context // 4) if self.reserve is None else self.reserve)


OPTIONAL = frozenset(("shape", "logprobs", "top_logprobs"))
"""Options of a call that an endpoint may refuse: the call is then made without them."""


class LLMDoctor:
    """Answers with what its model says to the conversation so far; the scenario's parser reads the text.

    ::

        wardround run --scenario workup --doctor openai/gpt-4o --interface tools

    All its knowledge is in the view, so it can resume at any turn. If the conversation exceeds the context (by an
    estimate, or because the endpoint says so), a summary in the memo replaces its older part. The model is asked once
    more after an empty reply, one that a filter removed, a formal refusal, and a call of a tool or JSON that cannot be
    used. The rules judge a second failure, as an empty reply. Purposes of its calls: act, repair, summarise.
    """

    sealed: ClassVar[bool] = True

    def __init__(self, seat: Seat) -> None:
        self._model = model_of(seat)
        self._prompts = seat.prompts
        self._settings = _options(seat)
        self._interface = INTERFACES[self._settings.interface](seat.prompts)
        self._bias = bias_text(seat)

    async def act(self, view: View) -> Action:
        """Reply to what was said last."""
        notes = _notes(view.memo)
        messages = self._messages(view, notes)
        room = self._settings.room
        summarised = token_estimate(messages) > room and self._can_shrink(view, notes)
        if summarised:
            notes = await self._summarise(view, notes, room)
            messages = self._messages(view, notes)
        try:
            reply = await self._ask_model(messages, "act", view)
        except ProviderError as error:
            if error.kind != "context_overflow" or summarised or not self._can_shrink(view, notes):
                raise
            # The real context is smaller than this conversation; half of that is the best guess.
            notes = await self._summarise(view, notes, min(room, token_estimate(messages)) // 2)
            messages = self._messages(view, notes)
            reply = await self._ask_model(messages, "act", view)
        memo = msgspec.to_builtins(notes) if notes.summary else None
        try:
            action = self._action(reply, view)
        except UnreadableReply as error:
            empty = [Message("assistant", SILENCE), Message("user", self._prompts["doctor/repair"].text)]
            again = self._interface.correction(reply, str(error)) if str(error) else empty
            reply = await self._ask_model([*messages, *again], "repair", view)
            try:
                action = self._action(reply, view)
            except UnreadableReply:
                action = self._interface.unread(reply)
        text = action.text if action.text.strip() else ""
        args = {**action.args, "logprobs": _first_token(reply)} if _alternatives(view) else action.args
        return msgspec.structs.replace(action, text=text, args=args, thinking=reply.thinking, memo=memo)

    def _action(self, reply: Completion, view: View) -> Action:
        """The action of a reply; raises UnreadableReply, whose message is "" for an empty reply."""
        called = self._settings.interface == "tools" and reply.more.get("tool_calls")
        if not reply.text.strip() and not called:
            raise UnreadableReply
        return self._interface.action(reply, view)

    async def _ask_model(self, messages: Sequence[Message], purpose: str, view: View) -> Completion:
        """The model's reply, or an empty one if the model declined or a filter removed the reply."""
        try:
            return await self._complete(messages, purpose, view)
        except ProviderError as error:
            if error.kind not in DECLINED:
                raise
            return Completion("", finish=error.kind)

    async def _complete(self, messages: Sequence[Message], purpose: str, view: View) -> Completion:
        """The model's reply; an endpoint that refuses the optional options is asked again without them."""
        most = _alternatives(view)
        options = {**self._interface.options(view), **({"logprobs": True, "top_logprobs": most} if most else {})}
        try:
            return await self._model.complete(messages, purpose=purpose, **options)
        except ProviderError as error:
            if error.kind != "bad_request" or OPTIONAL.isdisjoint(options):
                raise
        kept = {name: value for name, value in options.items() if name not in OPTIONAL}
        return await self._model.complete(messages, purpose=purpose, **kept)

    def _messages(self, view: View, notes: Notes) -> list[Message]:
        """The system message, the brief with the summary in the notes, and what was said after that summary."""
        parts = (system_text(view, self._prompts), self._interface.instructions(view), self._bias)
        system = "\n\n".join(part.strip() for part in parts if part.strip()) if any(parts[1:]) else parts[0]
        opening = [Message("system", system)] if system.strip() else []
        brief = view.brief
        if notes.summary:
            brief = f"{brief}\n\n{self._prompts['doctor/summary'].render(summary=notes.summary)}"
        images = view.known.get("images") if isinstance(view.known, dict) else None
        opening.append(user_message(brief, images or ()))
        go_on = self._prompts["doctor/continue"].text
        return self._interface.messages(opening, _heard_after(view.heard, notes.upto), view, go_on)

    def _can_shrink(self, view: View, notes: Notes) -> bool:
        return bool(_heard_after(view.heard, notes.upto))

    async def _summarise(self, view: View, notes: Notes, room: int) -> Notes:
        """Notes that cover everything up to the doctor's last words, or all of it if the rest alone is too long.

        Returns the old notes if the model writes none.
        """
        fresh = _heard_after(view.heard, notes.upto)
        own = max((index for index, said in enumerate(fresh) if said.seat == view.seat), default=-1)
        longest = room // 4
        kept = Message("user", "\n\n".join([view.brief, *(said_text(said) for said in fresh[own + 1 :])]))
        covered = fresh[: own + 1] if own >= 0 and token_estimate([kept]) + longest <= room else fresh
        lines = (f"{'you' if said.seat == view.seat else said.seat}: {said_text(said)}" for said in covered)
        prompt = self._prompts["doctor/summarise"]
        frame = token_size(prompt.text) + token_size(view.brief) + longest
        summary = notes.summary
        for said in token_pieces(lines, max(room - frame, room // 4)):
            text = prompt.render(
                brief=view.brief, notes=summary or "(none yet)", said=said, words=str(max(50, longest // 2))
            )
            reply = await self._model.complete([Message("user", text)], purpose="summarise")
            if not reply.text.strip():  # without a summary nothing may be left out
                return notes
            # notes as long as the conversation would save nothing
            summary = token_pieces([reply.text.strip()], longest)[0]
        return Notes(summary, covered[-1].seq)


def _alternatives(view: View) -> int:
    """The number of alternatives for the first token of a reply that the scenario wants; 0 for none."""
    wanted = view.known.get("logprobs") if isinstance(view.known, dict) else 0
    return wanted if isinstance(wanted, int) else 0


def _first_token(reply: Completion) -> Json:
    """The alternatives for the first token of the text, as (token, log-probability); None if none.

    Spaces and the tokens of the model's thinking before it are passed over.
    """
    content = (reply.more.get("logprobs") or {}).get("content")
    rows = [row for row in content if isinstance(row, dict)] if isinstance(content, list) else []
    tokens = [str(row.get("token", "")) for row in rows]
    begin = max(0, "".join(tokens).rfind(reply.text.strip())) if reply.thinking else 0
    end = 0
    for row, token in zip(rows, tokens, strict=True):
        end += len(token)
        if end > begin and token.strip():
            every = row.get("top_logprobs") or [row]
            return [[one.get("token"), one.get("logprob")] for one in every if isinstance(one, dict)]
    return None


def _heard_after(heard: Sequence[Said], upto: int) -> list[Said]:
    return [said for said in heard if said.seq > upto]


def _notes(memo: Json) -> Notes:
    """The notes in a memo; empty ones if the memo is another agent's (after a fork that changed the agent)."""
    try:
        return msgspec.convert(memo, Notes)
    except msgspec.ValidationError:
        return Notes()


def _options(seat: Seat) -> DoctorOptions:
    try:
        settings = msgspec.convert(dict(seat.options), DoctorOptions)
    except msgspec.ValidationError as error:
        raise UsageError(
            f"options of {seat.name}: {error}; there are: context, reserve (numbers of tokens), interface, bias"
        ) from error
    if settings.room < 1 or settings.context < 1:
        raise UsageError(
            f"options of {seat.name}: context {settings.context} leaves no room beside a reserve of {settings.reserve}"
        )
    return settings
