"""`wardround serve`: external harnesses play episodes by an OpenAI-compatible chat or plain JSON (extra `serve`).

In the chat the harness is the user and the encounter the assistant: each reply is what the seat hears, each message of
the user is what it does. A conversation is known by its header `X-Session-ID`, else by its history.
"""

import asyncio
import hmac
import json
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from importlib import import_module
from importlib.util import find_spec
from uuid import uuid4
from weakref import WeakValueDictionary

import anyio

from wardround.engine.errors import UsageError, WardroundError
from wardround.engine.logs import redact
from wardround.engine.openai_wire import chat_chunks, chat_reply
from wardround.engine.records import Completion, Json, json_object
from wardround.engine.text import count_noun
from wardround.faces.client_format import missing_extra
from wardround.faces.driven_run import NotNow
from wardround.faces.open_episodes import ClientTurn, OpenEpisodes, UnknownEpisode

try:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.middleware.trustedhost import TrustedHostMiddleware
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response, StreamingResponse
    from starlette.routing import BaseRoute, Mount, Route
    from starlette.types import ASGIApp, Receive, Scope, Send
except ImportError as error:
    raise missing_extra("serve", error) from error

SESSION = "X-Session-ID"
"""The header by which a client names its conversation."""
MODEL = "wardround"
"""The name of the model that plays the next open episode; `wardround/CASE` plays one of that case."""
LOCAL = ("localhost", "127.0.0.1", "[::1]", "::1")
"""The names to which the server answers without a key."""
IDLE = 3600.0
"""Seconds without a request after which an episode is left."""
LARGEST = 64 * 2**20
"""The most bytes of a request: a whole conversation, with the longest action."""
OVER = "The encounter is over."
"""How the chat's reply after the end begins."""


class ChatError(UsageError):
    """A request to the chat that cannot be answered, with its HTTP status."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


Conversation = list[tuple[str, ClientTurn]]
"""The words of each request for one episode, with the turn that answered them; the first request has none."""


class Chat:
    """The conversations of the chat: which episode each plays, and the last answer, for a request that comes again.

    A conversation is kept as long as its episode can be asked for.
    """

    def __init__(self, episodes: OpenEpisodes) -> None:
        self._episodes = episodes
        self._by_session: dict[str, Conversation] = {}
        self._by_episode: dict[str, Conversation] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def reply(self, model: str, messages: Sequence[Mapping[str, Json]], session: str) -> tuple[ClientTurn, str]:
        """The next turn and the id of its episode; raises ChatError."""
        heard = [_text(message) for message in messages if message.get("role") == "assistant"]
        if not heard:
            async with self._locks.setdefault(f"session {session}", asyncio.Lock()) if session else nullcontext():
                return await self._begin(model, session)
        said = _last_words(messages)
        turns = self._conversation(heard, said, session)
        name = turns[0][1].episode
        async with self._locks.setdefault(name, asyncio.Lock()):  # a repeat waits for the answer to the first request
            if _is_repeat(turns, len(heard), said):
                return turns[-1][1], name
            if len(heard) != len(turns):
                had = count_noun(len(turns), "reply")
                raise ChatError(f"episode {name} has had {had}, and the conversation holds {len(heard)}", 409)
            turns.append((said, await self._episodes.act(name, said, session)))
            return turns[-1][1], name

    async def _begin(self, model: str, session: str) -> tuple[ClientTurn, str]:
        turns = self._by_session.get(session)
        if turns and self._is_playing(turns):
            name = turns[0][1].episode
            if len(turns) > 1:
                raise ChatError(f"the session {session!r} plays episode {name}; send its whole conversation", 409)
            return turns[0][1], name
        turn = await self._episodes.start(model.partition("/")[2], session)
        self._by_episode = {name: one for name, one in self._by_episode.items() if name in self._episodes}
        kept = set(map(id, self._by_episode.values()))
        self._by_session = {one: turns for one, turns in self._by_session.items() if id(turns) in kept}
        turns = self._by_episode[turn.episode] = [("", turn)]
        if session:
            self._by_session[session] = turns
        return turn, turn.episode

    def _conversation(self, heard: Sequence[str], said: str, session: str) -> Conversation:
        """The conversation of a session, or the one with these replies; one that is over only where none is played."""
        if session:
            if session not in self._by_session:
                raise ChatError(f"the session {session!r} has no episode; begin it by a request without replies", 404)
            return self._by_session[session]
        every = self._by_episode.values()
        same = [one for one in every if [reply_text(turn) for _, turn in one[: len(heard)]] == heard]
        if not same:
            raise ChatError(f"no episode has this conversation; begin one, and send {SESSION} with each request", 404)
        if (count := sum(map(self._is_playing, same))) > 1:
            raise ChatError(f"{count} episodes have this conversation: send {SESSION} with each request", 409)
        same.sort(key=self._is_playing)
        fitting = [one for one in same if len(one) == len(heard) or _is_repeat(one, len(heard), said)]
        return (fitting or same)[-1]

    def _is_playing(self, turns: Conversation) -> bool:
        return self._episodes.is_playing(turns[0][1].episode)


def _is_repeat(turns: Conversation, heard: int, said: str) -> bool:
    """Whether it is the last request again, whose answer did not arrive."""
    return heard == len(turns) - 1 and turns[-1][0] == said


def reply_text(turn: ClientTurn) -> str:
    """What the chat replies for a turn: what the seat hears, or how the episode ended."""
    if not turn.done:
        return turn.text
    ending = turn.ending or {}
    return f"{OVER} It ended by {' '.join(filter(None, (ending.get('cause'), ending.get('reason'))))}."


def _text(message: Mapping[str, Json]) -> str:
    """The text of a message, whose content may be a list of parts."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(isinstance(part, dict) and part.get("type") == "text" for part in content):
        return "".join(str(part.get("text", "")) for part in content)
    raise ChatError(f"the content of a message of {message.get('role')!r} is not text; other parts are not understood")


