"""Scenarios as Gymnasium environments: one episode at a time, or several stepped together (extra `gymnasium`).

    env = WardroundEnv("bundled", "workup", reward="diagnosis_accuracy")
    seen, info = env.reset(seed=3)
    seen, reward, terminated, truncated, info = env.step("PE")

Observations and actions are texts. The reward comes with the last step; `info["rewards"]` has every score. If the
chosen score has no value, for instance because a provider failed, the reward is NaN and never 0.0, and
`info["missing"]` says why.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from contextvars import copy_context
from math import nan
from pathlib import Path
from typing import Any, TypedDict, TypeVar, Unpack
from weakref import finalize

import numpy as np

from wardround.api import AgentSpec
from wardround.engine.errors import UsageError
from wardround.engine.protocols import Store
from wardround.engine.records import LONGEST_REPLY, Action, Json, images_of
from wardround.engine.text import suggestion
from wardround.faces.client_format import (
    client_ending,
    client_message,
    client_text,
    missing_extra,
    rewards_of,
    storable_action,
)
from wardround.faces.driven_run import DrivenEpisode, DrivenRun
from wardround.runs.settings import validate_settings

try:
    import gymnasium
    from gymnasium import spaces
    from gymnasium.vector import AutoresetMode, VectorEnv
except ImportError as error:
    raise missing_extra("gymnasium", error) from error

T = TypeVar("T")
_OWN = ("completed", "parser")
"""Causes of endings that belong to the game, besides the seat's own; any other cause truncates the episode."""


class AnyText(spaces.Text):
    """Texts of any characters up to a length: clinical texts hold degree signs, Greek and Chinese."""

    def __init__(self, longest: int) -> None:
        super().__init__(longest, min_length=0)

    def contains(self, x: object) -> bool:
        """Whether `x` is a text that is not too long."""
        return isinstance(x, str) and len(x) <= self.max_length


Outcome = tuple[str, float, bool, bool, dict[str, Json]]
"""The result of a step: (observation, reward, terminated, truncated, info)."""


class EnvOptions(TypedDict, total=False):
    """More arguments of an environment.

    `reward` names the score that is the reward; with "" nothing is scored. With a `store` the episodes are kept as a
    run, which can be scored and reported; without one only the rewards are returned. `seat` is the seat that the client
    plays, and `seats` names the agents of the others. `settings` are more settings of the run, as in a run file.
    """

    reward: str
    seed: int
    seat: str
    seats: Mapping[str, AgentSpec]
    store: Store | str | Path | None
    settings: Mapping[str, Json]


class _Driver:
    """A driven run with a loop of its own, for callers that are not asynchronous."""

    def __init__(self, cases: str, scenario: str, options: EnvOptions) -> None:
        _check_names("argument of an environment", options, EnvOptions.__annotations__)
        self.reward = options.get("reward", "diagnosis_accuracy")
        defaults = {"preflight": False, **options.get("settings", {})}
        fields = {**defaults, "cases": cases, "scenario": scenario, "seed": options.get("seed", 0)}
        settings, store = validate_settings(fields, "environment"), options.get("store")
        self._loop, self._context = asyncio.new_event_loop(), copy_context()
        self._beside: ThreadPoolExecutor | None = None
        self._awaited: list[DrivenEpisode] = []
        self._closing = AsyncExitStack()
        self.kept = store is not None
        begun = DrivenRun.begin(
            settings,
            store or "",
            seat=options.get("seat", "doctor"),
            face="gymnasium",
            seats=options.get("seats"),
            kept=self.kept,
        )
        try:
            self.driven: DrivenRun = self(begun)
            self._closing.push_async_callback(self.driven.aclose)
            self._rows = {row.case: row for row in reversed(self(self.driven.run.episodes()))}
        except BaseException:
            self.close()
            raise
        self.cases = list(reversed(self._rows))

    def __call__(self, work: Coroutine[object, object, T]) -> T:
        """Run `work` to its end."""
        return self._call(lambda: self._loop.run_until_complete(work))

    def check_open(self) -> None:
        """Raise UsageError once the environment is closed."""
        if self._loop.is_closed():
            raise UsageError("the environment is closed: make another")

    def _call(self, run: Callable[[], T]) -> T:
        """Run the loop here, or in a thread where another loop is running already (a notebook)."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return run()
        self._beside = self._beside or ThreadPoolExecutor(1, "wardround")
        return self._beside.submit(run).result()

    def start(self, case: str, seed: int | None) -> DrivenEpisode:
        """Begin an episode of a case, or the next open one of a run that is kept."""
        self.check_open()
        if self.kept:
            begun = self(self.driven.start(case))
        else:
            self.check_cases([case])
            begun = self.driven.begin_now(self._rows[case], self._loop, seed=seed)
        begun.when_ready(self._stop_when_ready)
        return begun

    def check_cases(self, cases: Iterable[str]) -> None:
        """Raise UsageError for a case that there is not."""
        if unknown := [case for case in cases if case not in self._rows]:
            raise UsageError(f"there is no case {unknown[0]!r}; there are: {', '.join(self.cases[:10])}")

    def until_ready(self, episodes: Sequence[DrivenEpisode]) -> None:
        """Run the loop until each episode waits for its client or is over; cheaper than a task for each step."""
        self._awaited = [episode for episode in episodes if not episode.ready]
        if self._awaited:
            self._call(self._loop.run_forever)

    def _stop_when_ready(self) -> None:
        if self._awaited and all(episode.ready for episode in self._awaited):
            self._awaited = []
            self._context.run(self._loop.stop)

    def outcome(self, episode: DrivenEpisode) -> Outcome:
        """What `step` returns; raises UsageError if the game has no score of the reward's name."""
        view, ending = episode.settled(), episode.ending
        info: dict[str, Json] = {"case": episode.row.case, "episode": episode.id, "ending": client_ending(ending)}
        if view is not None:
            message = client_message(view)
            if images_of(message):
                info["images"] = self(self.driven.images(episode))
            return message.content, 0.0, False, False, info
        if ending is None:
            return "", 0.0, False, False, info
        cut = ending.cause not in (*_OWN, episode.seat)
        if not self.reward:
            return "", 0.0, not cut, cut, info
        scores = self(self.driven.rewards(episode))
        if self.reward not in scores:
            raise UsageError(f"there is no score {self.reward!r} for a reward; there are: {', '.join(scores)}")
        value = scores[self.reward].value
        info["rewards"], info["missing"] = rewards_of(scores)
        return "", nan if value is None else value, not cut, cut, info

    def close(self) -> None:
        """Close the run, its store and the loop."""
        if self._loop.is_closed():
            return
        try:
            self(self._closing.aclose())
            self(self._loop.shutdown_default_executor())
        finally:
            self._loop.close()
            if self._beside is not None:
                self._beside.shutdown()


