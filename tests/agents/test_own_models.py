"""An agent of one's own with models and options: what it gets, what is recorded, and what is refused."""

from pathlib import Path

import pytest
from shell import Shell

from wardround.engine.records import Action, Message, View
from wardround.engine.seat import Seat
from wardround.testing.loopback import Loopback


class Two:
    """Asks a fast model, then a careful one."""

    def __init__(self, seat: Seat, *, k: int = 1) -> None:
        self.seat, self.k = seat, k

    async def act(self, view: View) -> Action:
        asked = [Message("user", view.brief[:100])]
        fast = await self.seat.models["fast"].complete(asked, purpose="act")
        careful = await self.seat.models["careful"].complete(asked, purpose="act")
        return Action("reply", f"Diagnosis: {fast.text} or {careful.text} {self.k}")


class Asking:
    """Says what its only model says."""

    def __init__(self, seat: Seat) -> None:
        self.model = seat.model
        self.k = seat.options.get("k", 0)

    async def act(self, view: View) -> Action:
        assert self.model is not None
        reply = await self.model.complete([Message("user", view.brief[:100])], purpose="act")
        return Action("reply", f"Diagnosis: {reply.text} {self.k}")


class ByName:
    """Takes an option by name."""

    def __init__(self, k: int = 3) -> None:
        self.k = k

    async def act(self, view: View) -> Action:
        return Action("reply", f"Diagnosis: number {self.k}")


class Actless:
    """Forgot its only method."""


class Deaf(ByName):
    """Takes the seat and keeps nothing of it."""

    def __init__(self, seat: Seat) -> None:
        super().__init__(len(seat.name))


class Later(ByName):
    """Reads an option in its first act only."""

    def __init__(self, seat: Seat) -> None:
        super().__init__(0)
        self.seat = seat

    async def act(self, view: View) -> Action:
        return Action("reply", f"Diagnosis: number {self.seat.options['k']}")


class Demanding(ByName):
    """Needs something that nobody gives."""

    def __init__(self, knowledge: object) -> None:
        super().__init__(len(str(knowledge)))


HERE = "test_own_models"


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


def run(shell: Shell, store: Path, *more: object) -> int:
    return shell("run", "--limit", 1, "--repeats", 1, "--store", store, "--name", "r", *more)


def test_two_named_models_are_recorded_apart_and_replay_equal(
    shell: Shell, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = ["--doctor-model", "fast=scripted/Gout", "--doctor-model", "careful=scripted/Flu"]
    assert run(shell, store, "--doctor", f"{HERE}:Two", *models, "--options", '{"k": 7}') == 0
    assert shell("show", "r", "wa-001", "--store", store) == 0
    assert "Diagnosis: Gout or Flu 7" in shell.out
    monkeypatch.chdir(store.parent)
    assert shell("export", "r", "--store", store) == 0
    events = (store.parent / "r.events.jsonl").read_text(encoding="utf-8")
    plain = events.replace("\\", "").replace(" ", "")
    assert [label for label in ("fast", "careful") if f'"label":"{label}"' not in plain] == []
    assert shell("replay", "r", "--store", store) == 0


async def test_the_model_of_a_run_file_is_asked_with_its_settings_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: Path
) -> None:
    from wardround.api import run as play
    from wardround.runs.settings import read_settings

    async with Loopback(lambda messages, model: f"{model} speaks") as server:
        file = tmp_path / "run.toml"
        file.write_text(
            f'limit = 1\nrepeats = 1\n[seats.doctor]\nspec = "{HERE}:Two"\nbase_url = "{server.base_url}"\n'
            'temperature = 0.5\noptions = {k = 2}\n[seats.doctor.models]\nfast = "openai/small"\n'
            'careful = {spec = "openai/large", temperature = 0.0, max_tokens = 50}\n'
        )
        fields = read_settings(file).model_dump(exclude_unset=True)
        seats = fields.pop("seats")
        played = await play(seats=seats, store=store, name="r", **fields)
        asked = [request.json() for request in server.asked][2:]
    assert [(body["model"], body["temperature"], body.get("max_tokens")) for body in asked] == [
        ("small", 0.5, None),
        ("large", 0.0, 50),
    ]
    header = played.header.seats["doctor"]
    assert {name: (one.model, dict(one.sampling)) for name, one in header.models.items()} == {
        "fast": ("small", {"temperature": 0.5}),
        "careful": ("large", {"temperature": 0.0, "max_tokens": 50}),
    }
    spent = await played.store.spending("r")
    assert [(row.seat, row.spent.calls) for row in spent] == [("doctor", 2)]


@pytest.mark.long
def test_one_model_goes_by_seat_model(shell: Shell, store: Path) -> None:
    more = ["--doctor", f"{HERE}:Asking", "--doctor-model", "scripted/Mumps", "--options", '{"k": 4}']
    assert run(shell, store, *more) == 0
    assert shell("show", "r", "wa-001", "--store", store) == 0
    assert "Mumps 4" in shell.out
    assert shell("replay", "r", "--store", store) == 0


@pytest.mark.long
def test_a_budget_counts_the_calls_of_an_own_agent(shell: Shell, store: Path) -> None:
    more = ["--doctor", f"{HERE}:Asking", "--doctor-model", "scripted/Mumps", "--limit", 5]
    assert shell("run", *more, "--repeats", 1, "--store", store, "--name", "r", "--budget", "doctor=2calls") == 130
    assert shell("run", *more, "--repeats", 1, "--store", store, "--name", "s", "--budget", "scripted/Mumps=2calls")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["Demanding"], "def __init__(self, *, k: int = 3)"),
        (["ByName", "--options", '{"j": 1}'], "takes no option 'j'; it takes: k"),
        (["ByName", "--options", '{"k": "a"}'], "option 'k': Expected `int`, got `str`"),
        (["ByName", "--options", "[1]"], "is not a JSON object"),
        (["Deaf", "--options", '{"k": 1}'], "takes no option 'k'"),
        (["Actless"], "has no method `act`: write `async def act("),
        (["ByName", "--temperature", "0"], "has no model that 'temperature' could be for"),
        (["Two", "--doctor-model", "a=scripted/x", "--doctor-model", "a=scripted/y"], "two are called 'a'"),
        (["Two", "--doctor-model", "scripted/x", "--doctor-model", "scripted/y"], "two have no name"),
        (["Two", "--doctor-model", "fast"], "names no model"),
    ],
)
def test_what_nobody_takes_is_an_error(shell: Shell, store: Path, arguments: list[str], says: str) -> None:
    assert run(shell, store, "--doctor", f"{HERE}:{arguments[0]}", *arguments[1:]) == 2
    assert says in shell.err


@pytest.mark.parametrize(
    ("doctor", "says"),
    [
        (["baseline", "--options", '{"j": 1}'], "takes no option 'j'"),
        (["gold", "--options", '{"j": 1}'], "takes no option 'j'"),
        (["scripted/x", "--options", '{"j": 1}'], "unknown field `j`"),
        (["scripted/x", "--doctor-model", "scripted/y"], "has a second model"),
        (["recorded:r", "--doctor-model", "scripted/y"], "a recording asks no model"),
    ],
)
def test_what_an_agent_of_the_house_does_not_take(shell: Shell, store: Path, doctor: list[str], says: str) -> None:
    assert run(shell, store, "--doctor", *doctor) == 2
    assert says in shell.err


def test_an_option_that_is_read_later_is_taken(shell: Shell, store: Path) -> None:
    assert run(shell, store, "--doctor", f"{HERE}:Later", "--options", '{"k": 8}') == 0
