"""`wardround status`: the processes at work on a run, what it spent, what is left."""

import time

import anyio
import click

from wardround.cli.options import existing_store, json_option, print_json, store_option
from wardround.cli.screen import echo_lines
from wardround.engine.records import Json
from wardround.engine.text import count_noun, duration_text
from wardround.evaluators.reasons import ended_by
from wardround.runs.control import Status, status
from wardround.runs.stored_run import Run


@click.command(short_help="Show the status of a run: the processes at work, what it spent, what is left.")
@click.argument("run")
@store_option
@json_option
def command(run: str, store: str | None, as_json: bool) -> None:
    """Show the status of a run: the processes at work, what it spent, what is left.

    \b
    Example:  wardround status calm-heron-417
    """
    state = anyio.run(lambda: _status(run, store))
    if as_json:
        print_json(state.to_json())
        return
    echo_lines(lines(state, time.time()))


async def _status(name: str, where: str | None) -> Status:
    async with existing_store(where) as store:
        return await status(await Run.open(store, name))


def lines(state: Status, now: float) -> list[str]:
    """The status as lines of text."""
    ends = ", ".join(f"{count:,} {ended_by(cause)}" for cause, count in state.endings.items())
    said = [f"{state.run}: {state.state}; {count_noun(sum(state.endings.values()), 'episode')}: {ends}"]
    for row in state.at_work:
        beat = row.status
        paused = ", paused" if beat.get("paused") else ""
        draining = f", draining: {beat['draining']}" if beat.get("draining") else ""
        seconds = max(row.seen - row.began, 1e-9)
        searches = beat.get("searches", 0)
        looked = f" and {searches / seconds:.1f} searches/s" if searches else ""
        rate = f"{(beat.get('calls', 0) - searches) / seconds:.1f} calls/s{looked}"
        said.append(
            f"  at work: {row.host.partition('/')[0]} process {row.pid}, {beat.get('running', 0)} of "
            f"{beat.get('concurrency', '?')} at once, {rate}, "
            f"heard {now - row.seen:.0f} s ago{paused}{draining}"
        )
        said += [f"    {_endpoint(beat, now)}" for beat in beat.get("endpoints", ())]
    for seat, spent in state.spent.items():
        unpriced = f" + {count_noun(spent.unpriced, 'call')} without a price" if spent.unpriced else ""
        failed = f" ({spent.failed:,} failed)" if spent.failed else ""
        recalled = f", {count_noun(spent.recalled, 'answer')} from the cache" if spent.recalled else ""
        cost = f"{spent.cost:.4f} USD{unpriced}" if spent.cost or not spent.unpriced else "cost unknown"
        said.append(
            f"  {seat}: {count_noun(spent.calls, 'call')}{failed}{recalled}, "
            f"{count_noun(spent.tokens, 'token')}, {cost}"
        )
    said += [f"  made again after a refusal, an error or a silence: {count_noun(state.again, 'call')}"][: state.again]
    if state.searched is not None:
        failed = f" ({state.searched.failed:,} failed)" if state.searched.failed else ""
        said.append(f"  search: {count_noun(state.searched.calls, 'request')} for searches and pages{failed}")
    said += [
        f"  budget of {row['of']}: {_amount(row['spent'])} of {_amount(row['cap'])} {_UNITS[row['what']]}"
        for row in state.budget
    ]
    if state.seconds_left is not None and state.state == "running":
        said.append(f"  about {duration_text(state.seconds_left)} left at this rate")
    return said


_UNITS = {"cost": "USD", "tokens": "tokens", "calls": "calls", "wall": "s of work"}


def _amount(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.4f}"


def _endpoint(gate: dict[str, Json], now: float) -> str:
    """The state of an endpoint's gate (engine/models/gate.py), in words."""
    cap, latency, share = gate.get("cap"), gate.get("latency"), gate.get("rate_limited", 0.0)
    waiting = ", ".join(f"{count:,} of {role}" for role, count in gate.get("waiting", {}).items() if count)
    today, paused = gate.get("today"), gate.get("paused_until")
    facts = [
        f"{gate.get('in_flight', 0):,}{f' of at most {cap:,}' if cap else ''} in flight",
        f"waiting {waiting}" if waiting else "",
        f"{count_noun(gate.get('calls', 0), 'call')}",
        f"{latency:.2f} s a call" if latency is not None else "",
        f"{share:.0%} of the last refused" if share else "",
        f"paused for {paused - now:.0f} s" if paused and paused > now else "",
        f"today {count_noun(today['requests'], 'request')}, {count_noun(today['tokens'], 'token')}" if today else "",
        "" if gate.get("healthy", True) else "taken out, tried again now and then",
        str(gate.get("silent", "")),
    ]
    return f"{gate.get('address', '?')}: {', '.join(filter(None, facts))}"
