"""Pairs of a truth and an answer that no rule was tuned on: where each comes from, not its text.

`python -m benchmarks.blind_pairs draw DATA > tests/data/blind_pairs.csv` drew the list before the rules that are
measured on it; DATA is the folder of the shared data sets. `python -m benchmarks.blind_pairs write DATA` prints the
pairs with their texts as CSV (row, truth, answer) for readers who see nothing else. The list also holds what
two readers said (1: the answer names the truth's disease), and `same`, settled where they differ. The kinds are:

- `answer`: the answer of DeepSeek-R1 to a case of MedR-Bench (158 of 160 replies, none of them among the 574 of
  `benchmarks/paraphrases.py`);
- `other`: such an answer to another case, one of the three whose labels are most alike;
- `name`: a disease of MedQuAD and one of its other names;
- `title`: a disease of MultiCogEval and an ICD title that it lists, or one that it lists for a similar disease;
- `option`: the right diagnosis of a MedQA question and one of the wrong options.
"""

import csv
import gzip
import json
import random
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from rapidfuzz import fuzz, process

from wardround.scenarios.case import Case
from wardround.scenarios.loaders.load import load
from wardround.scenarios.parsers.reply_text import final_answer

SEED = 26
NAMES, TITLES, OPTIONS, COUNT = 25, 20, 25, 300
REPLIES = "medrbench/results/oracle_diagnosis__deepseek-r1__replies_and_judged_steps.json"
LIST = Path(__file__).resolve().parents[1] / "tests" / "data" / "blind_pairs.csv"
_OPTION = re.compile(r"(?:^|\t)([A-E]): ")


Rows = Iterator[tuple[str, str, str, str]]
"""(id, kind, where the truth is, where the answer is) of each pair."""


def print_list(draw: Callable[[Path], Rows], texts: Callable[[Path], Mapping[str, tuple[str, str]]]) -> None:
    """Draw a list, or write the texts of the pairs on it, as the command line asks."""
    what, data = sys.argv[1], Path(sys.argv[2])
    out = csv.writer(sys.stdout, lineterminator="\n")
    if what == "draw":
        out.writerow(("id", "kind", "truth", "answer"))
        out.writerows(draw(data))
    else:
        out.writerow(("row", "truth", "answer"))
        out.writerows((number, *(" ".join(text.split()) for text in pair)) for number, pair in texts(data).items())


def draw(data: Path) -> Rows:
    """(id, kind, where the truth is, where the answer is) of 300 pairs in an order by seed."""
    seeded = random.Random(SEED)
    labels, replies = read_labels(data), _replies(data)
    rows = [("answer", case, case) for case in sorted(replies)]
    for case in seeded.sample(sorted(replies), COUNT - len(rows) - NAMES - TITLES - OPTIONS):
        near = process.extract(
            labels[case], {k: labels[k] for k in sorted(replies) if k != case}, scorer=fuzz.token_set_ratio, limit=3
        )
        rows.append(("other", case, seeded.choice([key for _, _, key in near])))
    synonyms = read_synonyms(data)
    for doc in seeded.sample(sorted(doc for doc, names in synonyms.items() if len(names) > 1), NAMES):
        rows.append(("name", f"{doc}#0", f"{doc}#{seeded.randrange(1, len(synonyms[doc]))}"))
    titles = read_titles(data)
    rows += title_rows(titles, sorted(titles), TITLES, seeded)
    options = read_options(data)
    for question in seeded.sample(sorted(options), OPTIONS):
        right, letters = options[question][1], sorted(options[question][0])
        rows.append(
            ("option", f"{question}#{right}", f"{question}#{seeded.choice([x for x in letters if x != right])}")
        )
    seeded.shuffle(rows)
    for number, row in enumerate(rows, 1):
        yield f"b{number:03d}", *row