def _last_words(messages: Sequence[Mapping[str, Json]]) -> str:
    """What the user says after the last reply; raises ChatError if the reply is the last message."""
    last = max(place for place, message in enumerate(messages) if message.get("role") == "assistant")
    said = [_text(message) for message in messages[last + 1 :] if message.get("role") == "user"]
    if not said:
        raise ChatError("the last message must be the user's: what the seat does")
    return "\n\n".join(said)


def _session(request: Request) -> str:
    """The session of the client that asks; "" where it names none."""
    return request.headers.get(SESSION, "")


class _Service:
    """The handlers of the routes."""

    def __init__(self, episodes: OpenEpisodes) -> None:
        self._episodes, self._chat = episodes, Chat(episodes)

    async def completions(self, request: Request) -> Response:
        """One reply of the encounter; raises ChatError for a request that cannot be answered."""
        body = await _body(request)
        model, messages = body.get("model"), body.get("messages")
        if not isinstance(model, str) or model.partition("/")[0] != MODEL:
            raise ChatError(f"there is no model {model!r}; write {MODEL} or {MODEL}/CASE", 404)
        if not isinstance(messages, list) or not all(isinstance(one, dict) for one in messages):
            raise ChatError("`messages` must be a list of objects")
        if body.get("n") not in (None, 1):
            raise ChatError("`n` must be 1: an encounter has one course; begin more conversations for more")
        session = _session(request) or str(body.get("user") or "")
        turn, name = await self._chat.reply(model, messages, session)
        return _stream(body, turn, name) if body.get("stream") else JSONResponse(_completion(body, turn))

    async def models(self, request: Request) -> Response:
        """The names of the cases as models."""
        cases = dict.fromkeys(row.case for row in await self._episodes.driven.run.episodes())
        names = [MODEL, *(f"{MODEL}/{case}" for case in cases)]
        data = [{"id": one, "object": "model", "created": 0, "owned_by": MODEL} for one in names]
        return JSONResponse({"object": "list", "data": data})

    async def start(self, request: Request) -> Response:
        """Begin an episode; raises ChatError for an unknown field."""
        body = await _body(request)
        if unknown := sorted(body.keys() - {"case", "episode"}):
            raise ChatError(f"there is no field {unknown[0]!r}; an episode begins by its `case` or its `episode`")
        wanted = str(body.get("case") or body.get("episode") or "")
        return JSONResponse(json_object(await self._episodes.start(wanted, _session(request))))

    async def act(self, request: Request) -> Response:
        """Take an action."""
        name = request.path_params["name"]
        return JSONResponse(json_object(await self._episodes.act(name, await _body(request), _session(request))))

    async def turn(self, request: Request) -> Response:
        """Show the present turn."""
        return JSONResponse(json_object(await self._episodes.turn(request.path_params["name"], _session(request))))

    async def leave(self, request: Request) -> Response:
        """Leave an episode."""
        return JSONResponse(json_object(await self._episodes.leave(request.path_params["name"], _session(request))))

    def routes(self) -> list[BaseRoute]:
        """The routes; their errors become replies by `_refusal`."""
        return [
            Route("/v1/chat/completions", self.completions, methods=["POST"]),
            Route("/v1/models", self.models),
            Route("/episodes", self.start, methods=["POST"]),
            Route("/episodes/{name}", self.turn, methods=["GET"]),
            Route("/episodes/{name}", self.leave, methods=["DELETE"]),
            Route("/episodes/{name}/act", self.act, methods=["POST"]),
        ]


