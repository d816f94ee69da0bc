"""From what a user writes to a model."""

import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec

import pytest

from wardround.engine.errors import UsageError
from wardround.engine.models.prices import Price, Prices
from wardround.engine.models.quota import Quota
from wardround.engine.models.reach import Gates, reach
from wardround.engine.models.wrappers import Patience, Retrying
from wardround.engine.records import Message
from wardround.testing.loopback import Loopback

ASKED = [Message("user", "hello")]
LINES = ["first", "second"]


def last_word(messages: Sequence[Message], purpose: str) -> str:
    return messages[-1].content.split()[-1]


@pytest.mark.parametrize(
    ("spec", "env", "host", "name"),
    [
        ("openai/gpt-4o", {"OPENAI_API_KEY": "k"}, "api.openai.com", "gpt-4o"),
        ("openai/gpt-4o", {"OPENAI_BASE_URL": "http://localhost:9/v1"}, "localhost", "gpt-4o"),
        ("openai/org/model:free", {"OPENAI_BASE_URL": "https://h.example/v1"}, "h.example", "org/model:free"),
        ("openai-responses/o9", {"OPENAI_API_KEY": "k"}, "api.openai.com", "o9"),
        (
            "azure/dep",
            {"AZURE_OPENAI_API_KEY": "k", "AZURE_OPENAI_ENDPOINT": "https://x.azure.example"},
            "x.azure.example",
            "dep",
        ),
    ],
)
def test_where_a_spec_leads(spec: str, env: dict[str, str], host: str, name: str) -> None:
    model = reach(spec, env=env)
    assert (model.host, model.name) == (host, name)
    assert isinstance(model, Retrying)


@pytest.mark.parametrize(("spec", "name"), [("openai/a/b", "a/b"), ("meta-llama/Llama-9", "meta-llama/Llama-9")])
async def test_a_base_url_makes_any_spec_an_endpoint_of_chat_completions(spec: str, name: str) -> None:
    async with Loopback(models=[name]) as server:
        model = reach(
            spec, base_url=server.base_url, env={}, prices=Prices({spec: Price(1e6, 0)}), patience=Patience(attempts=1)
        )
        reply = await model.complete(ASKED, purpose="test")
        await model.aclose()
        assert "authorization" not in server.asked[0].headers
    assert (reply.text, reply.usage.cost) == ("hello", 1.0)


async def test_a_base_url_goes_before_the_environment() -> None:
    async with Loopback(key="k") as server:
        env = {"OPENAI_BASE_URL": "http://elsewhere.example/v1", "OPENAI_API_KEY": "k"}
        model = reach("openai/m", base_url=server.base_url, env=env)
        assert (await model.complete(ASKED, purpose="test")).text == "hello"
        await model.aclose()


@pytest.mark.parametrize(
    ("spec", "env", "variable"),
    [
        ("openai/gpt-4o", {}, "OPENAI_API_KEY"),
        ("openai/gpt-4o", {"OPENAI_API_KEY": "  "}, "OPENAI_API_KEY"),
        ("openai/gpt-4o", {"OPENAI_BASE_URL": "https://eu.api.openai.com/v1"}, "OPENAI_API_KEY"),
        ("openai-responses/o9", {}, "OPENAI_API_KEY"),
        ("azure/dep", {"AZURE_OPENAI_API_KEY": "k"}, "AZURE_OPENAI_ENDPOINT"),
        ("azure/dep", {"AZURE_OPENAI_ENDPOINT": "https://x.example"}, "AZURE_OPENAI_API_KEY"),
    ],
)
def test_a_missing_variable_is_named(spec: str, env: dict[str, str], variable: str) -> None:
    with pytest.raises(UsageError, match=f"needs the environment variable {variable},"):
        reach(spec, env=env)


@pytest.mark.parametrize("spec", ["gpt-4o", "openai/", "/gpt-4o", "openai/ ", ""])
def test_what_names_no_model(spec: str) -> None:
    with pytest.raises(UsageError, match="names no model"):
        reach(spec, env={})


def test_a_bad_address_is_told() -> None:
    with pytest.raises(UsageError, match="is not an address of an endpoint"):
        reach("openai/m", base_url="localhost:8000", env={})


@pytest.mark.skipif(find_spec("litellm") is not None, reason="the extra is installed")
@pytest.mark.parametrize("spec", ["anthropic/claude", "litellm/openai/m"])
def test_a_missing_extra_is_told(spec: str) -> None:
    with pytest.raises(UsageError, match=r"pip install 'wardround\[litellm\]'"):
        reach(spec, env={})


async def test_scripted_models() -> None:
    assert (await reach("scripted/say: this", env={}).complete(ASKED, purpose="t")).text == "say: this"
    function = reach(f"scripted/{__name__}:last_word", env={})
    assert (await function.complete([Message("user", "one two")], purpose="t")).text == "two"
    lines = reach(f"scripted/{__name__}:LINES", env={})
    assert [(await lines.complete(ASKED, purpose="t")).text for _ in LINES] == LINES
    for wrong in ("ASKED_NOT", "__name__"):
        with pytest.raises(UsageError):
            reach(f"scripted/{__name__}:{wrong}", env={})


@pytest.mark.parametrize("form", ["text", "sequence", "environment"])
async def test_several_addresses_make_a_fleet(form: str) -> None:
    async with Loopback() as one, Loopback() as two:
        urls = [one.base_url, two.base_url]
        base_url = {"text": f"{urls[0]}, {urls[1]} ,", "sequence": urls, "environment": None}[form]
        env = {"OPENAI_BASE_URL": ",".join(urls)} if form == "environment" else {}
        model = reach("openai/m", base_url=base_url, env=env)
        for n in range(20):
            await model.bound("a", f"e{n}").complete(ASKED, purpose="test")
        await model.aclose()
        assert one.total + two.total == 20
        assert min(one.total, two.total) > 2
    assert (model.name, model.host) == ("m", "127.0.0.1")


async def test_every_kind_of_endpoint_has_its_gate() -> None:
    gates = Gates({"h.example": Quota(in_flight=3)})
    env = {"OPENAI_API_KEY": "k", "AZURE_OPENAI_API_KEY": "z"}
    for spec in ("openai/m", "org/m", "openai-responses/m", "azure/d"):
        reach(spec, base_url="https://h.example/v1", env=env, gates=gates)
    told = [(gate["address"], gate.get("key"), gate["cap"]) for gate in gates.summary()]
    assert told == [("https://h.example/v1", 1, 3), ("https://h.example/v1", 2, 3)]
    reach("scripted/x", env={}, gates=gates)
    assert len(gates.summary()) == 2


def test_heavy_libraries_are_imported_only_when_used() -> None:
    code = (
        "import sys; from wardround.engine.models.reach import reach; "
        "reach('openai/m', base_url='http://localhost/v1', env={}); "
        "reach('azure/d', base_url='http://localhost', env={'AZURE_OPENAI_API_KEY': 'k'}); "
        "print([name for name in ('openai', 'httpx', 'litellm', 'tenacity') if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("spec", "meant"), [("opnai/gpt-4o", "openai/gpt-4o"), ("antropic/claude-x", "anthropic/claude-x")]
)
def test_a_slip_in_the_name_of_a_provider_is_put_right(spec: str, meant: str) -> None:
    with pytest.raises(UsageError, match=f"did you mean {meant}"):
        reach(spec, env={})
