"""A second list of blind pairs, drawn after the rules were frozen that were mended on half of the first.

`python -m benchmarks.blind_pairs_2 draw DATA > tests/data/blind_pairs_2.csv` drew the list, `write DATA` prints the
pairs with their texts as CSV (row, truth, answer) for readers who see nothing else. No pair of the first list is
drawn, and no truth that was open when the rules were mended: of names and of cases only those in the half 'held' of
`half`. The kinds are those of `benchmarks/blind_pairs.py`, but:

- `answer`: an answer of gemini2-ft or qwq to a held case of MedR-Bench that is none of the 574 (51 cases);
- `statement`: the diagnosis as the summary of a case's own article words it, of a case that no stored reply answers
  (stored answers to new truths there are no more);
- `other`: an answer of one of three models to another case, against the label of a case that no reply answers.
"""

import hashlib
import json
import random
from collections.abc import Iterable, Mapping
from pathlib import Path

from rapidfuzz import fuzz, process

from benchmarks import blind_pairs as first
from wardround.scenarios.parsers.reply_text import final_answer
from wardround.scenarios.terms.wording import key

SEED = 31
MODELS = ("deepseek-r1", "gemini2-ft", "qwq")
ANSWERS, OTHERS, NAMES, TITLES, OPTIONS = 158, 72, 25, 20, 25
LIST = first.LIST.with_name("blind_pairs_2.csv")


def half(name: str) -> str:
    """'tune' if rows with this truth were open while the rules were mended, 'held' if not; by a hash."""
    return ("held", "tune")[hashlib.sha256(f"match-2026-11-24:{key(name)}".encode()).digest()[0] % 2]


def draw(data: Path) -> first.Rows:
    """(id, kind, where the truth is, where the answer is) of 300 pairs in an order by seed."""
    seeded = random.Random(SEED)
    labels, replies = first.read_labels(data), read_replies(data)
    before = {(row["kind"], row["truth"].partition("#")[0]) for row in first.rows()}
    answered = {case for model in MODELS for case in replies[model]} | read_judged(data)
    held = [case for case in sorted(replies["qwq"]) if half(labels[case]) == "held" and case not in read_judged(data)]
    rows = []
    for case in held:
        said = {key(replies[MODELS[0]].get(case, ""))}  # the first list has this answer
        for model in MODELS[1:]:
            if replies[model].get(case) and key(replies[model][case]) not in said:
                said.add(key(replies[model][case]))
                rows.append(("answer", case, f"{model}:{case}"))
    unanswered = sorted(case for case in read_statements(data) if case not in answered and half(labels[case]) == "held")
    rows += [("statement", case, case) for case in seeded.sample(unanswered, ANSWERS - len(rows))]
    for case in seeded.sample(unanswered, OTHERS):
        near = process.extract(
            labels[case], {k: labels[k] for k in sorted(replies["qwq"])}, scorer=fuzz.token_set_ratio, limit=3
        )
        source = seeded.choice([key for _, _, key in near])
        model = seeded.choice([model for model in MODELS if replies[model].get(source)])
        rows.append(("other", case, f"{model}:{source}"))
    synonyms = first.read_synonyms(data)
    docs = [doc for doc, names in sorted(synonyms.items()) if len(names) > 1 and half(names[0]) == "held"]
    for doc in seeded.sample([doc for doc in docs if ("name", doc) not in before], NAMES):
        rows.append(("name", f"{doc}#0", f"{doc}#{seeded.randrange(1, len(synonyms[doc]))}"))
    titles = first.read_titles(data)
    new = [disease for place, disease in enumerate(sorted(titles)) if ("title", str(place)) not in before]
    rows += first.title_rows(titles, new, TITLES, seeded)
    options = first.read_options(data)
    for question in seeded.sample([one for one in sorted(options) if ("option", one) not in before], OPTIONS):
        right, letters = options[question][1], sorted(options[question][0])
        wrong = seeded.choice([letter for letter in letters if letter != right])
        rows.append(("option", f"{question}#{right}", f"{question}#{wrong}"))
    seeded.shuffle(rows)
    for number, row in enumerate(rows, 1):
        yield f"c{number:03d}", *row


def texts(data: Path) -> dict[str, tuple[str, str]]:
    """Id -> (truth, answer) of the pairs on the list."""
    return texts_of(data, rows())


def texts_of(data: Path, listed: Iterable[Mapping[str, str]]) -> dict[str, tuple[str, str]]:
    """Id -> (truth, answer) of the rows of a list with the kinds of this one."""
    labels, replies, statements = first.read_labels(data), read_replies(data), read_statements(data)
    pair_of_names = first.names(data)
    pairs: dict[str, tuple[str, str]] = {}
    for row in listed:
        match row["kind"]:
            case "answer" | "other":
                model, _, source = row["answer"].partition(":")
                pair = labels[row["truth"]], replies[model][source]
            case "statement":
                pair = labels[row["truth"]], statements[row["answer"]]
            case kind:
                pair = pair_of_names(kind, row["truth"], row["answer"])
        pairs[row["id"]] = pair
    return pairs


def rows() -> list[dict[str, str]]:
    """The rows of the list."""
    return first.rows(LIST)


def read_replies(data: Path) -> Mapping[str, Mapping[str, str]]:
    """Model -> case -> its answer."""
    held: dict[str, dict[str, str]] = {}
    for model in MODELS:
        path = data / first.REPLIES.replace(MODELS[0], model)
        read = json.loads(path.read_text(encoding="utf-8"))
        held[model] = {case: final_answer(reply["results"]["content"]) for case, reply in read.items()}
    return held


def read_judged(data: Path) -> set[str]:
    """The cases of the 574 stored answers."""
    path = data / "medrbench" / "results" / "oracle_diagnosis__deepseek-r1__accuracy_judge_gpt.json"
    return set(json.loads(path.read_text(encoding="utf-8")))


def read_statements(data: Path) -> dict[str, str]:
    """Case -> the diagnosis as the summary of its article words it."""
    cases = json.loads((data / "medrbench" / "diagnosis_cases.json").read_text(encoding="utf-8"))
    stated = {case: (held.get("generate_case") or {}).get("final_diagnosis") for case, held in cases.items()}
    return {case: text for case, text in stated.items() if text}


if __name__ == "__main__":
    first.print_list(draw, texts)
