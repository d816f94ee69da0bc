"""Which host an address means, and which hosts are this machine."""

import pytest
from yarl import URL

from wardround.engine.errors import UsageError
from wardround.engine.models.hosts import endpoint_url, host_of, is_loopback, join_path, normal_host, printable_url


@pytest.mark.parametrize(
    ("given", "host"),
    [
        ("http://localhost:8000/v1", "localhost"),
        ("HTTP://LocalHost.:8000/v1", "localhost"),
        ("http://127.0.0.1/v1", "127.0.0.1"),
        ("http://[::1]:8000/v1", "::1"),
        ("https://API.OpenAI.com./v1", "api.openai.com"),
        ("http://localhost.evil.example/v1", "localhost.evil.example"),
        ("https://bücher.example/v1", "xn--bcher-kva.example"),
    ],
)
def test_the_host_of_an_address(given: str, host: str) -> None:
    assert host_of(endpoint_url(given)) == host


@pytest.mark.parametrize(
    "given",
    [
        "",
        "localhost:8000/v1",
        "ftp://localhost/",
        "/v1",
        "http://",
        "http:///v1",
        "http://h:99999/",
        "http://a b/",
        "http://a\\@b/",
    ],
)
def test_what_is_no_address(given: str) -> None:
    with pytest.raises(UsageError, match="is not an address"):
        endpoint_url(given)


@pytest.mark.parametrize("given", ["http://127.0.0.1@evil.example/v1", "https://me:hunter2@evil.example/v1"])
def test_a_user_in_an_address_is_refused_and_not_shown(given: str) -> None:
    with pytest.raises(UsageError, match=r"evil\.example") as caught:
        endpoint_url(given)
    assert "hunter2" not in str(caught.value)
    assert "127.0.0.1" not in str(caught.value)


def test_a_password_in_a_broken_address_is_not_shown() -> None:
    with pytest.raises(UsageError) as caught:
        endpoint_url("http://me:hunter2@evil.example:99999/v1")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "given", ["http://h/v1", "http://h/v1/", "http://h/v1/chat/completions", "http://h/v1/responses/"]
)
def test_a_call_is_added_to_the_path(given: str) -> None:
    assert str(join_path(endpoint_url(given), "chat/completions")) == "http://h/v1/chat/completions"


def test_a_query_is_kept_for_calls_and_kept_from_messages() -> None:
    url = endpoint_url("https://h/v1?api-version=1&code=secret")
    assert join_path(url, "chat/completions").query == {"api-version": "1", "code": "secret"}
    assert printable_url(url) == "https://h/v1"


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.255.3.9", "::1", "::ffff:127.0.0.1", "::ffff:7f00:1"])
def test_this_machine(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host",
    [
        "localhost.evil.example",
        "localhost.localdomain",
        "foo.localhost",
        "127.0.0.1.evil.example",
        "127.1",
        "0x7f000001",
        "2130706433",
        "0.0.0.0",
        "::",
        "::1%eth0",
        "::ffff:10.0.0.1",
        "10.0.0.1",
        "ip6-localhost",
        "LOCALHOST ",
    ],
)
def test_not_this_machine(host: str) -> None:
    assert not is_loopback(host)


@pytest.mark.parametrize(
    ("given", "host"),
    [
        (" LLM.Example.org. ", "llm.example.org"),
        ("[2001:DB8::0:1]", "2001:db8::1"),
        ("10.0.0.7", "10.0.0.7"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("anthropic", "anthropic"),
    ],
)
def test_a_host_as_the_user_names_it(given: str, host: str) -> None:
    assert normal_host(given) == host


@pytest.mark.parametrize("given", ["", " ", "http://h", "h:80", "h/v1", "*", "*.example.org", "a@b", "a b"])
def test_what_is_no_host(given: str) -> None:
    with pytest.raises(UsageError, match="is not a host"):
        normal_host(given)


def test_an_ipv6_address_is_the_same_however_it_is_written() -> None:
    assert normal_host("2001:db8:0:0::1") == host_of(URL("http://[2001:DB8::1]/"))
