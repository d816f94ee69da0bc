"""Lists of pairs of a truth and an answer on which no rule was tuned. A list says where its texts are, not the texts.

`python -m benchmarks.blind_pairs draw LIST DATA > tests/data/blind_pairs.csv` drew list 1, before the rules that are
measured on it were written; DATA is the folder of the shared data sets. The rules were then changed on one half of list
1 and frozen before list 2 was drawn, and in the same way before list 3. No truth that was open while the rules were
changed is on a later list.

`python -m benchmarks.blind_pairs write LIST DATA` prints the pairs with their texts as CSV (row, truth, answer), for
readers who see nothing else. A list also has what two readers said (1: the answer names the disease of the truth) and
`same`, which settles the pairs on which they differ. The kinds of pairs are:

- `answer`: the answer of a model to a case of MedR-Bench. List 1 has those of DeepSeek-R1 (158 of 160 replies, none of
  them among the 574 of `benchmarks/paraphrases.py`), list 2 those of gemini2-ft and qwq to 51 cases that stayed closed;
- `statement`: the diagnosis in the words of the summary of a case's article, for a case that no stored reply answers;
- `other`: such an answer to another case, one of the three with the most similar labels;
- `name`: a disease of MedQuAD and one of its other names;
- `title`: a disease of MultiCogEval and an ICD title that it lists for it or for a similar disease;
- `option`: the right diagnosis of a MedQA question and one of the wrong options.
"""

import csv
import gzip
import hashlib
import json
import random
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rapidfuzz import fuzz, process

from wardround.scenarios.case import Case
from wardround.scenarios.loaders.load import load
from wardround.scenarios.parsers.reply_text import final_answer
from wardround.scenarios.terms.wording import key

MODELS = ("deepseek-r1", "gemini2-ft", "qwq")
FOLDER = Path(__file__).resolve().parents[1] / "tests" / "data"
_OPTION = re.compile(r"(?:^|\t)([A-E]): ")

Row = tuple[str, str, str]
"""(kind, where the truth is, where the answer is) of a pair."""


