"""All prompts of the package, with the user's own over them."""

from importlib.resources import files
from pathlib import Path

from wardround.engine.errors import UsageError
from wardround.engine.prompts import Prompts

_SENDERS = ("scenarios", "agents", "evaluators")


def wording(override: str | Path | None = None) -> Prompts:
    """The prompts of games, agents and judges; `override` is a folder that replaces any of them by the same path.

    Raises UsageError for a folder that replaces none.
    """
    folders = [Path(str(files(f"wardround.{sender}") / "prompts")) for sender in _SENDERS]
    own = Path(override) if override else None
    prompts = Prompts.load(folders, own)
    if own and not replaced(own):
        raise UsageError(
            f"--prompts {own}: holds no prompt; name the folder in which they lie as in the package, "
            f"for instance {own / 'workup' / 'start.md'}"
        )
    return prompts


def replaced(override: Path) -> int:
    """How many prompts the user's folder replaces."""
    return sum(1 for _ in override.rglob("*.md"))
