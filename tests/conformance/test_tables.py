"""The look-up tables read from a folder, and what is said of one that is not whole."""

from pathlib import Path

import pytest
from tiny import TESTS, write

from conformance.tables import FILES, load
from wardround.engine.errors import UsageError


def test_tables_are_read_in_their_order(tmp_path: Path) -> None:
    tables = load(write(tmp_path))
    assert list(tables.tests) == list(TESTS)
    assert tables.first["bilirubin, total"] == list(TESTS).index("Bilirubin, Total")
    assert tables.broad["MRCP"] == "MRI"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("tests", None, "cannot be read"),
        ("studies", "{", "no valid JSON"),
        ("exams", "[]", "holds no JSON object"),
        ("lookup", "{}", "there is no table 'region_exact_dict'"),
    ],
)
def test_a_missing_or_broken_table_is_named(tmp_path: Path, name: str, content: str | None, said: str) -> None:
    path = write(tmp_path) / FILES[name]
    if content is None:
        path.unlink()
    else:
        path.write_text(content)
    with pytest.raises(UsageError, match=said) as raised:
        load(tmp_path)
    assert FILES[name] in str(raised.value)
