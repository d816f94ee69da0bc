"""A store that counts what is asked of it."""

from collections import Counter
from typing import Any

from wardround.engine.protocols import Store


class Counted:
    """`store`, and in `calls` how often each of its methods was called."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.calls: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)
        if not callable(method):
            return method

        def counted(*args: Any, **named: Any) -> Any:
            self.calls[name] += 1
            return method(*args, **named)

        return counted
