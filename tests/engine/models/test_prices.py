"""Prices come from the user's table alone, by the whole name of a model."""

from pathlib import Path

import pytest

from wardround.engine.errors import UsageError
from wardround.engine.models.prices import Price, Prices, read_prices


def table(folder: Path, text: str, name: str = "prices.csv") -> Prices:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return read_prices(path)


def test_csv_and_toml_say_the_same(tmp_path: Path) -> None:
    csv = table(tmp_path, "model, input, output, cached\nopenai/a, 2, 10, 0.5\nb,0,0,\n")
    toml = table(
        tmp_path, '["openai/a"]\ninput = 2\noutput = 10.0\ncached = 0.5\n[b]\ninput = 0\noutput = 0\n', "p.toml"
    )
    assert csv.as_json() == toml.as_json()
    assert csv.of("openai/a") == Price(2, 10, 0.5)
    assert csv.of("elsewhere/b", "b") == Price(0, 0)


def test_an_unknown_model_has_no_price_and_a_part_of_a_name_is_none() -> None:
    prices = Prices({"gpt-4o": Price(1, 1)})
    assert prices.of("openai/gpt-4o-mini", "gpt-4o-mini") is None
    assert prices.of("openai/gpt-4", "gpt-4") is None
    assert prices.of("openai/gpt-4o", "gpt-4o") == Price(1, 1)
    assert Prices().of("x") is None


def test_cost_in_dollars() -> None:
    assert Price(2, 10).cost(1_000_000, 100_000) == pytest.approx(3.0)
    assert Price(2, 10, 0.5).cost(1_000_000, 0, 400_000) == pytest.approx(1.4)
    assert Price(2, 10, 0.0).cost(10, 0, 99) == 0


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("p.csv", "", "line 1: the head must be"),
        ("p.csv", "name,price\na,1\n", "line 1: the head must be"),
        ("p.csv", "model,input,output\na,1\n", "line 2, field `output`: None"),
        ("p.csv", "model,input,output\na,1,-2\n", "line 2, field `output`: '-2'"),
        ("p.csv", "model,input,output\na,1,nan\n", "line 2, field `output`"),
        ("p.csv", "model,input,output\na,1,2,3\n", "line 2: more fields"),
        ("p.csv", "model,input,output\n,1,2\n", "line 2: the field `model` is empty"),
        ("p.csv", "model,input,output\na,1,2\na,1,2\n", "line 3: a has a price already"),
        ("p.csv", "model,input,output,discount\na,1,2,3\n", "unknown field `discount`"),
        ("p.toml", "a = 3\n", "a must be a table"),
        ("p.toml", "[a]\ninput = 1\n", r"\[a\], field `output`"),
        ("p.toml", "[a]\ninput = true\noutput = 1\n", r"\[a\], field `input`"),
        ("p.toml", "[a\n", "p.toml"),
    ],
)
def test_what_is_wrong_with_a_table_is_named(tmp_path: Path, name: str, text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        table(tmp_path, text, name)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no\.csv"):
        read_prices(tmp_path / "no.csv")
