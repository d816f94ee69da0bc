"""Measure how discharge notes are read: `python -m benchmarks.ward_reading HALF [--show]`.

| HALF | notes | pairs of sentences |
|---|---|---|
| a, b | those in half of the sixty styles of `styles.txt` | those of half of the diseases of `diseases.toml` |
| later | sixty, in the thirty styles of `styles_2.txt` | the sixty of `leaks_2.csv` |
| last | thirty, in the fifteen styles of `styles_3.txt` | - |
| fourth | sixty, in the thirty styles of `styles_4.txt` | - |
| fifth | 48, in the 24 styles of `styles_5.txt` | - |
| blind | a stranger's sixty, in the thirty styles of `styles_6.txt` | the sixty of `leaks_4.csv` |
| second | another stranger's forty, in the twenty styles of `styles_7.txt` | the forty of `leaks_5.csv` |
| third, pairs, latest, sixth | - | the sixty of `leaks_6.csv`, `leaks_7.csv`, `leaks_8.csv`, `leaks_9.csv` |
| own, own_second, own_third | - | 102, 100, 61 by the author of the rules, of `leaks_own.csv`, `_2`, `_3` |
| own_fourth, own_fifth, own_sixth | - | 60 each, by the next author of the rules, of `leaks_own_4.csv`, `_5`, `_6` |
| own_seventh | - | 30 by the same, whose faults are not corrected, of `leaks_own_7.csv` |

The last forty or so pairs of the first two own files are about diseases that the other sets do not have; the last four
own files are about 210 diseases of every field.

`benchmarks/ward_notes.py` makes the notes and sentences. They are put into a small tree of MIMIC-IV's shape, from which
`wardround cases build mimic` builds cases; only the rules that leave an admission out on purpose are switched off.
"""

import argparse
import csv
import random
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from benchmarks.mimic_tree import TABLES, Row, Rows
from benchmarks.ward_notes import DATA, Disease, WardNote, compose, diseases, halves, layouts, ward_notes
from wardround.builds import build_mimic
from wardround.scenarios.case import Case, Provenance, Truth
from wardround.scenarios.diseases.giveaway import revealed
from wardround.scenarios.loaders.census import named_truths
from wardround.scenarios.loaders.load import load
from wardround.scenarios.mimic.headings import MARK
from wardround.scenarios.mimic.mimic_files import MimicOptions
from wardround.scenarios.mimic.note import examination_parts, first_item, note
from wardround.scenarios.terms.wording import key

FIRST = 20_000_000
LATER = {
    "later": "styles_2.txt",
    "last": "styles_3.txt",
    "fourth": "styles_4.txt",
    "fifth": "styles_5.txt",
    "blind": "styles_6.txt",
    "second": "styles_7.txt",
}
"""Files of styles that were written before the parser was run on them; two notes are made in each style."""
PAIRS = {
    "later": "leaks_2.csv",
    "blind": "leaks_4.csv",
    "second": "leaks_5.csv",
    "third": "leaks_6.csv",
    "pairs": "leaks_7.csv",
    "latest": "leaks_8.csv",
    "sixth": "leaks_9.csv",
    "own": "leaks_own.csv",
    "own_second": "leaks_own_2.csv",
    "own_third": "leaks_own_3.csv",
    "own_fourth": "leaks_own_4.csv",
    "own_fifth": "leaks_own_5.csv",
    "own_sixth": "leaks_own_6.csv",
    "own_seventh": "leaks_own_7.csv",
}
"""Files of pairs of sentences: one that gives the disease away, and a harmless one built like it."""
UNNAMED = {
    "Peptic ulcer bleed": "Gastric ulcer|Peptic ulcer|Upper GI bleed|UGIB",
    "Hepatic encephalopathy": "HE",
    "Bacterial meningitis": "Meningitis",
    "Pyelonephritis": "UTI|Urinary tract infection",
    "Diverticulitis": "",
}
"""Synonyms for the measured pool that Wardround's own list does not add."""