class WardroundEnv(gymnasium.Env[str, str]):
    """One encounter at a time. `reset(seed=N)` draws the case and seeds the other seats.

    ::

        env = WardroundEnv("bundled", "consultation")
        text, info = env.reset(seed=1)
        text, reward, over, cut, info = env.step("Since when does it hurt?")

    `reset(options={"case": ID})` names the case. A reset in mid-episode leaves the episode (`doctor/left`). An action
    that is not a text is an error and changes nothing.
    """

    metadata: dict[str, Json] = {"render_modes": ["ansi"]}  # noqa: RUF012 - as Gymnasium declares it
    observation_space = AnyText(LONGEST_REPLY)
    action_space = AnyText(LONGEST_REPLY)

    def __init__(self, cases: str = "bundled", scenario: str = "workup", **options: Unpack[EnvOptions]) -> None:
        self._driver = _Driver(cases, scenario, options)
        self._episode: DrivenEpisode | None = None
        self.render_mode = "ansi"
        self._forgotten = finalize(self, self._driver.close)  # an open loop warns when Python ends

    @property
    def run(self) -> DrivenRun:
        """The driven run, for its name and its scores."""
        return self._driver.driven

    def reset(self, *, seed: int | None = None, options: dict[str, Json] | None = None) -> tuple[str, dict[str, Json]]:
        """Begin an episode of the named or of a drawn case; returns (observation, info).

        If the run is kept and neither case nor seed is given, it is the next open episode.
        """
        self._driver.check_open()
        _check_names("option of reset", options or {}, ("case",))
        super().reset(seed=seed)
        self._leave()
        case = (options or {}).get("case", "")
        drawn = seed
        if not case and not (self._driver.kept and seed is None):
            case = self._driver.cases[int(self.np_random.integers(len(self._driver.cases)))]
        if drawn is None and not self._driver.kept and not (options or {}).get("case"):
            drawn = int(self.np_random.integers(2**31))
        self._episode = self._driver.start(case, drawn)
        self._driver.until_ready([self._episode])
        seen, _, _, _, info = self._driver.outcome(self._episode)
        return seen, info

    def step(self, action: str) -> Outcome:
        """Say something; raises UsageError after the end."""
        if self._episode is None:
            raise UsageError("call reset() first: there is no episode")
        self._episode.say(Action("reply", action))
        self._driver.until_ready([self._episode])
        return self._driver.outcome(self._episode)

    def render(self) -> str:
        """What the seat hears in this turn."""
        view = self._episode.view if self._episode else None
        return client_text(view) if view else ""

    def close(self) -> None:
        """Leave the episode that is under way and close the run."""
        self._leave()
        self._forgotten()

    def _leave(self) -> None:
        if self._episode is not None and self._episode.view is not None:
            self._driver(self._episode.leave("the environment was reset or closed"))


