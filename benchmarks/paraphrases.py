"""Lists models' stored answers that two judges call right although they name the truth in other words.

`python -m benchmarks.paraphrases DIR > tests/scenarios/diseases/paraphrases.csv` wrote the list before any rule was
written. DIR is MedR-Bench's folder; the list names the answers and does not hold their text. It has every answer in
which the truth's head noun stands nowhere (`none`), and as many answers whose own head noun is another one (`other`),
drawn by seed, as make 200 together. The half `tune` was read while the rules were written, the half `held` was not.

`python -m benchmarks.paraphrases DIR --readers` compares two readers and the rules on the list. The readers' labels lie
in `tests/scenarios/diseases/paraphrase_labels.csv`: yes (the answer commits to the truth's disease), no, or doubtful;
`same` is the label that they agreed on. Neither reader had seen the other's labels or a verdict of the rules.
"""

import ast
import csv
import hashlib
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from wardround.scenarios.answers.diagnosis import compare
from wardround.scenarios.case import Case, Truth
from wardround.scenarios.encounters.staged import read_staged
from wardround.scenarios.loaders.load import load
from wardround.scenarios.parsers.moves import Conclusion
from wardround.scenarios.terms.wording import roots

MODELS = ("deepseek-r1", "o3-mini", "qwen3-14b-thinking")
SEED, COUNT = 13, 200
_TAIL = re.compile(
    r"[,;(\[/]|\b(?:with|due to|secondary to|caused by|associated with|involving|of|in|from|and|following|after)\b",
    re.I,
)


LABELS = Path(__file__).resolve().parents[1] / "tests" / "scenarios" / "diseases" / "paraphrase_labels.csv"
READINGS = ("yes", "doubtful", "no")


@dataclass(frozen=True, slots=True)
class Readings:
    """How two readers and the rules read the list.

    `counts` counts the answers by (first reader's label, second reader's). `kappa` is Cohen's, over the three labels.
    `accepted` holds for each agreed label how many of its answers the rules accept, and how many there are; `both`
    holds the same for the answers that both readers call yes.
    """

    counts: Mapping[tuple[str, str], int]
    kappa: float
    accepted: Mapping[str, tuple[int, int]]
    both: tuple[int, int]


def read_labels(folder: Path) -> Readings:
    """Count the labels of both readers and the verdicts of the rules; `folder` is MedR-Bench's."""
    with LABELS.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    texts = {(case, model): (label, answer) for case, model, label, answer in accepted(folder)}
    right = [
        compare(said, Truth(diagnosis=truth)).match for truth, said in (texts[r["case"], r["model"]] for r in rows)
    ]
    counts = Counter((row["first"], row["second"]) for row in rows)
    agreed = sum(counts[label, label] for label in READINGS) / len(rows)
    chance = (
        sum(
            sum(counts[label, other] for other in READINGS) * sum(counts[other, label] for other in READINGS)
            for label in READINGS
        )
        / len(rows) ** 2
    )
    shares = {
        label: [is_right for row, is_right in zip(rows, right, strict=True) if row["same"] == label]
        for label in READINGS
    }
    both = [is_right for row, is_right in zip(rows, right, strict=True) if row["first"] == row["second"] == "yes"]
    return Readings(
        counts,
        (agreed - chance) / (1 - chance),
        {label: (sum(verdicts), len(verdicts)) for label, verdicts in shares.items()},
        (sum(both), len(both)),
    )


def main() -> None:
    """Print the list as CSV, or with `--readers` how the readers and the rules read it."""
    if "--readers" in sys.argv:
        read = read_labels(Path(sys.argv[1]))
        for (first, second), count in sorted(read.counts.items()):
            print(f"first {first}, second {second}: {count}")
        print(f"kappa {read.kappa:.2f}; both say yes, the rules accept: {read.both[0]} of {read.both[1]}")
        for label, (right, count) in read.accepted.items():
            print(f"agreed {label}, the rules accept: {right} of {count}")
        return
    strict, loose = [], []
    for case, model, label, answer in accepted(Path(sys.argv[1])):
        if noun(label) not in roots(answer):
            strict.append((case, model, "none", half(case)))
        elif noun(label) != noun(answer):
            loose.append((case, model, "other", half(case)))
    drawn = random.Random(SEED).sample(sorted(loose), min(len(loose), max(0, COUNT - len(strict))))
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(("case", "model", "words", "half"))
    out.writerows(sorted(strict) + sorted(drawn))


def accepted(folder: Path) -> Iterator[tuple[str, str, str, str]]:
    """Yield (case, model, label, answer) for each stored answer that both judges call right."""
    truths = {case.id: case.truth.diagnosis for case in load(folder / "diagnosis_cases.json") if isinstance(case, Case)}
    for model in MODELS:
        at = folder / "results" / f"oracle_diagnosis__{model}__accuracy_judge_"
        gpt, gemma = (json.loads(Path(f"{at}{judge}.json").read_text(encoding="utf-8")) for judge in ("gpt", "gemma"))
        for case, stored in gpt.items():
            results = stored["results"]
            reply = (ast.literal_eval(results) if isinstance(results, str) else results)["content"] or ""
            move = read_staged(reply, last=True)
            right = str(stored["accuracy"]) == "True" == str(gemma[case]["accuracy"])
            if right and isinstance(move, Conclusion):
                yield case, model, truths[case], move.text


def noun(text: str) -> str:
    """Return the last word of a name's head, which ends before 'with', 'of', a comma or a bracket."""
    parts = [roots(part) for part in _TAIL.split(text.strip().split("\n")[0])]
    heads = [words for words in parts if words]
    return heads[0][-1] if heads else ""


def half(case: str) -> str:
    """Return 'tune' or 'held', by a hash of the case's id."""
    return ("tune", "held")[hashlib.sha256(case.encode()).digest()[0] % 2]


if __name__ == "__main__":
    main()
