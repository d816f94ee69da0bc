"""An endpoint's refusal gets the right kind, and a message without key and prompt."""

import json
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.engine.models.failure import error_kind, failure, quotable, retry_after
from wardround.engine.records import Message

PROMPT = "The gardener counted forty-two copper kettles behind the greenhouse and told nobody."


@pytest.mark.parametrize(
    ("status", "said", "kind"),
    [
        (400, "context_length_exceeded: too long", "context_overflow"),
        (400, "This model's maximum context length is 4096 tokens. However, you requested 5000", "context_overflow"),
        (400, "the request exceeds the available context size", "context_overflow"),
        (400, "prompt is too long: 210000 tokens > 200000 maximum", "context_overflow"),
        (400, "The input token count (9) exceeds the maximum number of tokens allowed (8)", "context_overflow"),
        (422, "`inputs` tokens + `max_new_tokens` must be <= 4096", "context_overflow"),
        (500, "Requested tokens (9) exceed context window of 8", "context_overflow"),
        (400, "max_tokens is too large: 99999. This model supports at most 16384 completion tokens", "bad_request"),
        (400, "Unsupported value: 'temperature' does not support 0.8 with this model", "bad_request"),
        (400, "API key not valid. Please pass a valid API key.", "auth"),
        (401, "", "auth"),
        (403, "", "auth"),
        (403, "model_not_found: Project has no access to model", "unknown_model"),
        (400, "Model Not Exist", "unknown_model"),
        (404, "", "unknown_model"),
        (404, "DeploymentNotFound: The API deployment for this resource does not exist.", "unknown_model"),
        (400, "content_filter: The response was filtered", "refused"),
        (402, "", "quota"),
        (429, "insufficient_quota: You exceeded your current quota", "quota"),
        (429, "Rate limit reached", "rate_limit"),
        (408, "", "timeout"),
        (409, "", "server"),
        (500, "", "server"),
        (503, "loading", "server"),
        (529, "overloaded", "server"),
        (418, "", "bad_request"),
    ],
)
def test_kinds(status: int, said: str, kind: str) -> None:
    assert error_kind(status, said) == kind


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "it broke", "code": "x1"}},
        {"error": "it broke", "code": "x1"},
        {"object": "error", "message": "it broke", "code": "x1"},
        {"detail": "it broke", "type": "x1"},
    ],
)
def test_what_the_endpoint_says_is_quoted(body: dict[str, object]) -> None:
    error = failure("m at e", 400, {}, json.dumps(body).encode())
    assert str(error) == "m at e: HTTP 400: the request was refused (x1: it broke)"
    assert error.status == 400


@pytest.mark.parametrize(
    "body", [b"", b"<html>503</html>", b"[]", b"\xff\xfe", b'{"error": 7}', b'{"error": {"message": {}}}']
)
def test_any_body_is_survived(body: bytes) -> None:
    assert failure("m", 503, {}, body).kind == "server"


@pytest.mark.parametrize(
    "said",
    [
        PROMPT,
        f"cannot parse input {PROMPT[20:60]!r}",
        PROMPT.upper(),
        json.dumps(f"{PROMPT}\n{PROMPT}"),
        "kettles" + PROMPT[-40:],
    ],
)
def test_a_piece_of_the_prompt_is_never_quoted(said: str) -> None:
    error = failure("m", 400, {}, json.dumps({"error": {"message": said}}).encode(), messages=[Message("user", PROMPT)])
    assert str(error) == "m: HTTP 400: the request was refused"


def test_short_prompts_are_not_quoted_either() -> None:
    assert quotable("no: 'secret-word'", messages=[Message("user", "Secret-Word")]) == ""
    assert quotable("the field is missing", messages=[Message("user", "Secret-Word")]) == "the field is missing"


@given(st.integers(0, 40), st.integers(24, 40), st.text(max_size=40))
def test_no_run_of_24_characters_gets_through(start: int, length: int, around: str) -> None:
    piece = " ".join(PROMPT[start : start + length].split())
    if len(piece) >= 24 and around.isascii() and around.isalnum():
        assert quotable(f"{around} {piece}", messages=[Message("user", PROMPT)]) == ""


def test_keys_are_blotted_out() -> None:
    said = quotable(
        "Incorrect API key provided: hunter2-very-secret, not sk-proj-abc123DEF nor Bearer xyz", ["hunter2-very-secret"]
    )
    assert said == "Incorrect API key provided: ***, not *** nor ***"


def test_retry_after_in_all_its_forms() -> None:
    assert retry_after({}) is None
    assert retry_after({"retry-after": "7"}) == 7
    assert retry_after({"retry-after": " 1.5 "}) == 1.5
    assert retry_after({"retry-after-ms": "250", "retry-after": "9"}) == 0.25
    assert retry_after({"retry-after": "-3"}) == 0
    for junk in ("soon", "inf", "nan", "1 2", "", "Mon, 99 Foo"):
        assert retry_after({"retry-after": junk}) is None
    server = 1_000_000_000.0  # its clock is decades behind ours
    headers = {"date": formatdate(server, usegmt=True), "retry-after": formatdate(server + 30, usegmt=True)}
    assert retry_after(headers) == 30
    assert retry_after({"retry-after": formatdate(server, usegmt=True)}) == 0


def test_a_redirect_is_named() -> None:
    error = failure("m", 307, {"location": "http://other.example/"}, b"")
    assert error.kind == "bad_request"
    assert "not followed" in str(error)
