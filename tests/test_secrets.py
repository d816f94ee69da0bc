"""Secrets in addresses and in the environment stand nowhere: not in the store, in reports, files, logs or errors."""

from pathlib import Path

import pytest
from clinic import case_file, lines
from hypothesis import given
from hypothesis import strategies as st
from serving import serving
from shell import Shell
from yarl import URL

from wardround import resume, run
from wardround.engine.errors import UsageError
from wardround.engine.models.hosts import redact_address
from wardround.runs.stored_run import open_store
from wardround.testing.loopback import Loopback

SECRET = "s3cr3t-v4lue"


def everything(folder: Path) -> bytes:
    """All bytes of all files."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


async def test_a_key_in_the_query_stands_nowhere_and_is_given_again_to_resume(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f"{SECRET}-too")
    store = tmp_path / "s.db"
    cases = case_file(tmp_path / "cases.jsonl", 2)
    async with Loopback(lambda messages, model: lines("oracle", messages)) as server:
        url = f"{server.base_url}?api-key={SECRET}&api-version=2"
        opened = open_store(store)
        played = await run(
            cases,
            "oracle",
            doctor={"spec": "openai/m", "base_url": url},
            quotas=[f"{url} rpm=600"],
            store=opened,
            name="r",
            repeats=1,
        )
        assert await played.endings() == {"completed": 2}
        await opened.reopen("r", [row.id for row in await played.episodes()])
        monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
        with pytest.raises(UsageError, match="had a secret, which is not stored") as raised:
            await resume("r", store=opened)
        assert SECRET not in str(raised.value)
        with pytest.raises(UsageError, match="leave out --base-url"):
            await resume("r", store=opened, seats={"doctor": {"base_url": "http://127.0.0.1:1/v1?api-key=x"}})
        await resume("r", store=opened, seats={"doctor": {"base_url": url}})
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        await resume("r", store=opened)
        await opened.aclose()
    assert SECRET.encode() not in everything(tmp_path)
    said = capsys.readouterr()
    assert SECRET not in said.out + said.err


def test_no_verb_shows_one(shell: Shell, tmp_path: Path) -> None:
    host = "127.0.0.1:9"
    for url in (
        f"http://{host}/v1?api-key={SECRET}",
        f"http://u:{SECRET}@{host}/v1",
        f"http://{host}/v1?sig={SECRET}#x",
    ):
        assert shell("run", "--doctor", "openai/m", "--base-url", url, "--print-config") == 0
        assert SECRET not in shell.out
        assert f"http://{host}/v1" in shell.out
        assert shell("run", "--doctor", "openai/m", "--base-url", f"{url} x", "--store", tmp_path / "s.db") == 2
        assert SECRET not in shell.err
        assert shell("run", "--doctor", "openai/m", "--quota", f"{url} rpm", "--store", tmp_path / "s.db") == 2
        assert SECRET not in shell.err
    assert SECRET.encode() not in everything(tmp_path)


def test_an_error_of_an_own_agent_repeats_no_key(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", SECRET)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "loud_agent.py").write_text(
        "import os\nclass Loud:\n    async def act(self, view):\n"
        "        raise OSError(f'cannot reach http://h/?q=1 with {os.environ[\"MY_API_KEY\"]}')\n"
    )
    cases = case_file(tmp_path / "cases.jsonl", 1)
    told = ("--cases", cases, "--doctor", "loud_agent:Loud", "--name", "r", "--store", tmp_path / "s.db")
    assert shell("run", *told, "--log-level", "debug") == 3
    assert SECRET not in shell.err + shell.out
    assert shell("show", "r", "case-000", "--store", tmp_path / "s.db") == 0
    assert "[hidden]" in shell.out
    assert SECRET.encode() not in everything(tmp_path)


WORD = st.text(st.characters(codec="ascii", categories=["Lu", "Ll", "Nd"]), min_size=6, max_size=12)


@given(user=WORD, password=WORD, value=WORD, name=st.sampled_from(["api-key", "key", "sig", "code", "x"]))
def test_no_secret_of_any_address_is_left(user: str, password: str, value: str, name: str) -> None:
    user, password, value = f"zq{user}", f"zq{password}", f"zq{value}"
    for text in (
        f"https://{user}:{password}@example.org:1/v1?{name}={value}&api-version=1",
        f"http://h/v1,http://{user}:{password}@h:2/v1?{name}={value}",
        f"//{user}@h/?api-version=1&{name}={value}#f",
    ):
        said = redact_address(text)
        assert not any(part in said for part in (user, password, value)), said
        assert redact_address(said) == said
    assert URL(redact_address("http://h:8/v1?api-version=1&key=x")).query == {"api-version": "1", "key": "HIDDEN"}
    assert redact_address("http://localhost:8000/v1") == "http://localhost:8000/v1"


def test_the_key_of_a_judge_stands_nowhere_and_is_given_again_to_go_on(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f"{SECRET}-too")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    where = ["--store", tmp_path / "s.db"]
    told = ["--cases", "bundled:reports", "--scenario", "oracle", "--doctor", "replies:bundled#hasty", "--limit", 3]
    assert shell("run", *told, "--name", "r", *where) == 0, shell.err
    with serving(Loopback(lambda messages, model: '{"verdict": "wrong"}')) as base_url:
        url = f"{base_url}?api-key={SECRET}"
        judged = ["--judge", "openai/m", "--judge-base-url", url, "--quota", f"{url} rpm=600", "--budget", "1calls"]
        assert shell("score", "r", *judged, "--concurrency", 1, *where) == 130, shell.err
        again = ["score", "--resume", "r~standard", "--budget", "100calls", *where]
        assert shell(*again) == 2
        assert "had a secret, which is not stored: give the whole address with --judge-base-url" in shell.err
        assert shell(*again, "--judge-base-url", "http://127.0.0.1:1/v1?api-key=x") == 2
        assert "leave out --judge-base-url http://127.0.0.1:1/v1?api-key=HIDDEN" in shell.err
        assert shell(*again, "--judge-base-url", url) == 0, shell.err
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        assert shell(*again) == 0, shell.err
    assert shell("show", "r~standard", "--json", *where) == 0
    assert SECRET not in shell.out + shell.err
    assert SECRET.encode() not in everything(tmp_path)
