"""`wardround replay`: check that episodes replay identically, or fork one."""

from typing import Any

import anyio
import click

from wardround.cli.live import live_table
from wardround.cli.options import Options, existing_store, json_option, on_terminal, print_json, store_option
from wardround.cli.screen import echo
from wardround.engine.batch import Progress, interruptible
from wardround.engine.errors import LogError, UsageError
from wardround.engine.text import count_noun, in_number
from wardround.replay_run import fork_run, recorded_run
from wardround.runs.stored_run import Run

_SEATS = ("doctor", "patient", "examiner")


@click.command(short_help="Check that episodes replay identically, or fork one.")
@click.argument("run")
@click.argument("episode", required=False)
@click.option(
    "--from", "after", type=click.IntRange(0), help="Fork after this action (1 is the first; 0 forks at the start)."
)
@click.option("--doctor", metavar="SPEC", help="With --from: the doctor of the fork.")
@click.option("--patient", metavar="SPEC", help="With --from: the patient of the fork.")
@click.option("--examiner", metavar="SPEC", help="With --from: the examiner of the fork.")
@click.option("--base-url", metavar="URL", help="With --from: endpoint of the doctor's model.")
@click.option("--name", help="With --from: name of the new run.")
@store_option
@json_option
def command(run: str, episode: str | None, **options: Any) -> int:
    """Check the hash chain of an episode, or of all episodes, and play it again from its recorded calls.

    Names the first event that was altered or differs, with exit code 1. With --from it copies the episode up to an
    action and continues it in a new run, with the agent that --doctor, --patient or --examiner names.

    \b
    Example:  wardround replay calm-heron-417 adm-01@1
              wardround replay calm-heron-417 adm-01@1 --from 3 --doctor openai/gpt-4o
    """
    if options["after"] is not None:
        if episode is None:
            raise UsageError("--from needs the EPISODE to fork")
        if not any(options[name] for name in (*_SEATS, "base_url")):
            raise UsageError(
                f"--from {options['after']} forks the episode: a new run copies its first actions and then plays on. "
                "Say who goes on, for instance --doctor SPEC; to prove an episode equal leave --from out"
            )
        return anyio.run(lambda: _fork(run, episode, options))
    for seat in ("doctor", "patient", "examiner", "base_url", "name"):
        if options[seat]:
            raise UsageError(f"--{seat.replace('_', '-')} goes with --from K")
    return anyio.run(lambda: _replay(run, episode, options["store"], options["as_json"]))


async def _replay(name: str, episode: str | None, where: str | None, as_json: bool) -> int:
    async with existing_store(where) as store:
        run = await Run.open(store, name)
        ids = None if episode is None else [(await run.episode(episode)).id]
        recorded, outcomes = await recorded_run(run), []
        async for outcome in recorded.replay(ids):
            outcomes.append(outcome)
            if not as_json and (outcome.error or episode is not None):
                same = f"equal, {count_noun(outcome.actions, 'action')}"
                echo(f"{outcome.episode}: {outcome.error or same}")
        differing = [outcome for outcome in outcomes if outcome.error]
        if as_json:
            print_json(
                {"run": name, "episodes": len(outcomes), "equal": len(outcomes) - len(differing), "differ": differing}
            )
        elif episode is None:
            equal = len(outcomes) - len(differing)
            echo(f"{equal} of {count_noun(len(outcomes), 'episode')} {in_number(equal, 'is')} equal")
        for seat, (then, now) in () if as_json else recorded.changed.items():
            echo(
                f"The {seat} followed version {then} of its rules, and this Wardround has version {now}: its actions "
                "are taken as they were recorded, and only the other seats are repeated."
            )
        if differing and not as_json and recorded.unrecorded:
            echo(
                f"The judge {', '.join(recorded.unrecorded)} is code of this Wardround and its answers are not "
                "recorded: another version may have judged otherwise. The stored scores are as they were."
            )
        return 1 if differing else 0


async def _fork(name: str, episode: str, options: Options) -> int:
    progress = Progress()
    seats = {seat: {"spec": options[seat]} for seat in _SEATS if options[seat]}
    if options["base_url"]:
        seats.setdefault("doctor", {})["base_url"] = options["base_url"]
    async with existing_store(options["store"]) as store:
        run = await Run.open(store, name)
        async with interruptible(progress), live_table(progress, shown=on_terminal() and not options["as_json"]):
            row = await run.episode(episode)
            try:
                child = await fork_run(run, row, options["after"], seats, name=options["name"], progress=progress)
            except LogError as error:
                raise UsageError(f"{row.id}: {error}") from error
        endings = await child.endings()
        if options["as_json"]:
            print_json({"run": child.name, "parent": name, "from": options["after"], "endings": endings})
        else:
            echo(f"{child.name}: forked from {row.id} after action {options['after']}: {', '.join(endings)}")
        return 130 if "open" in endings else 0 if set(endings) == {"completed"} else 3