@dataclass(frozen=True)
class PairList:
    """One list: its file, the first letter of its ids, and the seed and function that draw its pairs from the data."""

    file: str
    letter: str
    seed: int
    pairs: Callable[["Data", random.Random], list[Row]]

    def rows(self) -> list[dict[str, str]]:
        """The rows of the stored list."""
        with (FOLDER / self.file).open(encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def draw(self, data: "Data") -> Iterator[tuple[str, str, str, str]]:
        """(id, kind, where the truth is, where the answer is) of each pair, in an order by seed."""
        seeded = random.Random(self.seed)
        pairs = self.pairs(data, seeded)
        seeded.shuffle(pairs)
        for number, pair in enumerate(pairs, 1):
            yield f"{self.letter}{number:03d}", *pair

    def texts(self, data: "Data") -> dict[str, tuple[str, str]]:
        """Id -> (truth, answer) of the pairs on the list."""
        return {row["id"]: data.pair(row["kind"], row["truth"], row["answer"]) for row in self.rows()}


class Data:
    """The data from which pairs are drawn, read from the folder of the shared data sets."""

    def __init__(self, folder: Path) -> None:
        medr = folder / "medrbench"
        cases = load(medr / "diagnosis_cases.json")
        self.labels = {case.id: case.truth.diagnosis for case in cases if isinstance(case, Case)}
        stored = {model: _read(medr / "results" / f"oracle_diagnosis__{model}__{_REPLIES}") for model in MODELS}
        self.replies = {
            model: {case: final_answer(reply["results"]["content"]) for case, reply in replies.items()}
            for model, replies in stored.items()
        }
        self.judged = set(_read(medr / "results" / f"oracle_diagnosis__{MODELS[0]}__accuracy_judge_gpt.json"))
        stated = {
            case: (fields.get("generate_case") or {}).get("final_diagnosis")
            for case, fields in _read(medr / "diagnosis_cases.json").items()
        }
        self.statements = {case: text for case, text in stated.items() if text}
        self.synonyms = _synonyms(folder / "medquad" / "medquad_answered.jsonl.gz")
        titles = folder / "multicogeval" / "mimic-iv" / "new_disease_to_icd_names.json"
        listed: dict[str, list[str]] = json.loads(titles.read_text(encoding="utf-8"))
        self.titles = {disease: own for disease, own in listed.items() if own}
        self.options = _options(folder / "multicogeval" / "medqa" / "MCQ.test.json")

    @property
    def unanswered(self) -> list[str]:
        """The cases that state the diagnosis and that no stored reply answers."""
        answered = {case for replies in self.replies.values() for case in replies} | self.judged
        return sorted(case for case in self.statements if case not in answered)

    def pair(self, kind: str, truth: str, answer: str) -> tuple[str, str]:
        """(truth, answer) of a row."""
        head, _, place = answer.partition("#")
        diseases = sorted(self.titles)
        match kind:
            case "answer" | "other":
                model, _, source = answer.rpartition(":")
                return self.labels[truth], self.replies[model or MODELS[0]][source]
            case "statement":
                return self.labels[truth], self.statements[answer]
            case "name":
                return self.synonyms[head][0], self.synonyms[head][int(place)]
            case "title":
                return diseases[int(truth)], self.titles[diseases[int(head)]][int(place)]
            case _:
                return self.options[head][0][truth.partition("#")[2]], self.options[head][0][place]


_REPLIES = "replies_and_judged_steps.json"


def _read(path: Path) -> dict[str, dict[str, dict[str, str]]]:
    read: dict[str, dict[str, dict[str, str]]] = json.loads(path.read_text(encoding="utf-8"))
    return read


def _synonyms(path: Path) -> dict[str, Sequence[str]]:
    """Id of a document of MedQuAD on a disease -> the disease and its other names."""
    names: dict[str, Sequence[str]] = {}
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for row in map(json.loads, file):
            if "T047" in str(row["semantic_type"]):
                names.setdefault(row["doc"], (row["focus"], *row["synonyms"]))
    return names


def _options(path: Path) -> dict[str, tuple[dict[str, str], str]]:
    """Questions that ask for the most likely diagnosis: their options, and the letter of the right one."""
    questions: dict[str, tuple[dict[str, str], str]] = {}
    for number, text, right in json.loads(path.read_text(encoding="utf-8")):
        question, _, listed = text.rpartition("Options: ")
        if "most likely diagnosis" in question:
            pieces = _OPTION.split(listed)[1:]
            options = dict(zip(pieces[::2], pieces[1::2], strict=True))
            questions[str(number)] = ({letter: option.strip() for letter, option in options.items()}, right)
    return questions


def half(name: str) -> str:
    """'tune' if rows with this truth were open while the rules were changed, else 'held'; a hash decides."""
    return ("held", "tune")[hashlib.sha256(f"match-2026-11-24:{key(name)}".encode()).digest()[0] % 2]


def _first(data: Data, seeded: random.Random) -> list[Row]:
    replies = {case: answer for case, answer in data.replies[MODELS[0]].items() if answer}
    pairs = [("answer", case, case) for case in sorted(replies)]
    for case in seeded.sample(sorted(replies), 230 - len(pairs)):
        near = _alike(data.labels[case], {k: data.labels[k] for k in sorted(replies) if k != case})
        pairs.append(("other", case, seeded.choice(near)))
    names = sorted(doc for doc, names in data.synonyms.items() if len(names) > 1)
    pairs += _names(data, names, 25, seeded)
    pairs += _titles(data, sorted(data.titles), 20, seeded)
    return [*pairs, *_wrong_options(data, seeded.sample(sorted(data.options), 25), seeded)]


def _second(data: Data, seeded: random.Random) -> list[Row]:
    before = {(row["kind"], row["truth"].partition("#")[0]) for row in LISTS["1"].rows()}
    pairs: list[Row] = []
    for case in sorted(data.replies["qwq"]):
        if half(data.labels[case]) != "held" or case in data.judged:
            continue
        said = {key(data.replies[MODELS[0]].get(case, ""))}  # list 1 has this answer
        for model in MODELS[1:]:
            answer = data.replies[model].get(case, "")
            if answer and key(answer) not in said:
                said.add(key(answer))
                pairs.append(("answer", case, f"{model}:{case}"))
    closed = [case for case in data.unanswered if half(data.labels[case]) == "held"]
    pairs += [("statement", case, case) for case in seeded.sample(closed, 158 - len(pairs))]
    pairs += _others(data, seeded.sample(closed, 72), seeded)
    names = [doc for doc, names in sorted(data.synonyms.items()) if len(names) > 1 and half(names[0]) == "held"]
    pairs += _names(data, [doc for doc in names if ("name", doc) not in before], 25, seeded)
    titles = [disease for place, disease in enumerate(sorted(data.titles)) if ("title", str(place)) not in before]
    pairs += _titles(data, titles, 20, seeded)
    options = [question for question in sorted(data.options) if ("option", question) not in before]
    return [*pairs, *_wrong_options(data, seeded.sample(options, 25), seeded)]


def _third(data: Data, seeded: random.Random) -> list[Row]:
    known = truths_read_before(data)
    cases = [case for case in data.unanswered if key(data.labels[case]) not in known]
    pairs = [("statement", case, case) for case in cases]
    pairs += _others(data, cases, seeded)
    names = [doc for doc, names in sorted(data.synonyms.items()) if len(names) > 1 and key(names[0]) not in known]
    pairs += _names(data, [doc for doc in names if half(data.synonyms[doc][0]) == "held"], 65, seeded)
    pairs += _titles(data, [name for name in sorted(data.titles) if key(name) not in known], 30, seeded)
    options = [number for number, (listed, right) in sorted(data.options.items()) if key(listed[right]) not in known]
    return [*pairs, *_wrong_options(data, options, seeded)]


def truths_read_before(data: Data) -> set[str]:
    """Return the truths of the lists before the third and of all labelled or judged answers, in comparable form."""
    with (FOLDER / "answer_labels.csv").open(encoding="utf-8") as file:
        cases = {row["case"] for row in csv.DictReader(file)} | data.judged
    pairs = (*LISTS["1"].texts(data).values(), *LISTS["2"].texts(data).values())
    return {key(truth) for truth, _ in pairs} | {key(data.labels[case]) for case in cases}


def _alike(label: str, labels: Mapping[str, str]) -> list[str]:
    """The keys of the three labels that are most similar to a label."""
    return [name for _, _, name in process.extract(label, labels, scorer=fuzz.token_set_ratio, limit=3)]


def _others(data: Data, cases: Iterable[str], seeded: random.Random) -> Iterator[Row]:
    for case in cases:
        near = _alike(data.labels[case], {other: data.labels[other] for other in sorted(data.replies["qwq"])})
        source = seeded.choice(near)
        model = seeded.choice([model for model in MODELS if data.replies[model].get(source)])
        yield "other", case, f"{model}:{source}"


def _names(data: Data, among: Sequence[str], count: int, seeded: random.Random) -> Iterator[Row]:
    for doc in seeded.sample(among, count):
        yield "name", f"{doc}#0", f"{doc}#{seeded.randrange(1, len(data.synonyms[doc]))}"


def _titles(data: Data, among: Sequence[str], count: int, seeded: random.Random) -> Iterator[Row]:
    """Diseases drawn from `among`: in turn one with a title of its own, and one with a title of a similar disease."""
    diseases = sorted(data.titles)
    for turn, disease in enumerate(seeded.sample(among, count)):
        others = sorted(set(diseases) - {disease})
        alike = [name for name, _, _ in process.extract(disease, others, scorer=fuzz.token_set_ratio, limit=3)]
        source = seeded.choice(alike) if turn % 2 else disease
        place = seeded.randrange(len(data.titles[source]))
        yield "title", str(diseases.index(disease)), f"{diseases.index(source)}#{place}"


def _wrong_options(data: Data, questions: Iterable[str], seeded: random.Random) -> Iterator[Row]:
    for question in questions:
        options, right = data.options[question]
        wrong = seeded.choice([letter for letter in sorted(options) if letter != right])
        yield "option", f"{question}#{right}", f"{question}#{wrong}"


LISTS = {
    "1": PairList("blind_pairs.csv", "b", 26, _first),
    "2": PairList("blind_pairs_2.csv", "c", 31, _second),
    "3": PairList("blind_pairs_3.csv", "d", 47, _third),
}


def main() -> None:
    """Draw a list, or write the texts of the pairs on it, as the command line asks."""
    what, listed, data = sys.argv[1], LISTS[sys.argv[2]], Data(Path(sys.argv[3]))
    out = csv.writer(sys.stdout, lineterminator="\n")
    if what == "draw":
        out.writerow(("id", "kind", "truth", "answer"))
        out.writerows(listed.draw(data))
    else:
        out.writerow(("row", "truth", "answer"))
        out.writerows((name, *(" ".join(text.split()) for text in pair)) for name, pair in listed.texts(data).items())


if __name__ == "__main__":
    main()
