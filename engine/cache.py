"""The call cache: the same question to the same model is asked once."""

from hashlib import blake2b

import msgspec

from wardround.engine.protocols import Store
from wardround.engine.records import Completion

_decode = msgspec.json.Decoder(Completion).decode


class StoreCache:
    """Answers kept in a store under `model` (which model, reached where), the repeat, the call's key and occurrence.

    The key of a call is over its seat, purpose, messages and options (engine/events.py), so another temperature is
    another question; the repeat is part of the key because repeats measure how much answers differ.

    With None for the repeat neither it nor the occurrence counts: the question has one answer, whoever asks it, in
    whichever episode and however often. Then who wants another answer must ask in another role.
    """

    def __init__(self, store: Store, model: str, repeat: int | None) -> None:
        self._store, self._model, self._repeat = store, model, repeat

    async def recall(self, key: str, nth: int) -> Completion | None:
        """The kept answer, marked as recalled, with the usage of the call that was made then and no latency."""
        body = await self._store.recall(self._name(key, nth))
        if body is None:
            return None
        return msgspec.structs.replace(_decode(body), recalled=True, latency=0.0, waited=0.0, attempts=0)

    async def keep(self, key: str, nth: int, reply: Completion) -> None:
        """Keep an answer."""
        await self._store.keep(self._name(key, nth), msgspec.json.encode(reply))

    def _name(self, key: str, nth: int) -> str:
        which = ("shared", key) if self._repeat is None else (str(self._repeat), key, str(nth))
        parts = "\x1f".join((self._model, *which))
        return blake2b(parts.encode(), digest_size=16).hexdigest()
