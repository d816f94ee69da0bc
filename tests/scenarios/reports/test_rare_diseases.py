"""Rare diseases in a text: other names count, words that look like an acronym of one do not."""

import pytest

from wardround.scenarios.diseases.lexical_linker import linker
from wardround.scenarios.reports.article import Article, ArticleSection
from wardround.scenarios.reports.rare_diseases import candidates, rare


def named(text: str) -> list[str]:
    return [concept.name for concept in rare(text, linker())]


@pytest.mark.long
def test_another_name_of_a_rare_disease_counts() -> None:
    assert "Progressive hemifacial atrophy" in named("It was Parry-Romberg syndrome of the left face.")


@pytest.mark.long
def test_an_acronym_in_capitals_is_one() -> None:
    assert named("CHARGE syndrome") == named("CHARGE") != []


@pytest.mark.long
def test_a_plain_word_is_no_syndrome_that_abbreviates_to_it() -> None:
    assert named("An adult with a short child, a young sister, pain in the lumbar spine and a fever of one day.") == []


@pytest.mark.long
def test_an_article_without_a_rare_disease_has_no_candidate() -> None:
    article = Article(
        id="a", title="A cough", sections=(ArticleSection(heading="Case", text="Common cold in an adult."),)
    )
    assert candidates(article, 5) == ()
