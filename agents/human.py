"""A seat for a person at the terminal."""

from typing import ClassVar

from rich.console import Console
from rich.markup import escape

from wardround.agents.terminal import Terminal, terminal
from wardround.engine.episode import Ended
from wardround.engine.records import Action, Ending, View
from wardround.engine.seat import Seat
from wardround.engine.text import printable

_COMMANDS = {
    "ask": "/ask QUESTION",
    "order": "/order [examination:|lab:|microbiology:|imaging:] NAME, NAME, ... (or ; where names hold commas)",
    "conclude": "/conclude ANSWER",
}
UNATTENDED = "unattended"
_KINDS = ("examination", "lab", "microbiology", "imaging", "any")


class Human:
    """Shows what is new in the view and takes the person's words.

    A line that begins with / is a command (one for each verb that is possible now, and /quit, which ends the encounter
    without an answer). Anything else is a reply as a model would give it: lines up to an empty one. The person is asked
    again until there is something to do. Not sealed: what was shown is durable before the person reads it.
    """

    outside: ClassVar[bool] = True

    def __init__(self, seat: Seat, source: Terminal | None = None, console: Console | None = None) -> None:
        self._seat = seat
        self._source = source
        self._console = console or Console()

    async def act(self, view: View) -> Action:
        """Ask the person; raises Ended when the terminal is closed: that nobody is there is no answer of anybody's."""
        source = self._source or terminal()
        async with source.turn:
            self._show(view)
            try:
                action = None
                while action is None:
                    action = await self._once(source, view)
            except EOFError as error:
                detail = f"{error}, so nobody can answer; seat human needs an open standard input"
                raise Ended(Ending(view.seat, UNATTENDED, detail)) from error
        return Action(action.verb, action.text, action.args, memo={"seen": _newest(view)})

    def _show(self, view: View) -> None:
        seen = view.memo.get("seen") if isinstance(view.memo, dict) else None
        if not isinstance(seen, int):
            self._console.rule(escape(printable(f"{self._seat.case_id}: you are the {view.seat}")))
            self._print(view.brief)
            seen = -1
        for said in view.heard:
            if said.seq > seen and said.seat != view.seat:
                self._console.rule(escape(printable(said.seat)), align="left")
                self._print(said.text)
        self._print(_help(view))

    def _print(self, text: str) -> None:
        self._console.print(printable(text, lines=True), markup=False, highlight=False)

    async def _once(self, source: Terminal, view: View) -> Action | None:
        """What the person wants to do, or None if that was not to be understood."""
        line = await source.line()
        if not line.strip():
            self._print("Nothing was said. " + _help(view))
            return None
        if not line.startswith("/"):
            return await self._reply(source, line)
        word, _, rest = line[1:].strip().partition(" ")
        rest = rest.strip()
        if word == "quit":
            return Action("reply")
        if word not in _COMMANDS or word not in view.verbs or (not rest and word != "order"):
            self._print(f"/{word} is not possible so. " + _help(view))
            return None
        if word == "ask":
            return Action("ask", rest)
        if word == "conclude":
            return Action("conclude", rest, {"diagnosis": rest, "treatment": rest})
        action = _order(rest)
        if action is None:
            self._print("Which ones? " + _help(view))
        return action

    async def _reply(self, source: Terminal, first: str) -> Action:
        lines = [first]
        try:
            while (line := await source.line()).strip():
                lines.append(line)
        except EOFError:  # closing the terminal ends the text too
            pass
        return Action("reply", "\n".join(lines))


def _order(text: str) -> Action | None:
    """An order; None if it names nothing (which an order of the whole examination may)."""
    kind, _, names = text.partition(":")
    kind = kind.strip().lower()
    if kind not in _KINDS:
        kind, names = "any", text
    items = [name.strip() for name in names.split(";" if ";" in names else ",") if name.strip()]
    if not items and kind != "examination":
        return None
    return Action("order", text, {"kind": kind, "items": items})


def _newest(view: View) -> int:
    return max((said.seq for said in view.heard), default=-1)


def _help(view: View) -> str:
    possible = [told for verb, told in _COMMANDS.items() if verb in view.verbs]
    return "\n".join(("Your reply, ended by an empty line; or", *(f"  {told}" for told in possible), "  /quit"))
