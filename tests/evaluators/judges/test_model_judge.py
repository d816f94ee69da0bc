"""A judge that is a model: what it is sent, in which shape, how it is asked again, and how often it is asked."""

from collections.abc import Sequence

import anyio
import pytest

from wardround.engine.errors import LimitReached, ProviderError
from wardround.engine.models.scripted import Reply, Scripted
from wardround.engine.prompts import Prompts
from wardround.engine.records import Completion, Json, Message
from wardround.evaluators.judges.panel import SILENCE, ModelJudge, Panel, PanelAnswer, Sample, ask_judge
from wardround.evaluators.reasoning import step_questions
from wardround.evaluators.reasoning.step_questions import read_class, read_presence
from wardround.runs.settings import load_prompts

PROMPTS = load_prompts()
FOUND = step_questions.step_in_text("The pain moved.", "Pain, {materials}, then fever.")
CLASS = step_questions.step_class("A case.", "to find the diagnosis", ["One."], "Two.")
YES = '{"found": true}'


def judge(voice: Scripted, structured: bool = False, prompts: Prompts = PROMPTS) -> ModelJudge:
    return ModelJudge("judge", "scripted/x", voice, prompts, structured=structured)


async def test_the_texts_are_fenced_and_our_words_are_not() -> None:
    voice = Scripted(["Reasoning"])
    assert await ask_judge(judge(voice), CLASS, read_class) == PanelAnswer("reasoning")
    ((system, asked), purpose, options) = voice.calls[0]
    assert (system.role, asked.role, purpose, options) == ("system", "user", "step_class", {})
    assert system.content == PROMPTS["judge/system"].text
    before, opened, rest = asked.content.partition("----- begin The case ")
    assert opened
    assert "to find the diagnosis" in before + rest.rpartition("----- end The step ")[2]
    assert rest.index("A case.") < rest.index("1. One.") < rest.index("Two.") < rest.index("----- end The step ")


async def test_what_a_text_holds_is_no_placeholder() -> None:
    voice = Scripted([YES])
    await judge(voice).say(FOUND, Sample())
    assert voice.calls[0][0][1].content.count("Pain, {materials}, then fever.") == 1


@pytest.mark.parametrize(("structured", "sent"), [(True, {"shape": FOUND.shape}), (False, {})])
async def test_a_schema_goes_only_to_an_endpoint_that_takes_one(structured: bool, sent: dict[str, Json]) -> None:
    voice = Scripted([YES, "fever, appendix"])
    asked = judge(voice, structured)
    await asked.say(FOUND, Sample())
    assert voice.calls[0][2] == sent
    await asked.say(step_questions.keywords("Fever."), Sample())  # plain text has none
    assert voice.calls[1][2] == {}


async def test_a_repair_shows_the_judge_its_own_reply() -> None:
    voice = Scripted(["I would say it depends.", YES])
    assert await ask_judge(judge(voice), FOUND, read_presence) == PanelAnswer(True)
    (first, _, _), (second, purpose, _) = voice.calls
    assert second[:2] == first
    assert [message.role for message in second[2:]] == ["assistant", "user"]
    assert [message.content for message in second[2:]] == ["I would say it depends.", PROMPTS["judge/repair"].text]
    assert purpose == "found repair"


async def test_silence_is_shown_as_such_and_is_no_answer() -> None:
    voice = Scripted(["", " \n"])
    assert await ask_judge(judge(voice), FOUND, read_presence) == PanelAnswer(None, "judge_unreadable/empty")
    assert voice.calls[1][0][2] == Message("assistant", SILENCE)


@pytest.mark.parametrize(
    ("error", "reason"),
    [(ProviderError("refused", "no"), "judge/refused"), (LimitReached("tokens", "spent"), "judge/tokens")],
)
async def test_a_judge_that_cannot_be_asked_is_a_reason(error: Exception, reason: str) -> None:
    def fail(messages: Sequence[Message], purpose: str) -> Reply:
        raise error

    assert await ask_judge(judge(Scripted(fail)), FOUND, read_presence) == PanelAnswer(None, reason)


@pytest.mark.parametrize(("seed", "sent"), [(None, [None] * 4), (7, [None, 8, None, 8])])
async def test_repeats_are_calls_of_their_own_with_the_next_seed(seed: int | None, sent: list[int | None]) -> None:
    voice = Scripted(lambda messages, purpose: YES)
    one = ModelJudge("judge", "scripted/x", voice, PROMPTS, seed=seed)
    ruling = await Panel([one], repeats=2, swap=True).ask(FOUND, read_presence, swappable=True)
    assert (ruling.value, ruling.steady, len(ruling.votes)) == (True, True, 4)
    assert [options.get("seed") for _, _, options in voice.calls] == sent
    assert [purpose for _, purpose, _ in voice.calls] == ["found", "found #2"] * 2
    assert len({messages[1].content for messages, _, _ in voice.calls}) == 2


class Slow:
    """A voice that answers, or fails, once it is let go."""

    name = "slow"

    def __init__(self, reply: str | ProviderError) -> None:
        self.go, self.reply, self.count = anyio.Event(), reply, 0

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        self.count += 1
        await self.go.wait()
        if isinstance(self.reply, ProviderError):
            raise self.reply
        return Completion(self.reply)


@pytest.mark.parametrize(
    ("reply", "answer"),
    [(YES, PanelAnswer(True)), (ProviderError("server", "down"), PanelAnswer[bool](None, "judge/server"))],
)
async def test_what_is_asked_at_the_same_moment_is_one_call(
    reply: str | ProviderError, answer: PanelAnswer[bool]
) -> None:
    voice, got = Slow(reply), list[PanelAnswer[bool]]()
    one = ModelJudge("judge", "scripted/x", voice, PROMPTS)

    async def ask() -> None:
        got.append(await ask_judge(one, FOUND, read_presence))

    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        assert voice.count == 1
        voice.go.set()
    await ask()
    assert (got, voice.count) == ([answer] * 5, 1)


async def test_judges_of_two_episodes_ask_each_for_itself() -> None:
    voice = Scripted(lambda messages, purpose: YES)
    for _ in range(2):
        await judge(voice).say(FOUND, Sample())
    assert voice.count == 2
