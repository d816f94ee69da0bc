"""Which articles are worth asking a model about: named rules, each switchable and counted."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

from wardround.scenarios.reports.article import Article
from wardround.scenarios.reports.options import Options
from wardround.scenarios.reports.prose import english

_REPORT = ("case-report", "case report", "case study", "case series", "casereport", "case-study")


@dataclass(frozen=True, slots=True)
class Filter:
    """`keeps` says whether an article goes on."""

    name: str
    what: str
    keeps: Callable[[Article], bool]


READING = (("readable", "the file or line can be read"), ("unique", "it was not read before"))
"""Rules of the reading itself: what they drop never becomes an article, so they cannot be switched off."""


def filters(options: Options) -> Sequence[Filter]:
    """The rules that are switched on, in their order."""
    after, most = options.published_after, options.max_characters
    found = [
        Filter("article_type", "it is filed as a case report, where its type is stated", _report),
        Filter("body", "it has a text beside title and abstract", lambda article: bool(article.sections)),
        Filter("language", "it is in English", _in_english),
        Filter("length", f"it has at most {most:,} characters", lambda article: len(article.text) <= most),
    ]
    if after is not None:
        what = f"it was published after {after}; undated counts as before"
        found.insert(1, Filter("published_after", what, lambda article: (article.published or date.min) > after))
    return [rule for rule in found if rule.name not in options.without]


def _report(article: Article) -> bool:
    kind = article.kind.lower()
    return not kind or any(name in kind for name in _REPORT)


def _in_english(article: Article) -> bool:
    return article.language in ("", "en") and english(article.body or article.abstract or article.title)
