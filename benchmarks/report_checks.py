"""Counts the seeded errors that the checks of curated cases catch, and the faithful cases that they refuse.

`python -m benchmarks.report_checks check` reads `tests/data/report_articles/check.txt`, `development` the half that
the rules were written on, `check2` and the like the halves whose cases and errors were written out by hand. `published
FOLDER` reads MedR-Bench's 40 articles with the cases that GPT-4o made of them.
"""

import argparse
import gzip
import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.report_cases import FOLDER, case_draft, faithful_case, handed_in, written
from benchmarks.report_errors import KINDS, with_error
from wardround.engine.records import Json
from wardround.evaluators.report.intervals import wilson
from wardround.scenarios.reports.article import Article, CurationOptions
from wardround.scenarios.reports.article_files import title_and_sections
from wardround.scenarios.reports.case_summary import CaseDraft, Drop, item_sentences
from wardround.scenarios.reports.checks import checks, open_points
from wardround.scenarios.reports.finding_evidence import aligned_sentences, article_index
from wardround.scenarios.reports.reply_parsers import SUMMARY

CASES_OF_AN_ARTICLE = 10
HAND_WRITTEN = (*(f"check{number}" for number in range(2, 13)), "extra1", "extra2")
"""Halves whose cases and errors were written out by hand, each but the last two by an author of its own."""
OPTIONS = CurationOptions()


@dataclass
class Trial:
    """A faithful case, and each error seeded in it as (kind, form, summary, answer)."""

    article: Article
    summary: str
    answer: str
    errors: Sequence[tuple[str, str, str, str]] = ()


@dataclass
class Account:
    """What the checks did: `caught` counts by (kind, whether), `missed` and `refused` hold the words."""

    cases: int = 0
    refused: list[str] = field(default_factory=list)
    flagged: int = 0
    sentences: int = 0
    caught: Counter[tuple[str, bool]] = field(default_factory=Counter)
    missed: list[str] = field(default_factory=list)


def objections(draft: CaseDraft) -> dict[tuple[str, str], str]:
    """Return everything that the rules object to in a case, as (rule, words) with the reason."""
    said: dict[tuple[str, str], str] = {}
    for check in checks(OPTIONS):
        after = check.apply(draft)
        if isinstance(after, Drop):
            said.update({(check.name, words): after.why for words in after.evidence or (after.why,)})
        else:
            draft = after
    return said


def measured(trials: Iterator[Trial]) -> Account:
    """Run the checks; an error is caught if the rules object to something that they let pass in the faithful case."""
    account = Account()
    for trial in trials:
        draft = case_draft(trial.article, trial.summary, trial.answer)
        before = objections(draft)
        account.cases += 1
        account.flagged += len(open_points(draft, OPTIONS.support))
        account.sentences += len(list(item_sentences(draft.sections[SUMMARY])))
        account.refused += [f"{trial.article.id}: {why}" for why in dict.fromkeys(before.values())][:1]
        for kind, form, summary, answer in trial.errors:
            caught = bool(objections(case_draft(trial.article, summary, answer)).keys() - before.keys())
            account.caught[kind, caught] += 1
            if not caught:
                place = next((at for at, both in enumerate(zip(summary, trial.summary, strict=False))
                              if both[0] != both[1]), 0)  # fmt: skip
                words = answer if kind == "diagnosis" else summary[max(0, place - 60) : place + 60]
                account.missed.append(f"{trial.article.id}, {kind} ({form}): {words!r}")
    return account


def written_trials(name: str) -> Iterator[Trial]:
    """Yield ten faithful cases of each article of a file, with two errors of each kind in them."""
    for one in written(name):
        article = one.article()
        for number in range(CASES_OF_AN_ARTICLE):
            summary, answer = faithful_case(one, random.Random(f"{one.id} case {number}"))
            kind = KINDS[number % len(KINDS)]
            draw = random.Random(f"{one.id} error {number}")
            error = with_error(kind, summary, answer, one.wrong, draw)
            if error is None:  # a text without a word of sex or side
                summary_error = with_error("number", summary, answer, one.wrong, draw)
                kind, error = "number", summary_error
            errors = [(kind, error[2], error[0], error[1])] if error else []
            yield Trial(article, summary, answer, errors)


