"""Parameters that a model refuses: found before the run, left out or sent under another name, named in the header."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from serving import serving
from shell import Shell

from wardround.api import resume, run
from wardround.engine.errors import PreflightError, ProviderError
from wardround.engine.models.preflight import preflight
from wardround.engine.models.reach import reach
from wardround.engine.protocols import Model
from wardround.engine.records import Completion, Json, Message
from wardround.replay_run import replay_run
from wardround.runs.stored_run import Run, open_store
from wardround.testing.loopback import Loopback


class Picky(Model):
    """Refuses some parameters, and says so in a way of its own."""

    host = "far.example"

    def __init__(self, refuses: Sequence[str], says: str = "", name: str = "picky") -> None:
        self.name, self.refuses, self.says = name, refuses, says
        self.asked: list[dict[str, Json]] = []

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        self.asked.append(options)
        for name in self.refuses:
            if name in options:
                raise ProviderError("bad_request", self.says.format(name=name), status=400)
        return Completion("OK")


SETTINGS = {"temperature": 0.0, "max_tokens": 100, "top_p": 0.9, "seed": 3, "reasoning_effort": "low"}


@pytest.mark.parametrize("says", ["no {name} here", "Unsupported value: '{name}' must be 1", "that will not do"])
@pytest.mark.parametrize(
    ("refuses", "dropped"),
    [
        ([], {}),
        (["temperature"], {"temperature": ""}),
        (["max_tokens"], {"max_tokens": "max_completion_tokens"}),
        (["max_tokens", "max_completion_tokens"], {"max_tokens": ""}),
        (["temperature", "max_tokens", "seed"], {"temperature": "", "max_tokens": "max_completion_tokens", "seed": ""}),
        (list(SETTINGS), {**dict.fromkeys(SETTINGS, ""), "max_tokens": "max_completion_tokens"}),
    ],
)
async def test_what_is_refused_is_found_whatever_the_words(
    says: str, refuses: list[str], dropped: dict[str, str]
) -> None:
    model = Picky(refuses, says)
    found = (await preflight({"a": model}, sampling={"a": SETTINGS}))["a"]
    assert found.dropped == dropped
    assert not set(refuses) & set(found.of(SETTINGS))
    assert found.of(SETTINGS).get("temperature") == (None if "temperature" in refuses else 0.0)


async def test_what_no_parameter_explains_stops_the_run() -> None:
    class Broken(Picky):
        async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
            raise ProviderError("bad_request", "never", status=400)

    with pytest.raises(PreflightError, match="never"):
        await preflight({"a": Broken([])}, sampling={"a": SETTINGS})


async def test_two_settings_of_one_model_are_tried_apart_and_a_fleet_agrees() -> None:
    model = Picky(["temperature"], "no {name}")
    found = await preflight({"a": model, "b": model}, sampling={"a": {"temperature": 0.0}, "b": {"seed": 1}})
    assert (found["a"].dropped, found["b"].dropped) == ({"temperature": ""}, {})
    async with Loopback() as plain, Loopback(refuses=["max_tokens"]) as strict:
        fleet = reach("openai/m", base_url=[plain.base_url, strict.base_url], env={})
        found = await preflight({"a": fleet}, sampling={"a": {"max_tokens": 9}})
        await fleet.aclose()
    assert found["a"].of({"max_tokens": 9}) == {"max_completion_tokens": 9}


async def test_a_reasoning_model_plays_workup_and_the_header_names_what_was_dropped(tmp_path: Path) -> None:
    store = tmp_path / "r.db"
    refused = ("temperature", "max_tokens")
    async with Loopback(lambda messages, model: "Diagnosis: gout", refuses=refused) as server:
        doctor = {"spec": "openai/o9", "base_url": server.base_url, "max_tokens": 500}
        played = await run(limit=2, repeats=1, doctor=doctor, store=store, name="r")
        bodies = [request.json() for request in server.asked]
        assert [row.cause for row in await played.episodes()] == ["completed"] * 2
        sent = [body for body in bodies if not set(refused) & set(body)]
        assert all(body["max_completion_tokens"] == 500 for body in sent)
        assert len(bodies) - len(sent) == 2  # once for each parameter
        header = (await Run.open(open_store(store), "r")).header.seats["doctor"]
        assert header.dropped == {"temperature": "", "max_tokens": "max_completion_tokens"}
        assert header.sampling == {"max_completion_tokens": 500}
        assert [one.error async for one in replay_run(played)] == ["", ""]
        total = server.total
        await resume("r", store=store)
        assert not set(refused) & set(server.asked[-1].json())
        assert server.total == total + 1


def test_show_names_what_was_refused(shell: Shell, tmp_path: Path) -> None:
    with serving(Loopback(lambda messages, model: "Diagnosis: gout", refuses=["temperature"])) as url:
        more = ["--limit", 1, "--repeats", 1, "--doctor", "openai/m", "--base-url", url, "--max-tokens", 9]
        assert shell("run", *more, "--store", tmp_path / "r.db", "--name", "r") == 0
    assert "not sent" in shell.err
    assert shell("show", "r", "--store", tmp_path / "r.db") == 0
    assert "refused and not sent: temperature" in shell.out


async def test_a_run_that_has_begun_keeps_its_settings(tmp_path: Path) -> None:
    async with Loopback(lambda messages, model: "Diagnosis: gout") as server:
        doctor: Any = {"spec": "openai/o9", "base_url": server.base_url, "temperature": 0.5}
        await run(limit=1, repeats=1, doctor=doctor, store=tmp_path / "r.db", name="r")
        server.refuses = ("temperature",)
        with pytest.raises(PreflightError, match=r"every call of this run sends: temperature; begin a new run"):
            await resume("r", store=tmp_path / "r.db")


@pytest.mark.long
async def test_none_leaves_out_what_the_paper_sets(tmp_path: Path) -> None:
    sent = {}
    for name, more in (("a", {}), ("b", {"temperature": "none", "stop": ["Q:"], "extra_body": {"top_k": 5}})):
        doctor: Any = {"spec": "scripted/x", **more}
        played = await run(limit=1, repeats=1, doctor=doctor, store=tmp_path / "r.db", name=name)
        sent[name] = played.header.seats["doctor"].sampling
    assert sent == {"a": {"temperature": 0.8}, "b": {"stop": ["Q:"], "top_k": 5}}


def test_a_judge_that_refuses_settings_is_asked_without_them(shell: Shell, tmp_path: Path) -> None:
    store = tmp_path / "r.db"
    assert (
        shell(
            "run", "--limit", 1, "--repeats", 1, "--doctor", "scripted/Diagnosis: gout", "--store", store, "--name", "r"
        )
        == 0
    )
    with serving(Loopback(refuses=["temperature", "max_tokens"])) as url:
        judge = ["--judge", "openai/j", "--judge-base-url", url, "--judge-temperature", 0.5, "--judge-max-tokens", 900]
        shell("score", "r", "--store", store, "--evaluators", "standard", *judge, "--judge-reasoning-effort", "low")
    assert "dropped" in shell.err
    assert "max_tokens (sent as max_completion_tokens)" in shell.err