def serve_app(
    episodes: OpenEpisodes,
    *,
    key: str = "",
    hosts: Sequence[str] = LOCAL,
    idle: float = IDLE,
    routes: Sequence[BaseRoute] = (),
    inside: Callable[[], AbstractAsyncContextManager[None]] | None = None,
) -> Starlette:
    """The ASGI application. `key`, if any, must come as a bearer token; `hosts` are the names it answers to.

    `routes` are more routes, and `inside` makes a context in which they run.
    """

    async def watch() -> None:
        while True:
            await anyio.sleep(min(idle, 60.0) / 4)
            await episodes.leave_idle(idle)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            if inside is not None:
                await stack.enter_async_context(inside())
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(watch)
                yield
                tasks.cancel_scope.cancel()

    guards = [Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts))]
    if key:
        guards.append(Middleware(KeyGuard, key=key))
    every = [*_Service(episodes).routes(), *routes]
    return Starlette(routes=every, lifespan=lifespan, middleware=guards, exception_handlers={WardroundError: _refusal})


def _refusal(request: Request, error: Exception) -> Response:
    """An error of a route in OpenAI's form."""
    if not isinstance(error, UsageError):
        return _error_response(503, redact(str(error)), "server_error")
    status = error.status if isinstance(error, ChatError) else _STATUSES.get(type(error), 400)
    return _error_response(status, str(error))


_STATUSES = {UnknownEpisode: 404, NotNow: 409}
"""The HTTP statuses of errors that are the client's."""


class KeyGuard:
    """Lets only requests with the key pass, on every route."""

    def __init__(self, app: ASGIApp, key: str) -> None:
        self._app, self._key = app, key.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 401."""
        if scope["type"] == "http":
            sent = dict(scope["headers"]).get(b"authorization", b"")
            sent_key = sent[7:] if sent[:7].lower() == b"bearer " else sent
            if not hmac.compare_digest(sent_key, self._key):
                message = "the key is missing or wrong; send it as a bearer token"
                await _error_response(401, message, "authentication_error")(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _error_response(status: int, message: str, kind: str = "invalid_request_error") -> JSONResponse:
    return JSONResponse({"error": {"message": message, "type": kind, "param": None, "code": None}}, status)


async def _body(request: Request) -> dict[str, Json]:
    content = b""
    async for piece in request.stream():
        content += piece
        if len(content) > LARGEST:
            raise ChatError(f"the body has more than {LARGEST:,} bytes", 413)
    try:
        body = json.loads(content or b"{}")
    except (ValueError, RecursionError) as error:
        raise ChatError(f"the body is not JSON: {error}") from error
    if not isinstance(body, dict):
        raise ChatError("the body must be a JSON object")
    return body


def _completion(body: Mapping[str, Json], turn: ClientTurn) -> dict[str, Json]:
    """The turn as a chat completion, with what the chat has no words for under `wardround`."""
    facts = {"episode": turn.episode, "done": turn.done, "verbs": list(turn.verbs)}
    if turn.images:
        facts["images"] = list(turn.images)
    if turn.done:
        facts |= {"ending": turn.ending, "rewards": turn.rewards, "missing": turn.missing}
    reply = chat_reply(Completion(reply_text(turn), model=body["model"]), uuid4().hex)
    return {**reply, "created": int(time.time()), "wardround": facts}


def _stream(body: Mapping[str, Json], turn: ClientTurn, name: str) -> StreamingResponse:
    usage = bool((body.get("stream_options") or {}).get("include_usage"))
    chunks = chat_chunks(_completion(body, turn), usage=usage)
    return StreamingResponse(chunks, media_type="text/event-stream", headers={SESSION: name})


def bound_socket(host: str, port: int) -> socket.socket:
    """A socket bound to the address; raises UsageError if there is none. Call it before a run begins."""
    try:
        return socket.create_server((host, port), family=socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0])
    except OSError as error:
        raise UsageError(
            f"--host {host} --port {port}: {error.strerror or error}; name another address, or --port 0 for a free one"
        ) from error


async def serve(episodes: OpenEpisodes, key: str, bound: socket.socket, idle: float) -> None:
    """Serve at a bound socket until Ctrl-C, with MCP at /mcp if it is installed; writes its address to standard error.

    With a key it answers to any host name, because a web page that was sent here by DNS rebinding lacks the key.
    """
    host, port, *_ = bound.getsockname()
    named = f"[{host}]" if ":" in host else host
    routes: list[BaseRoute] = []
    inside: Callable[[], AbstractAsyncContextManager[None]] | None = None
    if find_spec("mcp") is not None:
        made, security = import_module("wardround.faces.mcp_server").guarded_mcp_server(episodes, any_host=bool(key))
        app = made.streamable_http_app(streamable_http_path="/", json_response=True, transport_security=security)
        routes, inside = [Mount("/mcp", app)], made.session_manager.run
    app = serve_app(episodes, key=key, hosts=["*"] if key else [*LOCAL, named], idle=idle, routes=routes, inside=inside)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1))
    with bound:
        await _serve_at(server, bound, f"run {episodes.driven.run.name} at http://{named}:{port}")


async def _serve_at(server: uvicorn.Server, bound: socket.socket, words: str) -> None:
    async with anyio.create_task_group() as tasks:

        async def announce() -> None:
            while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
                await anyio.sleep(0.02)
            print(words, file=sys.stderr, flush=True)

        tasks.start_soon(announce)
        await server.serve([bound])
        tasks.cancel_scope.cancel()
