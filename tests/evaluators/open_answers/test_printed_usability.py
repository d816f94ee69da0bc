"""Table 2 of LLMEval-Med: what its rates are, and the same rates from answers with as many usable markings planted."""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import planted
import pytest
from shell import Shell

PRINTED: Mapping[str, Sequence[float]] = {
    "Deepseek-R1": (64.23, 84.16, 69.64, 63.40, 59.63, 44.33),
    "Qwen-72B": (51.53, 55.56, 47.42, 50.83, 60.55, 43.30),
    "Qwen-32B": (48.87, 52.25, 46.48, 42.24, 61.11, 42.27),
    "Deepseek-V3": (48.03, 51.06, 53.68, 38.24, 47.71, 49.48),
    "Mistral-24B": (46.42, 45.15, 43.35, 28.10, 50.15, 22.68),
    "llama-3.1-8B": (26.65, 16.78, 20.50, 18.63, 25.38, 29.90),
    "o1-preview": (61.23, 65.25, 63.85, 62.75, 64.81, 49.48),
    "GPT-4o": (58.73, 61.23, 56.34, 55.23, 56.27, 64.58),
    "o1-mini": (57.86, 56.03, 60.09, 60.40, 63.30, 49.48),
    "Baichuan-M1": (60.34, 70.69, 63.22, 62.09, 50.76, 54.95),
    "Baichuan-M1-14B": (55.43, 62.88, 40.53, 55.23, 70.03, 48.45),
    "HuatuoGPT-o1-72B": (52.27, 53.43, 49.45, 56.86, 56.27, 45.36),
    "DISC-MedLLM": (11.34, 7.09, 10.02, 7.52, 23.24, 2.06),
}
"""Table 2 in percent: overall, then knowledge, language, reasoning, ethics, generation."""
ITEMS: Mapping[str, int] = {"knowledge": 141, "language": 213, "reasoning": 102, "ethics": 109, "generation": 97}
"""The paper's items by category, in the order of its table."""


def markings(category: str) -> int:
    """How often an answer is marked: three times by judges; the generated texts once, by people (section 3.2)."""
    return 1 if category == "generation" else 3


def nearest_count(rate: float, category: str) -> int:
    """The number of usable markings whose share of all is nearest to a printed rate."""
    return round(rate * ITEMS[category] * markings(category) / 100)


def share(count: int, category: str) -> float:
    """In percent."""
    return 100 * count / (ITEMS[category] * markings(category))


def is_a_count(rate: float, category: str) -> bool:
    """Whether a printed rate is the share of a whole number, with two places."""
    return abs(share(nearest_count(rate, category), category) - rate) < 0.005 + 1e-9


def printed_rates(model: str) -> dict[str, float]:
    """A row of the table, by category."""
    return dict(zip(ITEMS, PRINTED[model][1:], strict=True))


def test_58_of_65_printed_rates_are_a_count_over_their_items() -> None:
    told = [is_a_count(rate, category) for model in PRINTED for category, rate in printed_rates(model).items()]
    assert (sum(told), len(told)) == (58, 65)


def test_the_printed_overall_rate_is_the_unweighted_mean_of_five() -> None:
    same = [name for name, row in PRINTED.items() if abs(sum(row[1:]) / 5 - row[0]) < 0.01]  # all six are rounded
    assert len(same) == 10, same


def questions() -> Iterator[str]:
    """One line for each item of the paper."""
    for category, items in ITEMS.items():
        for number in range(items):
            yield json.dumps(
                {
                    "id": f"{category}-{number}",
                    "form": "free",
                    "level": "open",
                    "question": f"What does topic {number} of {category} need?",
                    "truth": {"answers": [f"It needs remedy {number}."]},
                    "checklist": {"core": [f"names remedy {number}"]},
                    "kind": [category, "one part"],
                    "provenance": {"source": "written for a test"},
                    "data_class": "public",
                }
            )


def spread(draw: random.Random, usable: int, category: str) -> list[str]:
    """The markings of each item as bits, `usable` of them set, in an order drawn by seed."""
    times = markings(category)
    bits = ["1"] * usable + ["0"] * (ITEMS[category] * times - usable)
    draw.shuffle(bits)
    return ["".join(bits[start : start + times]) for start in range(0, len(bits), times)]


@pytest.mark.long
@pytest.mark.parametrize("model", PRINTED)
def test_a_printed_row_comes_out_of_as_many_planted_markings(shell: Shell, tmp_path: Path, model: str) -> None:
    draw, replies, people = random.Random(model), list[str](), ["episode,usable"]
    counts = {category: nearest_count(rate, category) for category, rate in printed_rates(model).items()}
    for category, count in counts.items():
        for number, bits in enumerate(spread(draw, count, category)):
            case = f"{category}-{number}"
            by_people = category == "generation"
            people += [f"{case}@1,{'yes' if bits == '1' else 'no'}"] if by_people else []
            shown = "111" if by_people else bits  # the judges call every generated text usable; people count
            replies.append(json.dumps({"case_id": case, "replies": [f"Answer {shown} to {case}."]}))
    for name, lines in (("open.jsonl", questions()), ("replies.jsonl", replies), ("people.csv", people)):
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    run = ["r", "--store", tmp_path / "s.db"]
    played = ["--scenario", "questions", "--cases", tmp_path / "open.jsonl", "--name", *run]
    assert shell("run", *played, "--doctor", f"replies:{tmp_path / 'replies.jsonl'}") == 0, shell.err
    judged = ["--evaluators", "checklist", "--judge", "planted:Judge", "--judge-repeats", planted.TIMES]
    assert shell("score", *run, *judged) == 0, shell.err
    table = shell.json("checklists", "show", *run, "--people", tmp_path / "people.csv")
    rows = {row["group"]: row for row in table["categories"]}
    assert {name: (rows[name]["usable"], rows[name]["markings"]) for name in ITEMS} == {
        name: (counts[name], ITEMS[name] * markings(name)) for name in ITEMS
    }
    for name, rate in printed_rates(model).items():
        assert rows[name]["source"] == ("people" if name == "generation" else "judges")
        if is_a_count(rate, name):
            assert 100 * rows[name]["rate"] == pytest.approx(rate, abs=0.005 + 1e-9)
    assert table["overall"] == pytest.approx(sum(row["rate"] for row in rows.values()) / 5)
