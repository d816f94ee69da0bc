"""`wardround show`: a run, or one episode word by word."""

from collections.abc import Iterator, Mapping, Sequence

import anyio
import click
import msgspec

from wardround.cli.options import existing_store, json_option, print_json, store_option
from wardround.cli.screen import echo, echo_lines
from wardround.engine.events import Acted, Called, Closed, Event, Opened, Reopened
from wardround.engine.text import count_noun, in_number, printable
from wardround.engine.trajectory import Trajectory
from wardround.evaluators.evaluation import answers, goal_of
from wardround.evaluators.measures import format_value
from wardround.evaluators.metrics.standard import asked_for
from wardround.evaluators.reasons import ended_by
from wardround.evaluators.report.answer_reading import as_read
from wardround.evaluators.report.episode_dialogue import (
    SAID,
    Dialogue,
    DialogueTurn,
    Spent,
    format_points,
    rebuild_dialogue,
)
from wardround.evaluators.report.rendering import criterion_marks
from wardround.evaluators.report.score_rows import Accounts, read_accounts
from wardround.runs.header import RunHeader, SeatHeader
from wardround.runs.settings import header_without_secrets
from wardround.runs.stored_run import Run
from wardround.scenarios.case import Case
from wardround.scenarios.question_item import LETTERS, QuestionItem, asked_lines, in_words
from wardround.scoring.scorings import default_scorings
from wardround.scoring.stored_scores import accounts


@click.command(short_help="Show a run, or one episode word by word.")
@click.argument("run")
@click.argument("episode", required=False)
@click.option("--calls", is_flag=True, help="Show the calls of models too, with what they sent.")
@click.option("--limit", default=50, show_default=True, help="Episodes to list.")
@store_option
@json_option
def command(run: str, episode: str | None, calls: bool, limit: int, store: str | None, as_json: bool) -> None:
    """Show a run, or one episode word by word.

    EPISODE is its id (CASE@REPEAT), its number, or its case if that was played once. Each action is shown with what the
    doctor knew by then, the outcome of each request with its cost in points, and the corrections by the desk.
    --json prints every event.

    \b
    Example:  wardround show calm-heron-417
              wardround show calm-heron-417 adm-01@1 --calls
    """
    if episode is None:
        anyio.run(lambda: _show_run(run, store, limit, as_json))
    else:
        anyio.run(lambda: _show_episode(run, episode, store, calls, as_json))


async def _show_run(name: str, where: str | None, limit: int, as_json: bool) -> None:
    async with existing_store(where) as store:
        run = await Run.open(store, name)
        if as_json:
            print_json({"run": name, "header": header_without_secrets(run.json), "episodes": await run.episodes()})
            return
        rows, total = await run.episodes(limit), sum((await run.endings()).values())
        echo(f"{name}: {run.header.scenario.name}, begun {run.header.begun}")
        for seat, config in run.header.seats.items():
            echo(f"  {seat:<10} {config.spec}{_host_and_knowledge(config)}")
            for line in _models(config):
                echo(f"  {'':<10} {line}")
        header = run.header if isinstance(run.header, RunHeader) else None
        if header and header.imported:
            for line in header.imported.recognised:
                echo(f"  imported from {line}")
        if run.restricted:
            hosts = ", ".join(header.settings.get("allow_hosts", ()) if header else ()) or "none"
            echo(
                f"  {run.restricted:,} of its cases {in_number(run.restricted, 'is')} restricted; "
                f"hosts allowed for them: {hosts}"
            )
        for case, why in header.skipped.first[:limit] if header else ():
            echo(f"   not run  {case}: {why}")
        for row in rows:
            echo(
                f"{row.number:>6}  {row.id:<32} {count_noun(row.events, 'event'):>11}  "
                f"{ended_by(row.cause, row.reason)}"
            )
        if total > len(rows):
            echo(f"({total - len(rows):,} more: --limit)")


def _models(config: SeatHeader) -> Iterator[str]:
    """The models of a seat's agent, and the parameters that a model refused."""
    for name, model in config.models.items():
        yield f"model {f'{name}=' if name else ''}{model.spec}" + (f" at {model.host}" if model.host else "")
    for refused in [config.dropped] if not config.models else [one.dropped for one in config.models.values()]:
        said = (f"{name} (sent as {other})" if other else name for name, other in refused.items())
        if refused:
            yield f"refused and not sent: {', '.join(said)}"


