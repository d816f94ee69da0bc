"""Scenarios as a verifiers environment (extra `verifiers`): a taskset of cases, and an env whose model is the doctor.

    eval wardround-encounters --env.taskset.scenario workup --env.doctor.harness.id wardround-encounters

Patient and examiner play inside, under the run's own rules; the trainer sees their words as messages of the user. What
verifiers marks as sampled, and so as trainable, are the doctor's replies alone.
"""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

import httpx
from pydantic import Field

from wardround.engine.errors import UsageError
from wardround.engine.records import Action, Json
from wardround.faces.client_format import client_ending, client_text, missing_extra, rewards_of
from wardround.faces.driven_run import DrivenEpisode, DrivenRun
from wardround.runs.plan import cases_of
from wardround.runs.settings import RunSettings, load_prompts, validate_settings

try:
    import verifiers.v1 as vf
    from verifiers.v1.dialects.chat import message_to_wire
except ImportError as error:
    raise missing_extra("verifiers", error) from error


LONGEST = 3600.0
"""Seconds for one reply of the model."""


class EncounterData(vf.TaskData):
    """One case."""

    case: str


class EncounterTask(vf.Task[EncounterData]):
    """One case, played once."""


class EncounterTasksetConfig(vf.TasksetConfig):
    """Which cases are played, and how.

    `settings` are more settings of the run, as in a run file. With `store` the episodes are kept as those of a run,
    which is then scored and reported as any other.
    """

    cases: str = "bundled"
    scenario: str = "workup"
    limit: int | None = None
    seed: int = 0
    settings: dict[str, Json] = Field(default_factory=dict)
    store: str = ""

    def run_settings(self) -> RunSettings:
        """The settings of the run."""
        fields = {"cases": self.cases, "scenario": self.scenario, "limit": self.limit, "seed": self.seed}
        return validate_settings({"preflight": False, **fields, **self.settings}, "taskset")


class EncounterTaskset(vf.Taskset[EncounterTask, EncounterTasksetConfig]):
    """The cases of a file, a folder, or the bundled ones."""

    def load(self) -> Iterator[EncounterTask]:
        """The cases in their order."""
        settings, prompts = self.config.run_settings(), load_prompts(None)
        system = prompts.texts().get(f"{settings.scenario}/system") or prompts["doctor/system"].text
        for case in cases_of(settings):
            data = EncounterData(name=case.id, id=case.id, case=case.id, prompt=None, system_prompt=system)
            yield EncounterTask(data, self.config.task)


class EncounterEnvConfig(vf.EnvConfig):
    """The seat that is trained or evaluated (`doctor`), and the score that is its reward."""

    doctor: vf.AgentConfig = vf.AgentConfig()
    reward: str = "diagnosis_accuracy"


