"""A third list of blind pairs, drawn after the rules were frozen that were mended on half of the second.

`python -m benchmarks.blind_pairs_3 draw DATA > tests/data/blind_pairs_3.csv` drew the list, `write DATA` prints the
pairs with their texts as CSV (row, truth, answer) for readers who see nothing else. No truth of a former list is on it,
nor one of the 574 or 320 stored answers; the names of MedQuAD are of the half that stayed closed (`half`). The kinds
are those of `benchmarks/blind_pairs_2.py` without `answer`: no stored answer to a further case is left.

- `statement`: all 94 cases that no stored reply answers and no list has;
- `other`: an answer of a model to another case, against the label of each of these cases;
- `name`, `title`, `option`: 65 further names of MedQuAD, 30 titles of ICD, the 17 further options of MedQA.
"""

import csv
import random
from pathlib import Path

from rapidfuzz import fuzz, process

from benchmarks import blind_pairs as first
from benchmarks import blind_pairs_2 as second
from wardround.scenarios.terms.wording import key

SEED = 47
NAMES, TITLES = 65, 30
LIST = first.LIST.with_name("blind_pairs_3.csv")
LABELS = first.LIST.with_name("answer_labels.csv")


def former(data: Path) -> set[str]:
    """The truths of the former lists and of all labelled or judged answers, in comparable form."""
    labels = first.read_labels(data)
    with LABELS.open(encoding="utf-8") as file:
        cases = {row["case"] for row in csv.DictReader(file)} | second.read_judged(data)
    pairs = (*first.texts(data).values(), *second.texts(data).values())
    return {key(truth) for truth, _ in pairs} | {key(labels[case]) for case in cases}


def draw(data: Path) -> first.Rows:
    """(id, kind, where the truth is, where the answer is) of the pairs in an order by seed."""
    seeded, known = random.Random(SEED), former(data)
    labels, replies, statements = first.read_labels(data), second.read_replies(data), second.read_statements(data)
    answered = {case for model in second.MODELS for case in replies[model]} | second.read_judged(data)
    cases = sorted(case for case in statements if case not in answered and key(labels[case]) not in known)
    rows = [("statement", case, case) for case in cases]
    for case in cases:
        near = process.extract(
            labels[case], {k: labels[k] for k in sorted(replies["qwq"])}, scorer=fuzz.token_set_ratio, limit=3
        )
        source = seeded.choice([other for _, _, other in near])
        model = seeded.choice([model for model in second.MODELS if replies[model].get(source)])
        rows.append(("other", case, f"{model}:{source}"))
    synonyms = first.read_synonyms(data)
    docs = [doc for doc, names in sorted(synonyms.items()) if len(names) > 1 and key(names[0]) not in known]
    for doc in seeded.sample([doc for doc in docs if second.half(synonyms[doc][0]) == "held"], NAMES):
        rows.append(("name", f"{doc}#0", f"{doc}#{seeded.randrange(1, len(synonyms[doc]))}"))
    titles = first.read_titles(data)
    rows += first.title_rows(titles, [name for name in sorted(titles) if key(name) not in known], TITLES, seeded)
    for question, (options, right) in sorted(first.read_options(data).items()):
        if key(options[right]) not in known:
            wrong = seeded.choice([letter for letter in sorted(options) if letter != right])
            rows.append(("option", f"{question}#{right}", f"{question}#{wrong}"))
    seeded.shuffle(rows)
    for number, row in enumerate(rows, 1):
        yield f"d{number:03d}", *row


def texts(data: Path) -> dict[str, tuple[str, str]]:
    """Id -> (truth, answer) of the pairs on the list."""
    return second.texts_of(data, rows())


def rows() -> list[dict[str, str]]:
    """The rows of the list."""
    return first.rows(LIST)


if __name__ == "__main__":
    first.print_list(draw, texts)
