"""Loads the plug-in that a name stands for: an entry point, or a class written as `package.module:Name`."""

import importlib
import inspect
import re
import sys
import traceback
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

import msgspec

from wardround.engine.errors import UsageError
from wardround.engine.logs import log
from wardround.engine.misbehaviour import error_text, raised_by_plugin
from wardround.engine.records import Json
from wardround.engine.seat import Seat
from wardround.engine.text import suggestion

MOVED: Mapping[str, str] = {
    "wardround.agents.answerers": "wardround.agents.gold",
    "wardround.agents.item_writer": "wardround.agents.curator",
    "wardround.agents.model_examiner": "wardround.agents.examiner",
    "wardround.agents.silent": "wardround.agents.gold",
    "wardround.evaluators.assessment": "wardround.evaluators.outcome.assessment",
    "wardround.evaluators.evidence.brave": "wardround.evaluators.search.services",
    "wardround.evaluators.evidence.bundled": "wardround.evaluators.search.corpus",
    "wardround.evaluators.evidence.corpus": "wardround.evaluators.search.corpus",
    "wardround.evaluators.evidence.duckduckgo": "wardround.evaluators.search.services",
    "wardround.evaluators.evidence.pubmed": "wardround.evaluators.search.services",
    "wardround.evaluators.evidence.recorded": "wardround.evaluators.search.stack",
    "wardround.evaluators.evidence.searxng": "wardround.evaluators.search.services",
    "wardround.evaluators.grade": "wardround.evaluators.metrics.grade",
    "wardround.evaluators.reader_list": "wardround.evaluators.metrics.reader_list",
    "wardround.evaluators.reasoning.encounter": "wardround.evaluators.reasoning.evaluator",
    "wardround.evaluators.search.providers.brave": "wardround.evaluators.search.services",
    "wardround.evaluators.search.providers.duckduckgo": "wardround.evaluators.search.services",
    "wardround.evaluators.search.providers.pubmed": "wardround.evaluators.search.services",
    "wardround.evaluators.search.providers.searxng": "wardround.evaluators.search.services",
    "wardround.evaluators.standard": "wardround.evaluators.metrics.standard",
    "wardround.priced": "wardround.evaluators.metrics.standard",
    "wardround.scenarios.consultation": "wardround.scenarios.encounters.consultation",
    "wardround.scenarios.imported": "wardround.scenarios.encounters.imported",
    "wardround.scenarios.loaders.medmcqa": "wardround.scenarios.loaders.question_sets",
    "wardround.scenarios.loaders.medquad": "wardround.scenarios.loaders.question_sets",
    "wardround.scenarios.loaders.own": "wardround.scenarios.loaders.load",
    "wardround.scenarios.question_attacks": "wardround.scenarios.encounters.question_attacks",
    "wardround.scenarios.questions": "wardround.scenarios.encounters.questions",
    "wardround.scenarios.sequential": "wardround.scenarios.encounters.sequential",
    "wardround.scenarios.staged": "wardround.scenarios.encounters.staged",
    "wardround.scenarios.workup": "wardround.scenarios.encounters.workup",
}
"""Modules by their old names, which headers of stored runs still contain."""
MadeT = TypeVar("MadeT")
_HOUSE = __name__.partition(".")[0]


def is_bundled(target: object) -> bool:
    """Whether a class, function or object belongs to this package, and so can be trusted to keep its promises."""
    kind = target if inspect.isclass(target) or inspect.isroutine(target) else type(target)
    return str(kind.__module__).partition(".")[0] == _HOUSE


def plugin_names(group: str) -> list[str]:
    """The short names in an entry-point group, over all installed packages, sorted."""
    return sorted({point.name for point in _points(group)})


def installed_plugins(group: str) -> dict[str, str]:
    """The short names in an entry-point group, each with its target as `package.module:Class`."""
    return {point.name: point.value for point in _points(group)}


def load_plugin(group: str, name: str) -> Any:
    """Load the target of `name` in an entry-point group; raises UsageError with the known names."""
    points = [point for point in _points(group) if point.name == name]
    if not points:
        last = group.rpartition(".")[2]
        kind = last.removesuffix("es" if last.endswith("ches") else "s")
        raise UsageError(f"there is no {kind} {name!r}{suggestion(name, plugin_names(group))}")
    _prepare(points[0].value)
    try:
        return points[0].load()
    except BaseException as error:
        raise _load_error(f"{name!r} ({points[0].value})", error) from error


def _prepare(path: str) -> None:
    """Set the log up before code of others is imported, since its own lines go there too."""
    if path.partition(".")[0] != _HOUSE:
        log.prepare()


def _points(group: str) -> tuple[EntryPoint, ...]:
    return _installed(tuple(sys.path))(group)


@lru_cache(maxsize=64)
def _installed(path: tuple[str, ...]) -> Callable[[str], tuple[EntryPoint, ...]]:
    """The entry points of a group. Cached for each search path, because every installed package has a file to read."""
    points = entry_points()
    return cache(lambda group: tuple(points.select(group=group)))


def current_path(path: str) -> str:
    """The present path of an older `package.module:Name`; headers of stored runs keep the path of their time."""
    module_name, colon, attribute = path.partition(":")
    return f"{MOVED.get(module_name, module_name)}{colon}{attribute}"


