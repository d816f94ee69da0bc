"""The strings by which the watch on the event loop knows modules."""

from importlib.util import find_spec

from wardround.engine.blocking import _CALLERS


def test_the_modules_that_call_plug_in_code_are_there() -> None:
    """No import holds these names to the modules, so a move could leave them behind."""
    assert [name for name in sorted(_CALLERS) if find_spec(name) is None] == []
