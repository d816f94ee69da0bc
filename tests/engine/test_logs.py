"""No key gets through the log."""

import pytest
import structlog

from wardround.engine.logs import configure, redact

SECRETS = ("sk-abcdef1234567890", "Bearer abc.def.ghi", "api_key=hunter2")


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


def test_a_password_in_an_address_is_hidden() -> None:
    assert redact("at http://me:secret@host/v1") == "at http://[hidden]@host/v1"


def test_plain_words_stay() -> None:
    text = "the model asked-for a task at http://127.0.0.1:8000/v1"
    assert redact(text) == text
