"""A doctor that is a team: one model in several roles, or several models, from a TOML file of roles and steps.

::

    wardround run --doctor team:panel --doctor-model openai/gpt-4o
"""

import re
from collections.abc import Mapping, Sequence
from typing import ClassVar

import msgspec

from wardround.agents.dialogue import DECLINED, SILENCE, dialogue, model_of, system_text
from wardround.agents.toml_files import read_toml
from wardround.engine.errors import ProviderError, UsageError
from wardround.engine.records import Action, Completion, Json, Message, View, json_object
from wardround.engine.seat import Seat, Voice
from wardround.engine.text import count_noun, suggestion

TEAM = "team"
PURPOSE = "team/"
"""The purposes of the calls of a team begin with this; the name of the role follows."""


class Role(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One member of a team.

    `model` is the name of one of the seat's models, or `provider/model`; "" is the seat's only or first model. `keeps`:
    the member reads in the next turn what it said last.
    """

    prompt: str
    model: str = ""
    keeps: bool = False


class TeamStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Members who speak at the same time, each after the steps before; `ask` is what they are asked for."""

    roles: tuple[str, ...]
    ask: str = ""


class TeamPlan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A team, as its file describes it. The last step has one role, which writes the doctor's words."""

    roles: dict[str, Role]
    steps: tuple[TeamStep, ...]
    about: str = ""
    name: str = ""


def read_team(place: str) -> dict[str, Json]:
    """The team of this name, or of this TOML file, as JSON for the run's header; raises UsageError."""
    where = f"{TEAM}:{place}"
    return json_object(as_team(read_toml(place, "teams", "team", where), where))


def as_team(fields: Json, where: str = TEAM) -> TeamPlan:
    """The team of these fields; raises UsageError that names what is wrong."""
    try:
        team = msgspec.convert(fields, TeamPlan)
    except msgspec.ValidationError as error:
        raise UsageError(f"{where}: {error}") from error
    for name in team.roles:
        if not re.fullmatch(r"[a-z][a-z0-9_]{0,30}", name):
            raise UsageError(f"{where}: the role {name!r} must be a word of small letters, digits and underscores")
    if not team.steps:
        raise UsageError(f"{where}: there is no step; write [[steps]] with the roles that speak in it")
    for number, step in enumerate(team.steps, 1):
        if not step.roles:
            raise UsageError(f"{where}: step {number} has no role")
        for role in step.roles:
            if role not in team.roles:
                raise UsageError(f"{where}: step {number} names no role {role!r}{suggestion(role, list(team.roles))}")
    if len(team.steps[-1].roles) != 1:
        raise UsageError(
            f"{where}: the last step has {count_noun(len(team.steps[-1].roles), 'role')}; one writes the doctor's words"
        )
    if unused := [name for name in team.roles if all(name not in step.roles for step in team.steps)]:
        raise UsageError(f"{where}: the role {unused[0]!r} speaks in no step")
    return team


class Team:
    """A doctor whose words are the work of several roles.

    Each role is a call of its own: its purpose is `team/ROLE`, so that the store, `show` and `report` tell the calls
    and the cost of each. A role reads the brief, the whole dialogue, its own notes, and what was said in earlier steps
    of the turn; the role of the last step writes the doctor's words. A role that says nothing, refuses or is filtered
    is asked once more; then the team goes on without it, and the action names it with the reason (`failed`). If the
    last role fails, the doctor's words are empty, which the rules judge. Any other failure of a model ends the episode
    as for every agent.
    """

    sealed: ClassVar[bool] = True
    VERSION: ClassVar[int] = 1

    def __init__(self, seat: Seat) -> None:
        self._team = as_team(seat.options.get(TEAM))
        self._prompts = seat.prompts
        first = model_of(seat)
        self._models: dict[str, Voice] = {}
        for name, role in self._team.roles.items():
            wanted = name if "/" in role.model else role.model
            if wanted and wanted not in seat.models:
                raise UsageError(
                    f"{seat.name}: the role {name!r} wants the model {wanted!r}: name it, for instance "
                    f"--{seat.name}-model {wanted}=openai/gpt-4o{suggestion(wanted, list(seat.models))}"
                )
            self._models[name] = seat.models[wanted] if wanted else first

    async def act(self, view: View) -> Action:
        """Let each step speak, and say what the last role wrote."""
        notes = view.memo if isinstance(view.memo, Mapping) else {}
        said: list[tuple[str, str]] = []
        failed: dict[str, Json] = {}
        reply = Completion("")
        for step in self._team.steps:
            last = step is self._team.steps[-1]
            before = tuple(said)  # roles of one step do not hear each other
            for role in step.roles:
                messages = self._messages(view, role, step.ask, before, str(notes.get(role, "")), last=last)
                reply, reason = await self._speak(role, messages)
                if reason:
                    failed[role] = reason
                said.append((role, reply.text.strip() or SILENCE))
        kept = {role: text for role, text in said if self._team.roles[role].keeps and text != SILENCE}
        memo = {**{str(role): str(text) for role, text in notes.items()}, **kept} or None
        text = reply.text if reply.text.strip() else ""
        return Action("reply", text, {"failed": failed} if failed else {}, reply.thinking, memo)

    async def _speak(self, role: str, messages: Sequence[Message]) -> tuple[Completion, str]:
        """What a role says, and why it said nothing when it was asked twice; "" if it spoke."""
        reason = ""
        repair = [Message("assistant", SILENCE), Message("user", self._prompts["doctor/repair"].text)]
        for asked in (messages, [*messages, *repair]):
            try:
                reply = await self._models[role].complete(asked, purpose=f"{PURPOSE}{role}")
            except ProviderError as error:
                if error.kind not in DECLINED:
                    raise
                reason = error.kind
                continue
            if reply.text.strip():
                return reply, ""
            reason = "empty"
        return Completion(""), reason

    def _messages(
        self, view: View, role: str, ask: str, said: Sequence[tuple[str, str]], notes: str, *, last: bool
    ) -> list[Message]:
        """System and dialogue, which stay the same from turn to turn, then what is new in this step."""
        prompts = self._prompts
        system = prompts["team/role"].render(
            system=system_text(view, prompts).strip(), role=role, prompt=self._team.roles[role].prompt.strip()
        )
        opening = [Message("system", system), Message("user", view.brief)]
        messages = dialogue(opening, view.heard, view.seat, prompts["doctor/continue"].text)
        usual = prompts["team/write" if last else "team/speak"].text
        asked = (ask, usual) if last else (ask or usual,)
        turn = prompts["team/turn"].render(
            ask="\n\n".join(part.strip() for part in asked if part.strip()),
            notes=notes or "(none)",
            said="\n\n".join(f"{name}: {text}" for name, text in said) or "(nothing yet)",
        )
        return [*messages[:-1], Message("user", f"{messages[-1].content}\n\n{turn.strip()}")]
