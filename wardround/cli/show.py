"""`wardround show`."""

from typing import Any

import click
import msgspec

from wardround.cli.options import drive, existing_store, json_option, say_json, store_option
from wardround.engine.events import Acted, Called, Closed, Event, Opened, Reopened
from wardround.results import Run
from wardround.stored import StoredRun


@click.command(short_help="Read a run, or one episode word by word.")
@click.argument("run")
@click.argument("episode", required=False)
@click.option("--calls", is_flag=True, help="Show the calls of models too, with what they sent.")
@click.option("--limit", default=50, show_default=True, help="Episodes to list.")
@store_option
@json_option
def command(run: str, episode: str | None, calls: bool, limit: int, store: str | None, as_json: bool) -> None:
    """Read a run, or one episode word by word.

    EPISODE is its id (CASE@REPEAT), its number, or its case if that was played once. --json has all there is.

    \b
    Example:  wardround show calm-heron-417
              wardround show calm-heron-417 adm-01@1 --calls
    """
    if episode is None:
        drive(lambda: _show_run(run, store, limit, as_json))
    else:
        drive(lambda: _show_episode(run, episode, store, calls, as_json))


async def _show_run(name: str, where: str | None, limit: int, as_json: bool) -> None:
    store = existing_store(where)
    try:
        run = await StoredRun.open(store, name)
        if as_json:
            say_json({"run": name, "header": run.header, "episodes": await run.episodes()})
            return
        rows, total = await run.episodes(limit), sum((await run.endings()).values())
        click.echo(f"{name}: {run.header['scenario']['name']}, begun {run.header['begun']}")
        for seat, told in run.header["seats"].items():
            click.echo(f"  {seat:<10} {told['spec']}{_beside(told)}")
        if run.restricted:
            hosts = ", ".join(run.header.get("settings", {}).get("allow_hosts", ())) or "none"
            click.echo(f"  {run.restricted:,} of its cases are restricted; hosts allowed for them: {hosts}")
        for case, why in run.header["skipped"]["first"][:limit] if "skipped" in run.header else ():
            click.echo(f"   not run  {case}: {why}")
        for row in rows:
            click.echo(f"{row.number:>6}  {row.id:<32} {row.events:>4} events  {row.cause or 'open'} {row.reason}")
        if total > len(rows):
            click.echo(f"({total - len(rows):,} more: --limit)")
    finally:
        await store.aclose()


def _beside(told: dict[str, Any]) -> str:
    """Where a seat's model is, and what its agent is told."""
    host = f"  at {told['host']}" if told.get("host") else ""
    return host + (f"  told: {told['told']}" if told["told"] else "")


async def _show_episode(name: str, episode: str, where: str | None, calls: bool, as_json: bool) -> None:
    store = existing_store(where)
    try:
        run = await Run.open(store, name)
        row = await run.episode(episode)
        trajectory = await run.trajectory(row.id)
        if as_json:
            say_json({"run": name, "episode": row, "events": [msgspec.to_builtins(event) for event in trajectory]})
            return
        case = await run.case(row.case)
        opening, truth = getattr(case, "opening", ""), getattr(case, "truth", None)  # an article has neither
        for event in trajectory:
            text = _told(event, trajectory, calls)
            if text:
                click.echo(text + "\n")
            if isinstance(event, Opened) and opening and not run.evaluated:
                click.echo(f"{opening}\n")
        if truth and trajectory.closed and not run.evaluated:
            goal = str(run.header["scenario"].get("goal", "diagnosis"))
            click.echo(f"The truth: {truth.treatment if goal == 'treatment' else truth.diagnosis}")
    finally:
        await store.aclose()


def _told(event: Event, trajectory: Any, calls: bool) -> str:
    match event:
        case Opened():
            return click.style(f"[{event.seq}] {event.episode}: {event.scenario}, case {event.case}", bold=True)
        case Acted():
            thinking = f"\n(thinking) {event.action.thinking}" if event.action.thinking else ""
            # what an examiner says in words need not stand there twice
            bare = event.action.args and not event.action.text
            args = f"\n{msgspec.json.encode(event.action.args).decode()}" if bare else ""
            said = f"\n{event.action.text}" if event.action.text else ""
            return click.style(f"[{event.seq}] {event.seat}: {event.action.verb}", bold=True) + thinking + args + said
        case Called() if calls:
            sent = "\n".join(f"  {message.role}> {message.content}" for message in trajectory.messages(event))
            got = event.reply.text if event.reply else f"failed: {event.error}"
            recalled = ", recalled from the cache" if event.reply and event.reply.recalled else ""
            return f"[{event.seq}] call of {event.seat} ({event.purpose}{recalled})\n{sent}\n  reply> {got}"
        case Reopened():
            return f"[{event.seq}] reopened for {', '.join(event.causes)}; goes on after event {event.keep}"
        case Closed():
            ending = event.ending
            return click.style(f"[{event.seq}] {ending.cause} {ending.reason}", bold=True) + (
                f": {ending.detail}" if ending.detail else ""
            )
        case _:
            return ""
