"""The address of a store: which store it names, and its file if it is one."""

from pathlib import Path

from wardround.engine.errors import UsageError
from wardround.engine.plugins import load_plugin, plugin_names
from wardround.engine.protocols import Store, StoreOpener

STORES = "wardround.stores"
"""The group of entry points of stores: each name is a scheme of addresses, each value a StoreOpener."""


def open_store(where: str | Path) -> Store:
    """The store at a path or `sqlite:PATH`, at `postgresql://USER:PASSWORD@HOST:PORT/DATABASE`, or of another scheme.

    ::

        async with aclosing(open_store("study.db")) as store:
            run = await Run.open(store, "calm-heron-417")

    Raises UsageError with the known schemes, those of installed plug-ins included, if the scheme is unknown.
    """
    text = str(where)
    scheme, colon, rest = text.partition(":")
    if colon and scheme in plugin_names(STORES):
        opener: StoreOpener = load_plugin(STORES, scheme)
        return opener(text)
    if colon and rest.startswith("//"):
        there = ", ".join(f"{name}:" for name in plugin_names(STORES))
        raise UsageError(f"store {scheme}://...: only a path or one of these can be opened: {there}")
    opener = load_plugin(STORES, "sqlite")
    return opener(text)


def file_of(where: str) -> Path | None:
    """The file of the store at `where`; None if that store is not a file."""
    scheme, colon, rest = where.partition(":")
    if colon and scheme == "sqlite":
        return Path(rest.removeprefix("//"))
    return None if colon and (scheme in plugin_names(STORES) or rest.startswith("//")) else Path(where)