def fault(written: WardNote) -> str:
    """Return what the reading of a note got wrong: 'dropped', 'wrong diagnosis', 'history', 'examination', or ''."""
    read = note(written.text)
    item = first_item(read.primary)
    if not _bare(item) or not read.get("present").strip("_ \n"):
        return "dropped"
    if not any(_tells(said, form) for said in (item, item.split(",")[0]) for form in written.principal):
        return "wrong diagnosis"
    if _words(read.get("present")) != _words(written.history):
        return "history"
    body = " ".join(f"{name} {text}" for name, text in examination_parts(read.get("examination")))
    wanted = set(_words(written.exam))
    got = set(_words(body))
    if wanted - got or any(_words(part)[-1] in got - wanted for part in written.elsewhere):
        return "examination"
    return ""


def _tells(item: str, form: str) -> bool:
    """Whether an item is a form of the diagnosis, or this form up to its cause."""
    return bool(re.fullmatch(rf"{re.escape(_bare(item))}(?: (?:with|from|due to) .*)?", _bare(form)))


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _bare(text: str) -> str:
    return " ".join(_words(re.sub(r"\(primary\)|,? status post .*", "", text, flags=re.IGNORECASE)))


def built(notes: Sequence[WardNote], folder: Path) -> dict[int, Case]:
    """Return the cases that a build makes of notes, by the place of their note."""
    tree = folder / "mimic"
    _write_tree(tree, notes)
    pool = folder / "pool.csv"
    with pool.open("w", newline="") as lines:
        rows = csv.writer(lines)
        rows.writerow(("name", "synonyms", "icd10"))
        for disease in diseases():
            rows.writerow((disease.name, UNNAMED.get(disease.name, ""), disease.icd if disease.name in UNNAMED else ""))
    options = MimicOptions(
        mimic=tree, pool=str(pool), min_per_disease=1, per_disease=10_000, without=("history_leak", "one_disease")
    )
    out = folder / "cases.jsonl"
    build_mimic(options, out)
    return {int(case.id.removeprefix("mimic-")) - FIRST: case for case in load(out) if isinstance(case, Case)}


def _write_tree(root: Path, notes: Sequence[WardNote]) -> None:
    tables: dict[str, list[Row]] = {name: [] for name in TABLES}
    tables["d_labitems"].append((50912, "Creatinine", "Blood", "Chemistry"))
    for disease in diseases():
        tables["d_icd_diagnoses"].append((disease.icd, 10, disease.name))
    for place, one in enumerate(notes):
        for table, row in _rows(place, one):
            tables[table].append(row)
    for name, (below, columns) in TABLES.items():
        path = root / below / f"{name}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream).writerows([columns, *tables[name]])


def _rows(place: int, one: WardNote) -> Rows:
    subject, hadm, came, left = 10_000_000 + place, FIRST + place, "2150-01-01 08:00:00", "2150-01-05 08:00:00"
    yield "admissions", (subject, hadm, came, left, "", "EW EMER.", *[""] * 10)
    yield "patients", (subject, one.sex, one.age, 2150, "2011 - 2013", "")
    yield "diagnoses_icd", (subject, hadm, 1, one.disease.icd, 10)
    yield "labevents", (place, subject, hadm, 1, 50912, "", came, came, "0.9", 0.9, "mg/dL", 0.4, 1.1, "", "", "")
    yield "discharge", (f"{subject}-DS-1", subject, hadm, "DS", 1, left, left, one.text)
    yield "radiology", (f"{subject}-RR-2", subject, hadm, "RR", 2, came, came, one.report)
    yield "radiology_detail", (f"{subject}-RR-2", subject, "exam_name", one.report_title, 1)


def case_faults(written: WardNote, case: Case | None) -> Iterator[str]:
    """Yield what is wrong with the case of a note; without a case it is 'dropped'."""
    if case is None:
        yield "dropped"
        return
    if key(case.truth.diagnosis) != key(written.disease.name):
        yield "wrong diagnosis"
    opening = " ".join(_words(case.opening))
    exam = " ".join(word for part in case.examination for word in _words(f"{part.section} {part.text}"))
    for sentence in written.disease.history:
        if " ".join(_words(sentence)) not in opening:
            yield "history"
            break
    if any(" ".join(_words(part)) in f"{opening} {exam}" for part in written.elsewhere):
        yield "text of another section"
    if any(" ".join(_words(line)) not in exam for line in written.exam.splitlines()[1:]):
        yield "examination"
    said = [case.opening, case.complaint, *(part.text for part in case.examination)]
    if any(_named(word, text) for word in written.disease.words for text in said):
        yield "names the disease"
    reports = " ".join(study.report for study in case.imaging)
    if " ".join(_words(written.report_findings)) not in " ".join(_words(reports.replace(MARK, ""))):
        yield "report without findings"
    if "most consistent" in reports:
        yield "report with impression"


