"""Writes the list of all episodes of a run with links to their pages, which readers search and sort offline."""

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256

from markupsafe import Markup

from wardround.engine.text import count_noun
from wardround.evaluators.measures import format_value, measure_of
from wardround.evaluators.reasons import ended_by, phrase
from wardround.evaluators.report.rendering import TEMPLATES, environment, style
from wardround.evaluators.report.score_rows import EpisodeScores

MOST = 2_000
"""Most episodes on one page of the list; further ones follow on more pages."""
LONGEST = 160
ACCURACIES = ("diagnosis_accuracy", "treatment_accuracy")


def contents_name(run: str, page: int) -> str:
    """Return the file name of a page of the list; `run` must already be in plain letters (episode_page.page_name)."""
    return f"{run}-episodes.html" if page == 0 else f"{run}-episodes-{page + 1}.html"


def contents_pages(
    run: str, rows: Sequence[EpisodeScores], columns: Sequence[str], links: Mapping[str, str], home: str, plain: str
) -> dict[str, str]:
    """Return the pages of the list by file name.

    `columns` are the scores shown, `links` the addresses of the episodes' pages, and `home` is that of the report.
    `plain` begins the file names. A page runs one short script of ours, which its policy names by hash and which
    searches, filters and sorts its rows; without scripts the page shows the same rows in the run's order. It loads
    nothing. It shows no text of a restricted case.
    """
    # our own file and safe: it takes no values and is the same in every page
    script = (TEMPLATES / "contents.js").read_text(encoding="utf-8")
    allowed = f"sha256-{b64encode(sha256(script.encode()).digest()).decode()}"
    starts = range(0, max(1, len(rows)), MOST)
    places = [
        (contents_name(plain, page), start + 1, min(start + MOST, len(rows))) for page, start in enumerate(starts)
    ]
    return {
        name: (
            environment()
            .get_template("contents.html.j2")
            .render(
                style=style("report.css", "contents.css"),
                script=Markup(script),  # noqa: S704  # our own file
                allowed=allowed,
                run=run,
                rows=rows[first - 1 : last],
                first=first,
                total=len(rows),
                pages=places,
                columns=columns,
                accuracies=ACCURACIES,
                links=links,
                home=home,
                endings=sorted({ended_by(row.cause, row.reason) for row in rows}),
                count_noun=count_noun,
                label=lambda name: measure_of(name).label,
                format_value=format_value,
                phrase=phrase,
                ended_by=ended_by,
                outcome_word=outcome_word,
                one_line=one_line,
            )
        )
        for name, first, last in places
    }


def outcome_word(row: EpisodeScores) -> str:
    """Return `right`, `wrong` or `no value`, by the accuracy."""
    value = next((score.value for score in row.scores if score.name in ACCURACIES), None)
    return "no value" if value is None else "right" if value >= 1 else "wrong"


def one_line(text: str) -> str:
    """Shorten a text to one line of at most 160 characters."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def filled_scores(names: Iterable[str], episodes: Sequence[EpisodeScores]) -> list[str]:
    """Return the scores that one of these episodes has, and the accuracies, whose cells say what is missing."""
    return [name for name in names if name in ACCURACIES or any(row.score(name).value is not None for row in episodes)]
