"""Seeded errors over sentences of real articles are caught, and what the article says is not refused."""

import gzip
import json
import random
import re
from collections import Counter
from pathlib import Path

import pytest
from seeded_errors import KINDS, with_error

from wardround.scenarios.reports.article import Article, article_sentences
from wardround.scenarios.reports.article_files import title_and_sections
from wardround.scenarios.reports.checks import invented
from wardround.scenarios.reports.faithful import article_sex, named_in_article, unfaithful

TEXT = (
    "A 41-year-old man presented with pain of the left knee for 12 days. He denied fever, chills or night sweats. "
    "The left knee was swollen. The right hand was normal. White cells were 7.2 x 10^9/L; a rash was absent."
)


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("A 41-year-old woman presented with pain of the left knee.", "sex"),
        ("Pain of the right knee for 12 days.", "side"),
        ("He reported fever, chills and night sweats.", "negation"),
        ("The left knee was not swollen.", "negation"),
        ("White cells were 41 x 10^9/L; a rash was absent.", "number"),
    ],
)
def test_what_the_article_contradicts_is_named_by_its_kind(said: str, kind: str) -> None:
    assert kind in {one.kind for one in unfaithful(f"- History of Present Illness: {said}", TEXT)}


@pytest.mark.parametrize(
    "said",
    [
        "Man of 41 years with left knee pain for 12 days.",
        "No fever or chills.",
        "Denied night sweats.",
        "Swollen left knee; white cells 7.2 x 10^9/L.",
        "Rash: absent.",
    ],
)
def test_what_the_article_says_in_other_words_stays(said: str) -> None:
    assert unfaithful(f"- History of Present Illness: {said}", TEXT) == ()


def test_the_sex_of_two_patients_is_nobodys() -> None:
    assert article_sex("A 30-year-old woman and a 40-year-old man came.") == ""
    assert article_sex(TEXT) == "male"


@pytest.mark.parametrize(
    ("answer", "named"),
    [("Gout", True), ("Sporotrichosis", False), ("Septic arthritis", False), ("Gouty arthritis", True)],
)
def test_a_short_wrong_diagnosis_is_not_named(answer: str, named: bool) -> None:
    text = f"{TEXT} Septic arthritis was considered. The crystals confirmed gouty arthritis, so gout was diagnosed."
    assert named_in_article(answer, "A painful knee", text) is named


@pytest.mark.shared
def test_errors_seeded_in_sentences_of_articles_are_caught(shared: Path) -> None:
    folder = shared / "data" / "medrbench"
    published = json.loads((folder / "diagnosis_cases.json").read_text(encoding="utf-8"))
    answers = [entry["generate_case"]["diagnosis_results"] for entry in published.values()]
    caught: Counter[bool] = Counter()
    refused: Counter[bool] = Counter()
    with gzip.open(folder / "raw_case_reports_40.jsonl.gz", "rt", encoding="utf-8") as stream:
        for record in sorted(map(json.loads, stream), key=lambda record: str(record["id"]))[::4]:
            title, sections = title_and_sections(record["raw_case"])
            article = Article(id=record["id"], title=title, sections=sections)
            told = [part.text for part in sections if re.search("(?i)case|presentation|patient", part.heading)]
            sentences = [one for one in article_sentences("\n".join(told)) if 40 < len(one) < 400]
            entry = published.get(record["id"])
            answer = entry["generate_case"]["diagnosis_results"] if entry else ""
            for place, kind in enumerate(KINDS):
                draw = random.Random(f"{article.id}{place}")
                at = draw.randrange(max(1, len(sentences) - 8))
                summary = "- History of Present Illness: " + " ".join(sentences[at : at + 8])
                before = set(unfaithful(summary, article.text))
                refused[bool(before)] += 1
                changed = (
                    None if kind == "diagnosis" and not answer else with_error(kind, summary, answer, answers, draw)
                )
                if changed is None or changed == (summary, answer):
                    continue
                found = set(unfaithful(changed[0], article.text)) - before
                numbers = set(invented(changed[0], article.text)) - set(invented(summary, article.text))
                wrong = kind == "diagnosis" and not named_in_article(changed[1], title, article.text)
                caught[bool(found or numbers or wrong)] += 1
    assert refused[True] <= 0.05 * refused.total()
    assert caught[True] >= 0.95 * caught.total()