def _named(word: str, text: str) -> bool:
    if word.isupper():
        return bool(re.search(rf"\b{word}\b", text))
    return bool(re.search(rf"\b{re.escape(word)}", text, re.IGNORECASE))


def sentence_notes(chosen: Iterable[Disease]) -> list[tuple[WardNote, bool, str]]:
    """Return (note with the sentence, whether it gives the disease away, sentence); notes are in the plainest style."""
    notes = []
    layout = layouts("styles.txt")["classic"]
    for disease in chosen:
        for gives, listed in ((True, disease.gives), (False, disease.harmless)):
            for _, sentence in listed:
                chance = random.Random(sentence)
                notes.append((compose("classic", disease, disease, chance, layout, sentence), gives, sentence))
    return notes


def flagged(case: Case, sentence: str) -> bool:
    """Whether a build blanked words of a sentence, or `cases check` flags words that are left."""
    if " ".join(sentence.split()) not in " ".join(case.opening.split()):
        return True
    left = [words for _, words, _ in ((name, hit.words, hit.relation) for name, hit in revealed(case))]
    return any(words in sentence for words in [*left, *(phrase for _, _, phrase in named_truths(case))])


def sentence_pairs(name: str = "leaks_2.csv") -> list[tuple[str, bool, str]]:
    """Return (disease, whether the sentence gives it away, sentence) for both sentences of each line of a file."""
    with (DATA / name).open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    return [(row["disease"], gives, row["gives" if gives else "harmless"]) for row in rows for gives in (True, False)]


def checked(disease: str, sentence: str) -> bool:
    """Whether `cases check` flags a sentence in the opening of a case of a disease."""
    case = Case(
        id="one", opening=sentence, truth=Truth(diagnosis=disease), provenance=Provenance(source="here"),
        data_class="public",
    )  # fmt: skip
    return bool(revealed(case) or named_truths(case))


def main() -> None:
    """Measure one half and print the counts; `--show` names each note and sentence with a fault."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("half", choices=("a", "b", *(LATER | PAIRS)))
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    if options.half in LATER | PAIRS:
        styles_file = LATER.get(options.half)
        notes, sentences = ward_notes(styles_file, 2) if styles_file else [], []
    else:
        place = "ab".index(options.half)
        styles, names = halves("styles")[place], halves("diseases")[place]
        notes = [one for one in ward_notes() if one.style in styles]
        sentences = sentence_notes(disease for disease in diseases() if disease.name in names)
    styles = list(dict.fromkeys(one.style for one in notes))
    read = [(one, fault(one)) for one in notes]
    with tempfile.TemporaryDirectory() as folder:
        asked = [*notes, *(one for one, _, _ in sentences)]
        cases = built(asked, Path(folder)) if asked else {}
    made = [(one, what) for at, one in enumerate(notes) for what in case_faults(one, cases.get(at))]
    caught = [
        (listed, gives, flagged(cases[at], listed) if at in cases else None)
        for at, (_, gives, listed) in enumerate(sentences, len(notes))
    ]
    if options.half in PAIRS:
        pairs = sentence_pairs(PAIRS[options.half])
        caught = [(listed, gives, checked(disease, listed)) for disease, gives, listed in pairs]
    print(f"{len(notes)} notes in {len(styles)} styles, read: {dict(Counter(what for _, what in read if what))}")
    print(f"built: {dict(Counter(what for _, what in made))}")
    for gives in (True, False):
        answers = [flag for _, kind, flag in caught if kind is gives]
        counts = f"{answers.count(True)} of {len(answers)} flagged, {answers.count(None)} lost"
        print(f"{'leaks' if gives else 'harmless'}: {counts}")
    if options.show:
        for one, what in sorted(((f"{one.style}: {one.principal[0]}", what) for one, what in read if what)):
            print(f"read {what}: {one}")
        for one, what in sorted(((f"{one.style}: {one.principal[0]}", what) for one, what in made)):
            print(f"built {what}: {one}")
        for listed, gives, flag in caught:
            if flag is not gives:
                print(f"{'missed' if gives else 'false'}: {listed}")


if __name__ == "__main__":
    main()