class WardroundVectorEnv(VectorEnv[Sequence[str], Sequence[str], Any]):
    """`count` encounters of one run that step together; what waits for models waits at the same time.

    ::

        envs = WardroundVectorEnv(8, "bundled", "consultation")
        texts, info = envs.reset(seed=1)
        texts, rewards, over, cut, info = envs.step(["Since when does it hurt?"] * 8)

    An episode that ended begins anew at the next step, whose action is not used (Gymnasium's NEXT_STEP).
    """

    metadata: dict[str, Json] = {"autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012 - as Gymnasium declares it

    def __init__(
        self, count: int, cases: str = "bundled", scenario: str = "workup", **options: Unpack[EnvOptions]
    ) -> None:
        if options.get("store") is not None:
            raise UsageError("episodes that step together are not kept: leave out `store`, or use WardroundEnv")
        self._driver = _Driver(cases, scenario, options)
        self._forgotten = finalize(self, self._driver.close)
        self.num_envs = count
        self.single_observation_space, self.single_action_space = AnyText(LONGEST_REPLY), AnyText(LONGEST_REPLY)
        self.observation_space = spaces.Tuple([self.single_observation_space] * count)
        self.action_space = spaces.Tuple([self.single_action_space] * count)
        self._episodes: list[DrivenEpisode] = []

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Json] | None = None
    ) -> tuple[tuple[str, ...], dict[str, Json]]:
        """Begin `count` episodes of drawn cases; `options={"cases": [...]}` names the cases."""
        self._driver.check_open()
        _check_names("option of reset", options or {}, ("cases",))
        drawn = [seed + place for place in range(self.num_envs)] if isinstance(seed, int) else seed
        self._check_count("seed", drawn)
        super().reset(seed=drawn[0] if drawn else None)
        cases = (options or {}).get("cases") or [self._draw_case() for _ in range(self.num_envs)]
        self._check_count("case", cases)
        seeds: Sequence[int | None] = drawn or [self._draw_seed() for _ in cases]
        self._driver.check_cases(cases)
        for episode in self._episodes:
            self._driver(episode.leave("the environment was reset"))
        self._episodes = [self._driver.start(case, one) for case, one in zip(cases, seeds, strict=True)]
        self._driver.until_ready(self._episodes)
        outcomes = [self._driver.outcome(episode) for episode in self._episodes]
        return tuple(seen for seen, *_ in outcomes), _gather([info for *_, info in outcomes])

    def _draw_case(self) -> str:
        return self._driver.cases[int(self.np_random.integers(len(self._driver.cases)))]

    def _draw_seed(self) -> int:
        return int(self.np_random.integers(2**31))

    def _check_count(self, what: str, values: Sequence[object] | None) -> None:
        if values is not None and len(values) != self.num_envs:
            raise UsageError(f"there must be one {what} for each of the {self.num_envs} episodes, not {len(values)}")

    def step(self, actions: Sequence[str]) -> tuple[tuple[str, ...], Any, Any, Any, dict[str, Json]]:
        """Say something in each episode; one that has ended begins anew instead.

        Raises UsageError, and changes no episode, for an action that is no text.
        """
        self._driver.check_open()
        if not self._episodes:
            raise UsageError("call reset() first: there is no episode")
        self._check_count("action", actions)
        ended = [place for place, episode in enumerate(self._episodes) if episode.view is None]
        said = {
            place: storable_action(Action("reply", action))
            for place, action in enumerate(actions)
            if place not in ended
        }
        for place, action in said.items():
            self._episodes[place].say(action)
        for place in ended:
            self._episodes[place] = self._driver.start(self._draw_case(), self._draw_seed())
        self._driver.until_ready(self._episodes)
        seen, rewards, over, cut, infos = zip(*map(self._driver.outcome, self._episodes), strict=True)
        return seen, np.array(rewards), np.array(over), np.array(cut), _gather(infos)

    def close_extras(self, **kwargs: object) -> None:
        """Close the run."""
        self._forgotten()


def _gather(infos: Sequence[Mapping[str, Json]]) -> dict[str, Json]:
    """The infos of all episodes by name, each an array with one place an episode."""
    gathered: dict[str, Json] = {}
    for name in dict.fromkeys(name for info in infos for name in info):
        gathered[name] = column = np.empty(len(infos), dtype=object)
        for place, info in enumerate(infos):
            column[place] = info.get(name)  # one by one: lists of one length would become a second dimension
    return gathered


def _check_names(what: str, names: Iterable[str], known: Iterable[str]) -> None:
    if unknown := next((name for name in names if name not in known), None):
        raise UsageError(f"there is no {what} {unknown!r}{suggestion(unknown, list(known))}")