def _host_and_knowledge(config: SeatHeader) -> str:
    """Where a seat's model is, and what its agent knows besides its view."""
    return (f"  at {config.host}" if config.host else "") + (f"  told: {config.knows}" if config.knows else "")


async def _show_episode(name: str, episode: str, where: str | None, calls: bool, as_json: bool) -> None:
    async with existing_store(where) as store:
        run = await Run.open(store, name)
        row = await run.episode(episode)
        trajectory = await run.trajectory(row)
        if as_json:
            print_json({"run": name, "episode": row, "events": [msgspec.to_builtins(event) for event in trajectory]})
            return
        case = await run.item(row.case)
        patient = case if isinstance(case, Case) and not run.evaluated else None  # no question, article or evaluation
        dialogue = rebuild_dialogue(patient, trajectory, await run.installed_scenario()) if patient else None
        first = _read_first(dialogue, patient) if dialogue and patient else _question(case)
        for text in _lines(trajectory, dialogue, first, calls=calls):
            click.echo(text + "\n")
        echo_lines(_by_role(dialogue.turns if dialogue else ()))
        if trajectory.closed:
            for line in _conclusion(patient, trajectory) if patient else _answer_lines(case, trajectory):
                echo(line, lines=True)
        every = await default_scorings(store, name)
        judging = {key: one.judged.name for key, one in every.items() if one.judged is not None}
        echo_lines(_rubrics(read_accounts(await accounts(store, judging, row.id))))


def _rubrics(judged: Accounts) -> Iterator[str]:
    """The criteria of the rubric as they were marked, with the events that show them."""
    for name, account in judged.rubrics.items():
        score = "no score" if account.score is None else format_value("rubric_score", account.score)
        floor = ", a lower bound" if account.floor else ""
        yield f"Rubric ({name}{floor}): {score}"
        for one in criterion_marks(account):
            shown = f"; events {', '.join(map(str, one.events))}" if one.events else ""
            yield f"    {one.points:+g}  {printable(one.criterion)}: {one.mark}, {one.decided}{shown}"


def _by_role(turns: Sequence[DialogueTurn]) -> Iterator[str]:
    """What each role of a team spent in the whole episode."""
    spent: dict[str, list[Spent]] = {}
    for turn in turns:
        for role, one in turn.roles.items():
            spent.setdefault(role, []).append(one)
    if spent:
        yield "Calls by role:"
    for role, parts in spent.items():
        costs = [part.cost for part in parts]
        cost = None if None in costs else sum(cost for cost in costs if cost is not None)
        whole = Spent(sum(part.calls for part in parts), sum(part.tokens for part in parts), cost)
        yield f"    {printable(role)}: {_spent(whole)}"


def _spent(spent: Spent) -> str:
    cost = "price not known" if spent.cost is None else format_value("cost_usd", spent.cost)
    return f"{count_noun(spent.calls, 'call')}, {count_noun(spent.tokens, 'token')}, {cost}"


def _conclusion(case: Case, trajectory: Trajectory) -> Iterator[str]:
    """Lines that say how the answer was read, and the truth."""
    goal = goal_of(case, trajectory)
    read = as_read(answers(trajectory.ending).get(goal, ""), case, goal, asked_for(trajectory))
    if read:
        yield "The answer as read:"
        yield from (f"    {label}: {text}" for label, text in read)
    yield f"The truth: {case.truth.treatment if goal == 'treatment' else case.truth.diagnosis}"


def _answer_lines(case: object, trajectory: Trajectory) -> Iterator[str]:
    """Lines that say how the answer to a question was read, and the right answer."""
    if isinstance(case, QuestionItem):
        reading = trajectory.ending.facts.get("reading") if trajectory.ending else None
        if isinstance(reading, Mapping):
            yield f"The answer as read: {in_words(case, reading.get('option'), reading.get('holds'))}"
        right = in_words(case, case.truth.option, case.truth.holds)
        if right:
            yield f"The right answer: {right}"
        elif case.truth.answers:
            yield f"{'The reference' if case.form == 'free' else 'Accepted answers'}: {'; '.join(case.truth.answers)}"


def _question(case: object) -> str:
    """A question with its options in the order of the source; '' for anything else."""
    if not isinstance(case, QuestionItem):
        return ""
    options = [f"{letter}: {option}" for letter, option in zip(LETTERS, case.options, strict=False)]
    said = asked_lines(case) if case.before else [*case.context, case.question]
    return printable("\n\n".join([*said, "\n".join(options)]).strip(), lines=True)


