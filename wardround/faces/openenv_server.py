"""Scenarios as an OpenEnv environment (extra `openenv`, which does not resolve beside `verifiers`).

    uvicorn wardround.faces.openenv_server:app

serves the bundled cases under `workup`; `openenv_app(cases, scenario)` makes the application for others.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from pydantic import Field

from wardround.engine.errors import UsageError
from wardround.engine.records import Action, Json
from wardround.faces.client_format import client_ending, client_text, missing_extra, rewards_of
from wardround.faces.driven_run import DrivenEpisode, DrivenRun
from wardround.runs.settings import validate_settings

try:
    from openenv.core.env_server import Action as OpenAction
    from openenv.core.env_server import Environment, Observation, State, create_fastapi_app
except ImportError as error:
    raise missing_extra("openenv", error) from error


class DoctorAction(OpenAction):
    """What the seat does: `reply` with a text, or another verb with its arguments."""

    verb: str = "reply"
    text: str = ""
    args: dict[str, Json] = Field(default_factory=dict)


class WardObservation(Observation):
    """What the seat hears, the images in it, and what it may do. After the end: how it ended, and every score.

    A score without a value is None, with its reason in `missing`; so is `reward`, which is never 0 instead.
    """

    text: str = ""
    images: list[str] = Field(default_factory=list)
    verbs: list[str] = Field(default_factory=list)
    case: str = ""
    error: str = ""
    ending: dict[str, str] | None = None
    rewards: dict[str, float | None] = Field(default_factory=dict)
    missing: dict[str, str] = Field(default_factory=dict)


class WardState(State):
    """The episode under way."""

    case: str = ""


class EncounterEnvironment(Environment[DoctorAction, WardObservation, WardState]):
    """One client's environment; sessions share nothing but the cases on disk. An impossible action changes nothing."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, cases: str, scenario: str, reward: str, store: str, settings: dict[str, Json]) -> None:
        super().__init__()
        self._store = store
        self._fields = {"preflight": False, "cases": cases, "scenario": scenario, **settings}
        self._reward = reward
        self.driven: DrivenRun | None = None
        self._episode: DrivenEpisode | None = None
        self._state = WardState(episode_id="", step_count=0)
        self.closing: asyncio.Task[None] | None = None

    def reset(self, seed: int | None = None, episode_id: str | None = None, **more: object) -> WardObservation:
        """Not used: the server calls `reset_async`."""
        raise NotImplementedError

    def step(self, action: DoctorAction, timeout_s: float | None = None, **more: object) -> WardObservation:
        """Not used: the server calls `step_async`."""
        raise NotImplementedError

    async def reset_async(
        self, seed: int | None = None, episode_id: str | None = None, **more: object
    ) -> WardObservation:
        """Begin an episode: of `case` if it is named, else of the next case; `seed` seeds the other seats."""
        if self.driven is None:
            settings = validate_settings(self._fields, "environment")
            self.driven = await DrivenRun.begin(settings, self._store, face="openenv", kept=bool(self._store))
            self._loop = asyncio.get_running_loop()
        if self._episode is not None and self._episode.ending is None:
            await self._episode.stop()
        episode = self._episode = await self.driven.start(str(more.get("case") or ""), seed=seed)
        self._state = WardState(episode_id=episode_id or episode.id, step_count=0, case=episode.row.case)
        return await self._seen(episode)

    async def step_async(self, action: DoctorAction, timeout_s: float | None = None, **more: object) -> WardObservation:
        """Take an action."""
        episode = self._episode
        if episode is None or episode.ending is not None:
            return WardObservation(error="no episode is under way: reset first", done=True, reward=None)
        try:
            await episode.act(Action(action.verb, action.text, action.args))
        except UsageError as error:
            seen = await self._seen(episode)
            seen.error = str(error)
            return seen
        self._state.step_count += 1
        return await self._seen(episode)

    def close(self) -> None:
        """Begin to close the run and its store (`closing`); an episode under way stays open."""
        driven, self.driven = self.driven, None
        if driven is not None and not self._loop.is_closed():

            def begin() -> None:
                self.closing = self._loop.create_task(driven.aclose())

            self._loop.call_soon_threadsafe(begin)

    async def _seen(self, episode: DrivenEpisode) -> WardObservation:
        assert self.driven is not None
        view, case = episode.view, episode.row.case
        if view is not None:
            text, images = client_text(view), await self.driven.images(episode)
            return WardObservation(text=text, images=images, verbs=list(view.verbs), case=case, done=False, reward=None)
        rewards, missing = rewards_of(await self.driven.rewards(episode))
        return WardObservation(
            case=case,
            done=True,
            reward=rewards.get(self._reward),
            ending=client_ending(episode.ending),
            rewards=rewards,
            missing=missing,
        )

    @property
    def state(self) -> WardState:
        """The episode under way and its steps."""
        return self._state


def environment_maker(
    cases: str = "bundled",
    scenario: str = "workup",
    reward: str = "diagnosis_accuracy",
    store: str = "",
    **settings: Json,
) -> Callable[[], EncounterEnvironment]:
    """A function that makes an environment for each client."""
    return lambda: EncounterEnvironment(cases, scenario, reward, store, settings)


def openenv_app(
    cases: str = "bundled",
    scenario: str = "workup",
    reward: str = "diagnosis_accuracy",
    store: str = "",
    **settings: Json,
) -> Any:
    """The application (FastAPI) that serves environments; `settings` are more settings of the run.

    With a `store` the episodes of each client are kept as a run of its own; without one only the rewards are returned.
    """
    maker = environment_maker(cases, scenario, reward, store, **settings)
    return create_fastapi_app(maker, DoctorAction, WardObservation, max_concurrent_envs=64)


def __getattr__(name: str) -> object:
    """`app`, made when it is asked for."""
    if name == "app":
        return openenv_app()
    raise AttributeError(name)
