"""What `wardround run` says before it begins."""

from pathlib import Path

from wardround.cli.screen import echo
from wardround.engine.text import counted
from wardround.planning import Plan
from wardround.wording import replaced


def say_outset(made: Plan) -> None:
    """What the user did not ask for in so many words, and should know."""
    settings = made.settings
    if settings.repeats is None and made.repeats > 1:
        echo(f"{made.repeats} repeats of each case, as in the paper; --repeats changes it", err=True)
    if settings.prompts:
        echo(f"{counted(replaced(Path(settings.prompts)), 'prompt')} replaced by {settings.prompts}", err=True)