def _lines(trajectory: Trajectory, dialogue: Dialogue | None, first: str, *, calls: bool) -> Iterator[str]:
    """What happened, event by event; `dialogue` adds what the events do not say, `first` is what stood there first."""
    turns = {turn.seq: turn for turn in dialogue.turns} if dialogue else {}
    for event in trajectory:
        if isinstance(event, Acted) and (turn := turns.get(event.seq)):
            yield _turn(turn)
        elif text := _event_lines(event, trajectory, void=dialogue is not None, calls=calls):
            yield text
        if isinstance(event, Opened) and first:
            yield first


def _read_first(dialogue: Dialogue, case: Case) -> str:
    """The part of the case that the doctor read, without the rules of the game around it."""
    part = next((text for text in (case.opening, case.complaint) if text and text in dialogue.brief), dialogue.brief)
    return printable(part, lines=True)


def _turn(turn: DialogueTurn) -> str:
    """One action, with what was known before it, what it cost, and what the desk answered."""
    beside = []
    if turn.seat == "doctor":
        had = (
            f"{count_noun(len(turn.known), 'result')} for {format_points(turn.points)}"
            if turn.known
            else "what was read first"
        )
        beside.append(f"known by now: {had}")
    if turn.spent.calls:
        beside.append(_spent(turn.spent))
    head = click.style(printable(f"[{turn.seq}] {turn.seat}: {turn.verb}"), bold=True)
    lines = [f"{head}  ({'; '.join(beside)})" if beside else head]
    if turn.thinking:
        lines.append(f"(thinking) {printable(turn.thinking, lines=True)}")
    lines += [printable(turn.said, lines=True)] if turn.said else []
    lines += [f"    {printable(note)}" for note in turn.notes]
    lines += [f"    role {printable(role)}: {_spent(spent)}" for role, spent in turn.roles.items()]
    lines += [f"    role {printable(role)} failed: {printable(str(why))}" for role, why in turn.failed.items()]
    lines += [f"    {printable(act.asked)}: {act.outcome}, {format_points(act.points)}" for act in turn.acts]
    for said in turn.desk:
        why = f": {printable(str(said.args['why']))}" if said.args.get("why") else ""
        lines.append(click.style(f"    desk, {SAID.get(said.verb, said.verb)}{why}", bold=True))
        lines += [f"    {line}" for line in printable(said.text, lines=True).splitlines()]
    return "\n".join(lines)


def _event_lines(event: Event, trajectory: Trajectory, *, void: bool, calls: bool) -> str:
    match event:
        case Opened():
            about = f"{event.episode}: {event.scenario}, case {event.case}"
            return click.style(f"[{event.seq}] {printable(about)}", bold=True)
        case Acted():
            return _action_line(event, void=void)
        case Called() if calls:
            sent = "\n".join(f"  {message.role}> {message.content}" for message in trajectory.messages(event))
            got = event.reply.text if event.reply else f"failed: {event.error}"
            recalled = ", recalled from the cache" if event.reply and event.reply.recalled else ""
            return printable(
                f"[{event.seq}] call of {event.seat} ({event.purpose}{recalled})\n{sent}\n  reply> {got}", lines=True
            )
        case Reopened():
            return f"[{event.seq}] reopened for {printable(', '.join(event.causes))}; goes on after event {event.keep}"
        case Closed():
            ending = event.ending
            code = f"  ({ending.cause} {ending.reason})" if ending.reason else ""
            head = click.style(
                printable(f"[{event.seq}] {ended_by(ending.cause, ending.reason)}"), bold=True
            ) + printable(code)
            return head + (f": {printable(ending.detail)}" if ending.detail else "")
        case _:
            return ""


def _action_line(event: Acted, *, void: bool) -> str:
    """An action as its event records it; `void` says that a later reopening took it back."""
    thinking = f"\n(thinking) {event.action.thinking}" if event.action.thinking else ""
    # an examiner's result is not shown twice, as data and as text
    bare = event.action.args and not event.action.text
    args = f"\n{msgspec.json.encode(event.action.args).decode()}" if bare else ""
    said = f"\n{event.action.text}" if event.action.text else ""
    taken_back = "  (void: the episode was reopened before it)" if void else ""
    head = click.style(printable(f"[{event.seq}] {event.seat}: {event.action.verb}"), bold=True)
    return head + taken_back + printable(thinking + args + said, lines=True)
