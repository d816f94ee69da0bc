"""All prompts of the package, with the user's own over them."""

from importlib.resources import files
from pathlib import Path

from wardround.engine.prompts import Prompts

_SENDERS = ("scenarios", "agents", "evaluators")


def wording(override: str | Path | None = None) -> Prompts:
    """The prompts of games, agents and judges; `override` is a folder that replaces any of them by the same path."""
    folders = [Path(str(files(f"wardround.{sender}") / "prompts")) for sender in _SENDERS]
    return Prompts.load(folders, Path(override) if override else None)
