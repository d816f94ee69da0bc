"""How far two stored judges agree on the same answers; docs/reasoning.md prints these figures."""

import json
import re
from pathlib import Path

import pytest

from wardround.evaluators.report.agreement import Agreement, agreement

MODELS = {"deepseek-r1": "DeepSeek-R1", "o3-mini": "o3-mini", "qwen3-14b-thinking": "Qwen3-14B with thinking"}
PAGE = Path(__file__).resolve().parents[3] / "docs" / "reasoning.md"


def marked(shared: Path, model: str) -> list[tuple[bool, bool]]:
    """(Gemma's verdict, GPT's verdict) by case."""
    verdicts = []
    for judge in ("gemma", "gpt"):
        path = shared / f"data/medrbench/results/oracle_diagnosis__{model}__accuracy_judge_{judge}.json"
        held = json.loads(path.read_text(encoding="utf-8"))
        verdicts.append({case: str(row["accuracy"]) == "True" for case, row in held.items()})
    assert set(verdicts[0]) == set(verdicts[1])
    return [(verdicts[0][case], verdict) for case, verdict in verdicts[1].items()]


def shown(value: float | None, ends: tuple[float, float] | None) -> str:
    assert value is not None
    assert ends is not None
    return f"{value:.2f} ({ends[0]:.2f} to {ends[1]:.2f})"


def line(name: str, found: Agreement) -> str:
    """A row of the page's table."""
    cells = [
        f"{found.n}, {found.agreed} alike",
        shown(found.kappa, found.kappa_ci95),
        shown(found.ac1, found.ac1_ci95),
        shown(found.sensitivity, found.sensitivity_ci95),
        shown(found.specificity, found.specificity_ci95),
    ]
    return f"| {name} | {' | '.join(cells)} |"


@pytest.mark.shared
def test_the_page_prints_the_agreement_of_the_two_judges(shared: Path) -> None:
    pairs = {name: marked(shared, model) for model, name in MODELS.items()}
    pairs["all three"] = [pair for one in pairs.values() for pair in one]
    wanted = [line(name, agreement(given)) for name, given in pairs.items()]
    printed = re.findall(r"^\| .* alike \| .*\|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert printed == wanted