def texts(data: Path) -> dict[str, tuple[str, str]]:
    """Id -> (truth, answer) of the pairs on the list."""
    labels, replies, pair_of_names = read_labels(data), _replies(data), names(data)
    pairs: dict[str, tuple[str, str]] = {}
    for row in rows():
        if row["kind"] in ("answer", "other"):
            pairs[row["id"]] = labels[row["truth"]], replies[row["answer"]]
        else:
            pairs[row["id"]] = pair_of_names(row["kind"], row["truth"], row["answer"])
    return pairs


def names(data: Path) -> Callable[[str, str, str], tuple[str, str]]:
    """What gives (truth, answer) of a row of names: of its kind, where the truth is, where the answer is."""
    synonyms, titles, options = read_synonyms(data), read_titles(data), read_options(data)
    diseases = sorted(titles)

    def pair(kind: str, truth: str, answer: str) -> tuple[str, str]:
        head, _, place = answer.partition("#")
        match kind:
            case "name":
                return synonyms[head][0], synonyms[head][int(place)]
            case "title":
                return diseases[int(truth)], titles[diseases[int(head)]][int(place)]
            case _:
                return options[head][0][truth.partition("#")[2]], options[head][0][place]

    return pair


def title_rows(
    titles: Mapping[str, Sequence[str]], among: Sequence[str], count: int, seeded: random.Random
) -> Iterator[tuple[str, str, str]]:
    """Diseases drawn from `among`, each with one of its own titles, and every second with one of a similar disease."""
    diseases = sorted(titles)
    for turn, disease in enumerate(seeded.sample(among, count)):
        alike = process.extract(disease, sorted(set(titles) - {disease}), scorer=fuzz.token_set_ratio, limit=3)
        source = seeded.choice([name for name, _, _ in alike]) if turn % 2 else disease
        place = seeded.randrange(len(titles[source]))
        yield "title", str(diseases.index(disease)), f"{diseases.index(source)}#{place}"


def rows(path: Path = LIST) -> list[dict[str, str]]:
    """The rows of a list."""
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def read_labels(data: Path) -> dict[str, str]:
    """Case of MedR-Bench -> its label."""
    cases = load(data / "medrbench" / "diagnosis_cases.json")
    return {case.id: case.truth.diagnosis for case in cases if isinstance(case, Case)}


def _replies(data: Path) -> dict[str, str]:
    replies = json.loads((data / REPLIES).read_text(encoding="utf-8"))
    answers = {case: final_answer(reply["results"]["content"]) for case, reply in replies.items()}
    return {case: answer for case, answer in answers.items() if answer}


def read_synonyms(data: Path) -> dict[str, Sequence[str]]:
    """Document of MedQuAD on a disease -> the disease and its other names."""
    names: dict[str, Sequence[str]] = {}
    with gzip.open(data / "medquad" / "medquad_answered.jsonl.gz", "rt", encoding="utf-8") as file:
        for row in map(json.loads, file):
            if "T047" in str(row["semantic_type"]):
                names.setdefault(row["doc"], (row["focus"], *row["synonyms"]))
    return names


def read_titles(data: Path) -> dict[str, list[str]]:
    """Disease of MultiCogEval -> the titles of ICD that it lists."""
    path = data / "multicogeval" / "mimic-iv" / "new_disease_to_icd_names.json"
    diseases: dict[str, list[str]] = json.loads(path.read_text(encoding="utf-8"))
    return {name: listed for name, listed in diseases.items() if listed}


def read_options(data: Path) -> dict[str, tuple[dict[str, str], str]]:
    """Questions that ask for the most likely diagnosis: their options, and the letter of the right one."""
    asked = json.loads((data / "multicogeval" / "medqa" / "MCQ.test.json").read_text(encoding="utf-8"))
    found: dict[str, tuple[dict[str, str], str]] = {}
    for number, text, right in asked:
        question, _, listed = text.rpartition("Options: ")
        if "most likely diagnosis" in question:
            pieces = _OPTION.split(listed)[1:]
            options = dict(zip(pieces[::2], pieces[1::2], strict=True))
            found[str(number)] = ({letter: option.strip() for letter, option in options.items()}, right)
    return found


if __name__ == "__main__":
    print_list(draw, texts)