class EncounterEnv(vf.Env[EncounterEnvConfig]):
    """One task is one encounter. The reward is one score of it; the others are metrics.

    If the reward has no value, for instance because a provider failed, the rollout ends with an error; the reward is
    never 0 instead. If the endpoint or the harness failed, there is no reward, and the episode stays open. Rollouts of
    one case differ by the doctor alone if the settings say `common_answers`.
    """

    def __init__(self, config: EncounterEnvConfig) -> None:
        super().__init__(config)
        self.driven: DrivenRun | None = None
        self._opening = asyncio.Lock()

    async def run(self, task: EncounterTask, agents: Any) -> None:
        """Play one encounter."""
        driven = await self._open()
        try:
            episode = await driven.start(task.data.case)
        except UsageError as error:
            hint = "; with a store each rollout is an episode: settings '{\"repeats\": N}'" if driven.kept else ""
            raise vf.EnvError(f"{error}{hint}") from error
        async with agents.doctor.interaction(task) as interaction:
            await self._play(driven, episode, interaction)
        if interaction.trace.has_error:  # the endpoint or the harness failed, and not the doctor: no reward, not even 0
            interaction.trace.info |= {"case": episode.row.case, "episode": episode.id, "ending": None}
            return
        await self._score(driven, episode, interaction.trace)

    async def _play(self, driven: DrivenRun, episode: DrivenEpisode, interaction: Any) -> None:
        while (view := episode.view) is not None:
            text, images = client_text(view), await driven.images(episode)
            segment = await interaction.turn(_illustrated(text, images) if images else text)
            if segment.terminated and interaction.trace.has_error:
                await episode.stop()  # it stays open
                return
            if segment.terminated:
                await episode.leave("the harness ended the rollout")
                return
            await episode.act(Action("reply", segment.last_reply))

    async def _score(self, driven: DrivenRun, episode: DrivenEpisode, trace: Any) -> None:
        values, missing = rewards_of(await driven.rewards(episode))
        trace.info |= {"case": episode.row.case, "episode": episode.id, "missing": missing}
        trace.info["ending"] = client_ending(episode.ending)
        for name, value in values.items():
            if value is not None and name != self.config.reward:
                trace.record_metric(name, value)
        reward = values.get(self.config.reward)
        if reward is None:
            why = missing.get(self.config.reward, "this scenario has no such score")
            raise vf.EnvError(f"episode {episode.id} has no {self.config.reward}: {why}")
        trace.record_reward(self.config.reward, reward)

    async def _open(self) -> DrivenRun:
        """The run that all tasks share."""
        async with self._opening:
            if self.driven is None:
                config = self.config.taskset
                settings, kept = config.run_settings(), bool(config.store)
                self.driven = await DrivenRun.begin(settings, config.store, face="verifiers", kept=kept)
            return self.driven

    async def close(self) -> None:
        """Close the run; episodes under way stay open."""
        driven, self.driven = self.driven, None
        if driven is not None:
            await driven.aclose()


def _illustrated(text: str, images: Sequence[str]) -> Any:
    shown = ({"type": "image_url", "image_url": {"url": one}} for one in images)
    return [vf.UserMessage(content=[{"type": "text", "text": text}, *shown])]


class DirectConfig(vf.HarnessConfig):
    """The settings of the direct harness.

    With `tokens`, each request asks for token ids and log-probabilities (`return_token_ids` as vLLM has it). They are
    kept in `trace.info["turn_tokens"]`, one entry for each reply of the model; words of other seats have none. A
    `TrainClient` keeps them by itself, in the nodes of the trace.
    """

    tokens: bool = False


class DirectSession(vf.HarnessSession):
    """One conversation: a segment is one request from this process."""

    _http: httpx.AsyncClient | None = None

    async def _run(self, messages: Any) -> Any:
        if self._http is None:
            self._http = httpx.AsyncClient(timeout=LONGEST, headers={"authorization": f"Bearer {self.secret}"})
            system, prompt = self.harness.resolve_prompt(self.data)
            self._said: list[Json] = [{"role": "system", "content": system}] if system else []
            self._said += _wire(prompt)
        self._said += _wire(messages)
        wanted = {"logprobs": True, "return_token_ids": True} if self.harness.config.tokens else {}
        body = {"model": self.ctx.model, "messages": self._said, **wanted}
        reply = await self._http.post(f"{self.endpoint}/chat/completions", json=body)
        if reply.status_code == 200:
            choice = reply.json()["choices"][0]
            self._said.append(choice["message"])
            if wanted:
                rows = (choice.get("logprobs") or {}).get("content") or []
                kept = {"token_ids": choice.get("token_ids"), "logprobs": [row["logprob"] for row in rows] or None}
                self.trace.info.setdefault("turn_tokens", []).append(kept)
        return vf.ProgramResult(exit_code=int(reply.status_code != 200), stdout=reply.text, stderr="")

    async def close(self) -> None:
        """Close the connection."""
        if self._http is not None:
            await self._http.aclose()
        await super().close()


def _wire(messages: Any) -> list[Json]:
    if isinstance(messages, str):
        return [{"role": "user", "content": messages}] if messages else []
    return [message_to_wire(one) for one in messages or ()]


class DirectHarness(vf.Harness[DirectConfig]):
    """A chat with the model and nothing else: no tools, no process, no container."""

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    NEEDS_CONTAINER = False
    EXECUTES_CODE = False

    async def session(self, *words: object, **named: object) -> DirectSession:
        """A new conversation."""
        return DirectSession(self, *words, **named)

    async def launch(self, *words: object, **named: object) -> Any:
        """Not used: segments are requests of this process."""
        raise NotImplementedError
