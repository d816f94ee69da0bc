"""No key gets through the log."""

import subprocess
import sys
from pathlib import Path

import pytest
import structlog
from examples import first_ones
from hypothesis import given
from hypothesis import strategies as st

from wardround.engine.logs import configure, hide_secrets, redact

SECRETS = ("sk-abcdef1234567890", "Bearer abc.def.ghi", "api_key=hunter2")

FORMS = [
    "sk-hunter2hunter2",
    "Incorrect key: sk-proj-hunter2-abcdef.",
    "key_sk-hunter2hunter2",
    "gsk_hunter2hunter2hunter2",
    "hf_hunter2hunter2hunter2",
    "AIzahunter2hunter2hunter2hunter2",
    "Bearer hunter2",
    "bearer  Bearer hunter2",
    "Authorization: Bearer hunter2",
    "authorization: Basic hunter2==",
    "{'Authorization': 'Bearer hunter2'}",
    "Proxy-Authorization=hunter2",
    "OPENAI_API_KEY=hunter2",
    "AZURE_OPENAI_API_KEY = 'hunter2'",
    "AWS_SECRET_ACCESS_KEY=hunter2/x",
    "PGPASSWORD=hunter2 psql",
    "export HF_TOKEN=hunter2",
    "x-api-key: hunter2",
    "X-API-Key:hunter2",
    "apikey: hunter2",
    "Incorrect API key provided: hunter2.",
    "api_key=hunter2",
    "?api-key=hunter2&model=x",
    "https://host/v1?key=hunter2&alt=sse",
    "{'api_key': 'hunter2'}",
    '{"api_key": "hunter2"}',
    '{"api_key":"a\\"hunter2"}',
    r"{\"api_key\": \"a b hunter2\"}",
    "{'api_key': 'cut off hunter2",
    "{b'api_key': b'hunter2'}",
    "password='two words hunter2'",
    "password:hunter2",
    "passwd => hunter2",
    "client_secret=hunter2",
    "access_token=hunter2",
    "token: hunter2",
    "redis://:hunter2@h",
    "postgresql://me:hunter2@host:5432/db",
    "postgresql://me:at@hunter2@host/db",
    "https://ghp_hunter2hunter2hunter2@host/repo",
    "at http://me:hunter2@host/v1, it said",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_what_looks_like_a_key_is_hidden(secret: str, capsys: pytest.CaptureFixture[str]) -> None:
    configure("info")
    structlog.get_logger("x").info(
        "call failed", error=f"with {secret} it said no", api_key="plain", Authorization="x y"
    )
    err = capsys.readouterr().err
    assert "call failed" in err
    for part in (secret, "plain", "x y"):
        assert part not in err
    structlog.reset_defaults()


@pytest.mark.parametrize("text", FORMS)
def test_every_form_of_a_secret_is_hidden(text: str) -> None:
    found = redact(f"before {text} after")
    assert "hunter2" not in found
    assert "[hidden]" in found
    assert found.startswith("before ")
    assert found.endswith(" after") or "cut off" in text
    assert redact(found) == found


@pytest.mark.parametrize(
    "text",
    [
        "",
        "the model asked-for a task at http://127.0.0.1:8000/v1",
        "token count: 5",
        "tokens=120, max_tokens: 400, total_tokens=9",
        "input_cost_per_token: 2.5e-06",
        "3 ms a token: 12.5; next",
        "Unexpected token } in JSON at position 5",
        "no bearer token was sent",
        "password policy",
        "password authentication failed for user wardround",
        "check the URL and PGPASSWORD",
        "Incorrect API key provided.",
        "set OPENAI_API_KEY or --api-key",
        "the task-force's risk-adjusted score",
        "a secret, and the key to it",
        "key=value, monkey=5",
        "postgresql://me@host/db at me@host.org",
        "http://host:8000/v1 (mail me@host.org)",
        "http://host:8000?mail=me@host.org",
        "Serum glucose: 5 mmol/l",
    ],
)
def test_harmless_texts_stay(text: str) -> None:
    assert redact(text) == text


def test_what_is_left_tells_what_it_was() -> None:
    assert redact("at http://me:secret@host/v1") == "at http://[hidden]@host/v1"
    assert redact("PGPASSWORD=a psql") == "PGPASSWORD=[hidden] psql"
    assert redact("{'x-api-key': 'a', 'n': 5}") == "{'x-api-key': '[hidden]', 'n': 5}"
    assert redact("Authorization: Bearer a.b") == "Authorization: Bearer [hidden]"


PIECES = st.sampled_from(
    [
        *FORMS,
        "api_key",
        "token",
        "://",
        "@",
        ":",
        "=",
        "'",
        '"',
        "\\",
        " ",
        "\n",
        "&",
        "Bearer ",
        "sk-",
        "key",
        "7",
        "?",
    ]
)


@given(st.lists(PIECES | st.text(max_size=5), max_size=8).map("".join))
def test_what_was_hidden_stays_as_it_is(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


@pytest.mark.long
@pytest.mark.parametrize(
    "piece", first_ones(["a:", "://", "://a:", "token ", "sk-", "bearer ", "api_key='", "\\", "x@", "passwor"])
)
def test_a_megabyte_of_one_thing_is_read(piece: str) -> None:
    """Ends at all: a pattern that goes back and forth would take hours."""
    assert redact("://" + piece * (1_000_000 // len(piece))) is not None


class Odd:
    """Shown by its repr."""

    def __repr__(self) -> str:
        return "Odd(api_key='hunter2')"


@pytest.mark.parametrize(
    "value",
    [
        {"inner": {"api_key": "hunter2"}},
        {"headers": [("x", "Bearer hunter2"), {"X-Api-Key": ["hunter2"]}]},
        ["postgresql://me:hunter2@host/db"],
        {"password=hunter2"},
        ("sk-hunter2hunter2", 5),
        ValueError("PGPASSWORD=hunter2 is wrong"),
        {"error": KeyError("OPENAI_API_KEY=hunter2")},
        Odd(),
        b"api_key=hunter2",
        Path("/x/token=hunter2"),
    ],
)
def test_nothing_hides_a_secret_in_what_holds_it(value: object) -> None:
    found = hide_secrets(None, "info", {"event": "x", "value": value})
    assert "hunter2" not in repr(found)
    assert "[hidden]" in repr(found)


def test_other_values_stay() -> None:
    event = {"event": "x", "count": 5, "share": 0.5, "none": None, "on": True, "rows": [{"a": ["b", 1]}]}
    assert hide_secrets(None, "info", dict(event)) == event


def test_an_exception_and_its_traceback_are_clean(capsys: pytest.CaptureFixture[str]) -> None:
    configure("info")
    try:
        raise ValueError("x-api-key: hunter2")
    except ValueError:
        structlog.get_logger("x").exception("it failed")
    err = capsys.readouterr().err
    assert "ValueError: x-api-key: [hidden]" in err
    assert "hunter2" not in err
    structlog.reset_defaults()


def _printed(code: str) -> tuple[str, str]:
    """Standard output and error of a fresh process, in which nothing has imported structlog."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout, done.stderr


@pytest.mark.long
def test_structlog_is_imported_for_the_first_line_that_is_shown() -> None:
    code = """
import sys
from wardround.engine.logs import configure, log
configure("warning")
log.info("too low")
print("structlog" in sys.modules)
log.warning("shown", api_key="hunter2")
log.info("still too low")
"""
    out, err = _printed(code)
    assert out.split() == ["False"]
    assert "shown" in err
    assert "[hidden]" in err
    assert "hunter2" not in err
    assert "too low" not in err


def test_lines_of_a_users_own_module_are_clean_too(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("import structlog\nstructlog.get_logger().info('key', api_key='hunter2')\nx = 1\n")
    code = f"""
import sys
from wardround.engine.logs import configure
from wardround.engine.plugins import import_path
configure("info")
sys.path.insert(0, {str(tmp_path)!r})
import_path("own:x")
"""
    out, err = _printed(code)
    assert out == ""
    assert "[hidden]" in err
    assert "hunter2" not in err
