"""A URL is read once, and its password is seen by the driver alone."""

import traceback

import pytest

from wardround.engine.errors import UsageError
from wardround.engine.stores.postgres import PostgresStore
from wardround.engine.stores.postgres_server import Address
from wardround.runs.stored_run import open_store

SECRET = "s3cr3t"


@pytest.mark.parametrize(
    ("url", "shown", "dsn"),
    [
        ("postgresql://u:s3cr3t@db:5433/runs", "postgresql://db:5433/runs", None),
        ("postgres://u@db/runs?sslmode=require", "postgresql://db/runs", None),
        ("postgresql://u:s3cr3t%40%2F@[::1]:5432/runs", "postgresql://[::1]:5432/runs", None),
        ("postgresql://u:s3cr3t@a:1,b:2/runs", "postgresql://a:1,b:2/runs", None),
        ("postgresql:///runs?host=/var/run&password=s3cr3t", "postgresql:///runs", None),
        (
            "postgresql://db/runs?schema=mine&sslmode=off",
            "postgresql://db/runs?schema=mine",
            "postgresql://db/runs?sslmode=off",
        ),
        ("postgresql://db/runs?schema=mine", "postgresql://db/runs?schema=mine", "postgresql://db/runs"),
    ],
)
def test_it_shows_host_and_database_only(url: str, shown: str, dsn: str | None) -> None:
    address = Address(url)
    assert str(address) == shown
    assert repr(address) == f"Address('{shown}')"
    assert address.dsn == (dsn or url)
    assert repr(PostgresStore(url)) == f"PostgresStore('{shown}')"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:s3cr3t/x@db/runs",
        "postgresql://u:s3cr3t#x@db/runs",
        "postgresql://u:s3cr3t?x@db/runs",
        "postgresql://u:s3cr3t@x@db/runs",
        "postgresql://u:x s3cr3t",
        "postgresql://u:@db:s3cr3t/runs",
        "postgresql://u:[s3cr3t@db/runs",
    ],
)
def test_one_that_cannot_be_read_is_refused_without_a_word_of_it(url: str) -> None:
    with pytest.raises(UsageError, match="percent-encoded") as caught:
        open_store(url)
    assert SECRET not in "".join(traceback.format_exception(caught.value, chain=True)).replace(url, "")
    assert caught.value.__cause__ is None


def test_a_schema_is_a_plain_name() -> None:
    assert Address("postgresql://db/runs").schema == "wardround"
    assert Address("postgresql://db/runs?schema=study_2").schema == "study_2"
    with pytest.raises(UsageError, match="schema"):
        Address("postgresql://db/runs?schema=a;DROP")


def test_other_schemes_are_refused() -> None:
    with pytest.raises(UsageError, match=r"mysql://\.\.\."):
        open_store("mysql://u:s3cr3t@db/runs")
