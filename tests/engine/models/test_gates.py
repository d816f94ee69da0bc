"""The gates of a process: which quota is whose, one gate for each endpoint and key, and what they tell."""

import msgspec
import pytest

from wardround.engine.errors import UsageError
from wardround.engine.models.quota import Quota
from wardround.engine.models.reach import Gates

URL = "http://localhost:8000/v1"


async def test_one_gate_for_each_address_and_key() -> None:
    gates = Gates()
    gate = gates.of(URL, "secret-one")
    assert gates.of(f"{URL}/", "secret-one") is gate
    assert gates.of(URL, "secret-two") is not gate
    assert gates.of("http://localhost:8001/v1", "secret-one") is not gate
    assert gates.of("anthropic") is gates.of("anthropic")
    told = msgspec.json.encode(gates.summary()).decode()
    assert "secret" not in told
    assert [(gate["address"], gate.get("key")) for gate in gates.summary()] == [
        (URL, 1),
        (URL, 2),
        ("http://localhost:8001/v1", None),
        ("anthropic", None),
    ]


def test_quotas_by_address_host_and_default() -> None:
    gates = Gates(
        {f"{URL}/": Quota(rpm=1), "LOCALHOST": Quota(rpm=2), "anthropic": Quota(rpm=3), "vertex_ai": Quota(rpm=5)},
        Quota(rpm=4),
    )
    assert gates.unused == ["anthropic", URL, "localhost", "vertex_ai"]
    found = [gates.of(where).quota.rpm for where in (URL, "http://localhost:9/v1", "anthropic", "https://x.example/v1")]
    assert found == [1, 2, 3, 4]
    assert gates.of("vertex_ai").quota.rpm == 5
    assert gates.unused == []
    assert Gates().of(URL).quota == Quota()


def test_a_query_is_not_shown() -> None:
    gates = Gates({"https://h.example/v1?token=secret": Quota(rpm=1)})
    assert gates.of("https://h.example/v1?token=secret").name == "https://h.example/v1"


def test_each_worker_has_its_fixed_part() -> None:
    quota = Quota(in_flight=10, rpm=601, daily_tokens=1000)
    parts = [Gates({"localhost": quota}, share=(n, 4)).of(URL).quota for n in range(1, 5)]
    assert [part.in_flight for part in parts] == [3, 3, 2, 2]
    assert sum(part.rpm or 0 for part in parts) == 601
    with pytest.raises(UsageError, match="at most 10 workers"):
        Gates({"localhost": quota}, share=(1, 11))


async def test_what_was_spent_today_counts() -> None:
    gates = Gates({"localhost": Quota(daily_requests=5)}, spent_today={"localhost": (5, 100)})
    assert gates.used_up == ""  # nobody uses it
    gates.of(URL)
    assert gates.used_up == f"the daily quota of {URL} (5 requests) is used up: resume the run after 00:00 UTC"
    assert gates.summary()[0]["today"] == {"requests": 5, "tokens": 100}


@pytest.mark.parametrize("name", ["localhost:8000", "http://u:p@h/v1", "", "*.example.org"])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(UsageError):
        Gates({name: Quota(rpm=1)})
