"""The page of two scorings of one run side by side: how far they agree, and the episodes in which they differ."""

from wardround.evaluators.measures import measure_of, shown
from wardround.evaluators.reasons import phrase
from wardround.evaluators.showing.environment import environment, style
from wardround.evaluators.side_by_side import Pairing, SideBySide


def scorings_page(run: str, found: SideBySide) -> str:
    """The page. Nothing is loaded and nothing is run.

    Of an episode it shows the id and the values, so that no text of a case stands in it.
    """
    return (
        environment()
        .get_template("scorings.html.j2")
        .render(
            style=style("report.css"),
            run=run,
            found=found,
            verdicts=[one for one in found.scores if one.kind == "verdict"],
            unequal=[one for one in found.scores if one.kind == "figure" and differs(one)],
            equal=[one for one in found.scores if one.kind == "figure" and not differs(one)],
            label=lambda name: measure_of(name).label,
            kappa=kappa,
            value=value,
        )
    )


def differs(one: Pairing) -> bool:
    """Whether any episode has another value in one scoring than in the other."""
    return one.equal < one.n or bool(one.first_only or one.second_only)


def kappa(one: Pairing) -> str:
    """Cohen's kappa with its interval; a dash where chance alone would make them agree always."""
    if one.kappa is None:
        return "–"
    ends = f" ({one.kappa_ci95[0]:.2f} to {one.kappa_ci95[1]:.2f})" if one.kappa_ci95 else ""
    return f"{one.kappa:.2f}{ends}".replace("-", "−")


def value(name: str, given: float | None, reason: str) -> str:
    """A value with its reason in words."""
    why = phrase(reason)
    return f"none ({why})" if given is None else shown(name, given, one=True) + (f" ({why})" if why else "")