def import_path(path: str) -> Any:
    """Import the target of `package.module:Name`; the working directory is searched too, as by `python -m`.

    Raises UsageError, whatever went wrong in the import.
    """
    module_name, _, attribute = current_path(path).partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    _prepare(module_name)
    try:
        target: object = importlib.import_module(module_name)
        for part in attribute.split("."):
            target = getattr(target, part)  # the user names it
    except BaseException as error:
        raise _load_error(f"{path!r}", error) from error
    return target


def _load_error(what: str, error: BaseException) -> UsageError:
    """The UsageError for a module whose import fails with any error; a real Ctrl-C is raised again instead."""
    if not raised_by_plugin(error):
        raise error
    if isinstance(error, UsageError):  # the module itself says what is missing, and what to do
        return UsageError(str(error))
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_of_plugin(frame.filename)]
    if not frames and isinstance(error, ImportError | AttributeError | ValueError):
        return UsageError(f"{what} cannot be loaded: {error}; write it as package.module:Class")
    some = frames if len(frames) < 4 else [*frames[:2], frames[-1]]
    place = "".join(f"\n  {frame.filename}, line {frame.lineno}: {frame.line}" for frame in some)
    return UsageError(f"{what} cannot be loaded: its module raised {error_text(error)}{place}")


def _is_of_plugin(file: str) -> bool:
    """Whether a file that is named in a traceback belongs neither to the machinery of imports nor to this module."""
    return file != __file__ and not file.startswith("<frozen ") and Path(file).parent != _IMPORTLIB


_IMPORTLIB = Path(importlib.__file__).parent


FORMS = (
    "write `def __init__(self, seat: Seat)` (it has seat.options and seat.model), "
    "`def __init__(self, *, k: int = 3)` (options by name), or `def __init__(self)`"
)
"""The accepted forms of an agent's constructor, for messages."""


def maker(
    factory: Callable[..., MadeT], spec: str, options: Mapping[str, Json] | None = None
) -> Callable[[Seat], MadeT]:
    """Turn a class or factory into a function from a seat to an agent; `options` are the seat's options.

    A parameter that is annotated `Seat` or called `seat` gets the seat; each other parameter gets the option of its
    name. Raises UsageError, with the accepted forms, for a parameter with neither option nor
    default, and for an option that nothing takes or that is of another kind than its parameter.
    """
    if not callable(factory):
        raise UsageError(f"{spec!r} is {type(factory).__name__}, which cannot be called to make an agent")
    try:
        parameters = inspect.signature(factory).parameters
    except (TypeError, ValueError) as error:
        raise UsageError(f"{spec!r}: what its constructor takes cannot be known ({error}); {FORMS}") from error
    values, hints = dict(options or {}), _hints(factory)
    kinds = {name: hints.get(name, parameter.annotation) for name, parameter in parameters.items()}
    every = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
    single = [name for name, parameter in parameters.items() if parameter.kind not in _MANY]
    seated = [name for name in single if _is_seat(name, kinds[name])]
    named = [name for name in single if name not in seated]
    for name in named:
        parameter = parameters[name]
        if name in values and parameter.kind is not parameter.POSITIONAL_ONLY:
            _check_kind(f"{spec!r}: option {name!r}", values[name], kinds[name])
        elif parameter.default is parameter.empty:
            raise UsageError(
                f"{spec!r} needs {name!r} to be made, which is neither a seat (by its annotation) nor an option that "
                f"was given; {FORMS}"
            )
    unknown = [name for name in values if name not in named]
    if unknown and not every and not seated:
        there = f"it takes: {', '.join(named)}" if named else f"it takes no options; {FORMS}"
        raise UsageError(f"{spec!r} takes no option {unknown[0]!r}; {there}")
    taken = [name for name in values if every or name in named]
    if seated and parameters[seated[0]].kind is inspect.Parameter.POSITIONAL_ONLY:
        return lambda seat: factory(seat, **{name: seat.options[name] for name in taken})
    return lambda seat: factory(**dict.fromkeys(seated, seat), **{name: seat.options[name] for name in taken})


_MANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _hints(factory: Callable[..., object]) -> Mapping[str, Json]:
    """The annotations of a class's constructor or of a function, evaluated; empty where one cannot be evaluated."""
    try:
        return get_type_hints(factory.__init__ if inspect.isclass(factory) else factory)
    except (NameError, TypeError, AttributeError, SyntaxError):
        return {}


def _is_seat(name: str, kind: object) -> bool:
    if name == "seat":
        return True
    if isinstance(kind, str):
        return re.search(r"\bSeat\b", kind) is not None
    return any(inspect.isclass(one) and issubclass(one, Seat) for one in (kind, *get_args(kind)))


def _check_kind(what: str, value: Json, kind: object) -> None:
    """Raise UsageError for an option that does not fit the annotation of its parameter, where that can be known."""
    if kind is inspect.Parameter.empty or isinstance(kind, str):
        return
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise UsageError(f"{what}: {error}") from error
    except TypeError:
        return  # msgspec cannot check this annotation