def hand_written_trials(name: str, *, cited: bool = False) -> Iterator[Trial]:
    """Yield the faithful cases of a folder with their errors; both were written out by hand.

    With `cited` each statement cites sentences of the article: those that its author named, or else those that fit the
    faithful case's statement best, in place of a curator's.
    """
    articles = {one.id: one.article() for one in written(f"{name}/articles")}
    rows = [json.loads(line) for line in (FOLDER / name / "cases.jsonl").read_text(encoding="utf-8").splitlines()]
    numbers = {row["case"]: _citations(row, articles[row["article"]]) if cited else None for row in rows}
    errors: dict[str, list[tuple[str, str, str, str]]] = {}
    for line in (FOLDER / name / "errors.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        form = f"{row['before']} -> {row['after']}"
        summary, answer = _handed_in(row["case"], numbers[row["base"]])
        errors.setdefault(row["base"], []).append((row["kind"], form, summary, answer))
    for row in rows:
        yield Trial(articles[row["article"]], *_handed_in(row, numbers[row["case"]]), errors.get(row["case"], ()))


_Cited = Mapping[str, Sequence[Sequence[int]]]


def _handed_in(case: Mapping[str, Json], cited: _Cited | None) -> tuple[str, str]:
    """Return (summary, answer) as a model writes them."""
    answer = f"{case['diagnosis']} {list(cited[''][0])}" if cited and cited[""][0] else case["diagnosis"]
    return handed_in(case["sections"], cited), answer


def _citations(case: Mapping[str, Json], article: Article) -> _Cited:
    """Return the numbers of the sentences behind each statement by item, and under '' those behind the diagnosis."""
    sentences = article_index(article).sentences
    if "cited" not in case:
        sought = {
            item: [aligned_sentences(statement, article) for statement in statements]
            for item, statements in case["sections"].items()
        }
        return {**sought, "": [()]}
    named: Mapping[str, Sequence[Sequence[str]]] = {**case["cited"], "": [case["diagnosis_cited"]]}
    return {
        item: [
            [at for at, one in enumerate(sentences, 1) if any(one in written for written in behind)]
            for behind in statements
        ]
        for item, statements in named.items()
    }


def published_trials(folder: Path) -> Iterator[Trial]:
    """Yield GPT-4o's cases of MedR-Bench's 40 articles, with four errors of each kind."""
    cases = json.loads((folder / "diagnosis_cases.json").read_text(encoding="utf-8"))
    answers = [entry["generate_case"]["diagnosis_results"] for entry in cases.values()]
    with gzip.open(folder / "raw_case_reports_40.jsonl.gz", "rt", encoding="utf-8") as stream:
        records = sorted(map(json.loads, stream), key=lambda record: str(record["id"]))
    for record in records:
        title, sections = title_and_sections(record["raw_case"])
        article = Article(id=record["id"], title=title, sections=sections)
        made = cases[record["id"]]["generate_case"]
        errors = []
        for kind in KINDS:
            for number in range(4):
                draw = random.Random(f"{article.id}{kind}{number}")
                error = with_error(kind, made["case_summary"], made["diagnosis_results"], answers, draw)
                errors += [(kind, error[2], error[0], error[1])] if error else []
        yield Trial(article, made["case_summary"], made["diagnosis_results"], errors)


def report(account: Account, *, words: bool) -> str:
    """Return the figures with Wilson's intervals; with `words` also what was refused and missed."""
    lines = []
    for kind in KINDS:
        caught, missed = account.caught[kind, True], account.caught[kind, False]
        lines.append(f"{kind:10} {caught:4} of {caught + missed:4} caught")
    caught = sum(count for (_, was), count in account.caught.items() if was)
    shares = (
        ("errors caught", caught, account.caught.total()),
        ("faithful cases refused", len(account.refused), account.cases),
        ("their sentences flagged for a person", account.flagged, account.sentences),
    )
    for what, part, whole in shares:
        bounds = wilson(part, whole)
        between = f" (95 % interval {bounds[0]:.3f} to {bounds[1]:.3f})" if bounds else ""
        lines.append(f"{what}: {part} of {whole} = {part / max(whole, 1):.3f}{between}")
    if words:
        lines += ["", *(f"refused {one}" for one in account.refused), *(f"missed {one}" for one in account.missed)]
    return "\n".join(lines)


def main() -> None:
    """Print the figures of a half."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("half", choices=("check", *HAND_WRITTEN, "development", "published"))
    parser.add_argument("folder", nargs="?", type=Path, help="MedR-Bench's folder, for published")
    parser.add_argument("--cited", action="store_true", help="each statement cites its sentences (check2 to check12)")
    parser.add_argument("--words", action="store_true", help="also what was refused and missed")
    options = parser.parse_args()
    if options.half == "published" and options.folder is None:
        parser.error("published needs MedR-Bench's folder")
    if options.half == "published":
        trials = published_trials(options.folder)
    elif options.half in HAND_WRITTEN:
        trials = hand_written_trials(options.half, cited=options.cited)
    else:
        trials = written_trials(options.half)
    print(report(measured(trials), words=options.words))


if __name__ == "__main__":
    main()
