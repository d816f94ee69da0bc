"""A team as a doctor: roles of one or several models, each call recorded apart, failures typed."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from clinic import case_file
from seats import AGENT_PROMPTS
from shell import Shell

from wardround.agents.team import Team, as_team, read_team
from wardround.agents.toml_files import bundled_names
from wardround.engine.errors import ProviderError, UsageError
from wardround.engine.models.scripted import Scripted
from wardround.engine.prompts import Prompts
from wardround.engine.records import Json, Message, Said, View
from wardround.engine.seat import Seat

PROMPTS = Prompts.load([AGENT_PROMPTS])
HERE = "test_team"
TWO = {
    "roles": {"thinker": {"prompt": "Think.", "keeps": True}, "writer": {"prompt": "Write."}},
    "steps": [{"roles": ["thinker"]}, {"roles": ["writer"]}],
}


def seat(team: Json, model: Scripted, models: Mapping[str, Scripted] | None = None) -> Seat:
    return Seat("doctor", "case", 1, PROMPTS, {"team": team}, model, models=models or {})


def view(*heard: Said, memo: Json = None) -> View:
    return View("doctor", "The brief.", heard, ("reply",), memo=memo)


async def test_each_role_is_a_call_and_the_last_writes() -> None:
    model = Scripted(["It may be gout.", "ASK: Where does it hurt?"])
    action = await Team(seat(TWO, model)).act(view())
    assert (action.text, action.args) == ("ASK: Where does it hurt?", {})
    assert action.memo == {"thinker": "It may be gout."}
    assert [purpose for _, purpose, _ in model.calls] == ["team/thinker", "team/writer"]
    first, second = (messages for messages, _, _ in model.calls)
    assert "Think." in first[0].content
    assert "Write." in second[0].content
    assert "thinker: It may be gout." in second[-1].content
    assert first[1].content.startswith("The brief.")


async def test_notes_come_back_and_the_beginning_stays_the_same_from_turn_to_turn() -> None:
    model = Scripted(["It may be gout.", "ASK: Where?", "Gout still.", "DIAGNOSIS: gout"])
    team = Team(seat(TWO, model))
    one = await team.act(view())
    heard = (Said(1, "doctor", "reply", one.text), Said(2, "patient", "answer", "My toe."))
    await team.act(view(*heard, memo=one.memo))
    before, after = model.calls[0][0], model.calls[2][0]
    assert before[0] == after[0]
    assert after[1].content == "The brief."
    assert "It may be gout." in after[-1].content
    assert "My toe." in after[-1].content


async def test_roles_of_one_step_do_not_hear_each_other() -> None:
    team = read_team("debate")
    model = Scripted([f"word-{number}" for number in range(7)])
    action = await Team(seat(team, model)).act(view())
    assert action.text == "word-6"
    for number, (messages, _, _) in enumerate(model.calls):
        heard = {other for other in range(7) if f"word-{other}" in messages[-1].content}
        assert heard == (set() if number < 3 else {0, 1, 2} if number < 6 else set(range(6)))


async def test_several_models_play_the_roles_that_name_them() -> None:
    roles = {"thinker": {"prompt": "Think.", "model": "fast"}, "writer": {"prompt": "Write."}}
    fast, careful = Scripted(["thought"]), Scripted(["DIAGNOSIS: gout"])
    team = {**TWO, "roles": roles}
    action = await Team(seat(team, careful, {"fast": fast})).act(view())
    assert (action.text, fast.count, careful.count) == ("DIAGNOSIS: gout", 1, 1)
    with pytest.raises(UsageError, match="'thinker' wants the model 'fast'"):
        Team(seat(team, careful))


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("", "empty"),
        (ProviderError("refusal", "no"), "refusal"),
        (ProviderError("content_filter", "no"), "content_filter"),
    ],
)
async def test_a_role_that_fails_is_named_with_its_reason_and_the_team_goes_on(
    bad: str | ProviderError, reason: str
) -> None:
    model = Scripted([bad, bad, "DIAGNOSIS: gout"])
    action = await Team(seat(TWO, model)).act(view())
    assert (action.text, action.args) == ("DIAGNOSIS: gout", {"failed": {"thinker": reason}})
    assert action.memo is None
    model = Scripted(["thought", bad, bad])
    action = await Team(seat(TWO, model)).act(view())
    assert (action.text, action.args) == ("", {"failed": {"writer": reason}})
    with pytest.raises(ProviderError):
        await Team(seat(TWO, Scripted([ProviderError("timeout", "away")]))).act(view())


@pytest.mark.parametrize(
    ("team", "told"),
    [
        ({**TWO, "steps": []}, "no step"),
        ({**TWO, "steps": [{"roles": ["thinker", "writer"]}]}, "last step has 2 roles"),
        ({**TWO, "steps": [{"roles": ["writter"]}]}, "did you mean writer"),
        ({**TWO, "steps": [{"roles": ["writer"]}]}, "'thinker' speaks in no step"),
        ({**TWO, "roles": {"A b": {"prompt": "x"}}}, "'A b' must be a word"),
        ({**TWO, "colour": 1}, "colour"),
    ],
)
def test_a_wrong_team_is_refused(team: Json, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        as_team(team, "team:mine.toml")


def test_the_teams_of_the_package_are_sound() -> None:
    assert bundled_names("teams") == ("debate", "panel")
    roles = set(as_team(read_team("panel")).roles)
    assert roles == {"hypothesis", "chooser", "challenger", "steward", "checklist"}


def playing(messages: Sequence[Message], purpose: str) -> str:
    if purpose not in ("team/checklist", "team/writer"):
        return f"thoughts of {purpose}"
    turn = sum(message.role == "assistant" for message in messages)
    return ("ASK: Since when does it hurt?", "ORDER: White Blood Cells", "DIAGNOSIS: acute appendicitis")[min(turn, 2)]


def quiet(messages: Sequence[Message], purpose: str) -> str:
    return "" if purpose == "team/steward" else playing(messages, purpose)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[object, ...]:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    monkeypatch.chdir(tmp_path)
    cases = case_file(tmp_path / "cases.jsonl", 2)
    return ("run", "--cases", cases, "--scenario", "consultation", "--no-preflight", "--name", "r")


def test_a_run_of_a_team_shows_its_cost_by_role_and_replays_equal(shell: Shell, run: tuple[object, ...]) -> None:
    (Path("prices.csv")).write_text("model,input,output\ntest_team:quiet,1,1\n")
    model = ("--doctor-model", "scripted/test_team:quiet")
    assert shell(*run, "--doctor", "team:panel", *model) == 0, shell.err
    assert shell("score", "r") == 0
    scores = shell.json("report", "r")["runs"][0]["scores"]
    scores = {score["name"]: score for score in scores} if isinstance(scores, list) else scores
    assert scores["role_calls_hypothesis"]["mean"] == 3.0
    assert scores["role_calls_steward"]["mean"] == 6.0, "asked once more each time"
    assert scores["failed_roles"]["mean"] == 3.0
    assert "role_cost_checklist" in scores
    assert shell("show", "r", "case-001@1") == 0
    assert "Calls by role:" in shell.out
    assert "role steward failed: empty" in shell.out
    assert shell("replay", "r") == 0, shell.out
    assert shell("report", "r") == 0
    assert "Cost of calls of the role steward" in shell.out
    assert shell("report", "r", "--html", "page") == 0, shell.err


def test_a_team_of_ones_own_stays_with_the_run_and_its_budget_holds(shell: Shell, run: tuple[object, ...]) -> None:
    Path("mine.toml").write_text(
        """
[roles.thinker]
prompt = "Think."
model = "scripted/test_team:playing"

[roles.writer]
prompt = "Write."
model = "careful"

[[steps]]
roles = ["thinker"]

[[steps]]
roles = ["writer"]
"""
    )
    team = ("--doctor", "team:mine.toml", "--doctor-model", "careful=scripted/test_team:playing")
    assert shell(*run, *team, "--budget", "7calls") == 130
    assert "made 7 of 7 calls" in shell.err
    Path("mine.toml").unlink()
    assert shell("run", "--resume", "r", "--budget", "100calls") == 0, shell.err
    assert shell("replay", "r") == 0, shell.out
    assert shell("run", "--doctor", "team:panell", "--doctor-model", "scripted/x") == 2
    assert "did you mean panel?" in shell.err
    assert shell("run", "--scenario", "consultation", "--patient", "team:panel") == 2
    assert "a team plays the doctor" in shell.err
    assert shell("run", "--doctor", "team:panel") == 2
    assert "needs a model" in shell.err
