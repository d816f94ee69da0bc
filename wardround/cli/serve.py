"""`wardround serve`: let clients outside the engine play a seat, by HTTP or MCP."""

import os
from contextlib import aclosing
from typing import Any

import anyio
import click

from wardround.cli.options import Options, store_option, store_path
from wardround.cli.screen import echo
from wardround.engine.errors import UsageError
from wardround.engine.logs import configure
from wardround.engine.plugins import import_path
from wardround.engine.protocols import Store
from wardround.faces.driven_run import DrivenRun
from wardround.faces.open_episodes import OpenEpisodes
from wardround.runs.settings import RunSettings, read_settings, validate_settings
from wardround.runs.stored_run import open_store

_PLAIN = ("scenario", "repeats", "seed", "limit", "name")
_HOSTS = ("127.0.0.1", "localhost", "::1")


@click.command(short_help="Let clients outside the engine play a seat: by HTTP, chat or MCP.")
@click.option("--cases", multiple=True, metavar="PATH", help="As in `run`.")
@click.option("--scenario", metavar="NAME", help="As in `run`; default: workup.")
@click.option("--seat", default="doctor", show_default=True, help="The seat that the clients play.")
@click.option("--patient", metavar="SPEC", help="As in `run`.")
@click.option("--examiner", metavar="SPEC", help="As in `run`.")
@click.option("--repeats", type=click.IntRange(min=1), help="Episodes of each case.")
@click.option("--seed", type=int, help="Seed of the run.")
@click.option("--limit", type=click.IntRange(min=1), help="At most so many cases.")
@click.option("--name", help="Name of the run; default: made up.")
@click.option("--config", metavar="FILE", help="A run file (TOML), as in `run`; it may hold whatever is not here.")
@click.option(
    "--allow-agent", "allow_agents", multiple=True, metavar="SPEC", help="external: clients may see restricted cases."
)
@click.option("--resume", "resumed", metavar="RUN", help="Go on with a run that was served before.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address; one that is not local needs --key-env.")
@click.option("--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="Port.")
@click.option("--key-env", metavar="NAME", help="Environment variable of the key that clients must send.")
@click.option(
    "--idle",
    type=click.FloatRange(min=0, min_open=True),
    default=3600.0,
    show_default=True,
    help="Seconds without a request after which an episode is left.",
)
@click.option("--no-rewards", is_flag=True, help="Tell no client a score: for an evaluation whose cases come again.")
@click.option("--stdio", is_flag=True, help="Speak MCP over standard input and output; no HTTP.")
@store_option
def command(**options: Any) -> int:
    """Let clients outside the engine play a seat. The other seats are played inside, and the run is stored as any.

    Over HTTP: OpenAI-compatible chat at /v1, JSON at /episodes, and MCP at /mcp if the extra `mcp` is installed.
    Ctrl-C leaves open what has not ended; --resume RUN goes on.

    \b
    Example:  wardround serve --cases bundled --port 8765
              wardround serve --stdio --cases bundled
              wardround score RUN
    """
    configure("warning")
    anyio.run(lambda: _serve(options))
    return 0


def _settings(options: Options) -> RunSettings:
    base = read_settings(options["config"]).model_dump(exclude_unset=True) if options["config"] else {}
    fields = {**base, **{name: options[name] for name in _PLAIN if options[name] is not None}}
    if options["cases"]:
        fields["cases"] = options["cases"] if len(options["cases"]) > 1 else options["cases"][0]
    if options["allow_agents"]:
        fields["allow_agents"] = options["allow_agents"]
    seats = dict(fields.get("seats", {}))
    for seat in ("patient", "examiner"):
        if options[seat]:
            seats[seat] = {**seats.get(seat, {}), "spec": options[seat]}
    return validate_settings({**fields, "seats": seats}, options["config"] or "serve")


async def _serve(options: Options) -> None:
    key = os.environ.get(options["key_env"], "") if options["key_env"] else ""
    if options["key_env"] and not key:
        raise UsageError(f"--key-env {options['key_env']}: this environment variable is not set")
    if options["host"] not in _HOSTS and not key and not options["stdio"]:
        raise UsageError(f"--host {options['host']} can be reached by others: give --key-env NAME as well")
    # a missing extra and an address that is taken are named before a run begins
    stdio = import_path("wardround.faces.mcp_server:mcp_server") if options["stdio"] else None
    bound = stdio or import_path("wardround.faces.server:bound_socket")(options["host"], options["port"])
    async with aclosing(open_store(store_path(options["store"]))) as store:
        driven = await _driven(options, store)
        try:
            episodes = OpenEpisodes(driven, rewards=not options["no_rewards"])
            if stdio is not None:
                await stdio(episodes).run_stdio_async()
            else:
                await import_path("wardround.faces.server:serve")(episodes, key, bound, options["idle"])
        finally:
            with anyio.CancelScope(shield=True):
                await driven.aclose()
                echo(f"run {driven.run.name}; to go on: wardround serve --resume {driven.run.name}", err=True)


async def _driven(options: Options, store: Store) -> DrivenRun:
    if options["resumed"]:
        return await DrivenRun.resume(options["resumed"], store)
    face = "mcp" if options["stdio"] else "serve"
    return await DrivenRun.begin(_settings(options), store, seat=options["seat"], face=face)
