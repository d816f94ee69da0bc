"""The options by which several processes work on one run (--share, --cluster, --workers), and how they are read."""

from collections.abc import Awaitable, Callable, Sequence
from importlib import import_module

import click

from wardround.cli.options import Options, command_line_options, positive, store_path, with_options
from wardround.engine.batch import Progress
from wardround.engine.cluster import Cluster, cluster_of, need_ray
from wardround.engine.errors import UsageError

OPTIONS = ("share", "cluster", "workers")


worker_options = with_options(
    click.option(
        "--share", metavar="I/N", help="This is process I of N at work on the run; it takes 1/N of each quota."
    ),
    click.option(
        "--cluster",
        metavar="ray[://HOST:PORT]",
        help="Let the workers be those of a Ray cluster: on this machine, or at HOST:PORT.",
    ),
    click.option(
        "--workers",
        type=positive,
        metavar="N",
        help="Let N processes work on the run at once, on this machine or with --cluster on a Ray cluster.",
    ),
)
"""--share, --cluster and --workers."""


def share_of(text: str | None) -> tuple[int, int]:
    """The share of a run that a process plays: `2/8` as (2, 8); raises UsageError for anything else."""
    if not text:
        return 1, 1
    part, slash, whole = text.partition("/")
    if not (slash and part.isdecimal() and whole.isdecimal() and 1 <= int(part) <= int(whole)):
        raise UsageError(f"--share {text}: write I/N, such as 2/8 for the second of eight processes")
    return int(part), int(whole)


def workers_of(
    options: Options, progress: Progress, concurrency: int | None, refused: Sequence[str] = ("pilot", "share")
) -> Callable[[str], Awaitable[None]] | None:
    """A function that lets workers play a stored run; None if this process plays it.

    `refused` are options that do not go with workers.
    """
    if not options["cluster"] and (options["workers"] or 1) == 1:
        return None
    if any(options[name] for name in refused):
        flags = [f"--{name}" for name in refused]
        option = "--cluster" if options["cluster"] else "--workers"
        raise UsageError(
            f"{option} goes with neither {', '.join(flags[:-1])} nor {flags[-1]}: workers have their shares anyway"
        )
    cluster = _cluster(options["cluster"], options["workers"])
    crew = import_module("wardround.cluster_run")  # it imports the scores and their judges: a fifth of the start
    where = crew.shared_store(store_path(options["store"]), cluster)
    return lambda run: crew.run_clustered(run, where, cluster, concurrency, progress)


def _cluster(address: str, workers: int | None) -> Cluster:
    """Where the workers run; raises UsageError."""
    if not address:
        return Cluster("", workers or 1, ray=False)
    cluster = cluster_of(address, workers)
    need_ray(cluster)
    return cluster


def check_beside_resume(also: Sequence[str], noun: str, otherwise: str = "") -> None:
    """Raise UsageError for an option beside --resume that is not in `also`: the store has the settings."""
    if beside := [flag for name, flag in command_line_options().items() if name not in also]:
        raise UsageError(
            f"--resume takes the {noun}'s settings from the store; leave out {', '.join(beside)}{otherwise}"
        )


def causes_of(options: Options) -> list[str]:
    """The causes that --retry names."""
    return [cause for causes in options["retry"] for cause in causes.split(",") if cause]
