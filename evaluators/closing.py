"""Whether a doctor concluded before it had seen what decides the case."""

from wardround.engine.records import Score
from wardround.engine.trajectory import Trajectory
from wardround.evaluators.reasoning.turns import asks, replies
from wardround.evaluators.requests import requests
from wardround.evaluators.standing import answers, missed, unscored
from wardround.scenarios.case import Case, items, stands

NAMES = ("premature_closing", "deciding_seen")


def closing_scores(case: Case, trajectory: Trajectory) -> list[Score]:
    """`premature_closing`: 1 if the answer came before all of the case's `truth.deciding` findings were seen, else 0.

    `deciding_seen` is the share of them that was. A finding was seen if its words stand in what the doctor had read or
    been told before its answer, or in a field of the record that an answer cites. None with a reason:
    `no_deciding_findings` where the case names none, `not_ordered_here` where everything is told at once, `no_answer`
    where nothing was concluded, and that of an episode that has no score.
    """
    reason = unscored(trajectory.ending)
    if not reason and not asks(trajectory):
        reason = "not_ordered_here"
    if not reason and not case.truth.deciding:
        reason = "no_deciding_findings"
    if not reason and (missed(trajectory.ending) or not answers(trajectory.ending)):
        reason = missed(trajectory.ending) or "no_answer"
    found = [] if reason else replies(case, trajectory, as_seen=True)
    if reason or not found:
        return [Score(name, None, reason or "no_replies") for name in NAMES]
    seen = (found[-1].known, *_cited(case, trajectory))
    share = sum(stands(finding, seen) for finding in case.truth.deciding) / len(case.truth.deciding)
    evidence = (found[-1].seq,)
    return [Score("premature_closing", float(share < 1), "", evidence), Score("deciding_seen", share, "", evidence)]


def _cited(case: Case, trajectory: Trajectory) -> list[str]:
    """What the record says where an answer cites it: a patient's or an examiner's own words may differ."""
    refs = {ref for request in requests(trajectory) or () for ref in request.refs}
    return [item.text for item in items(case) if item.ref in refs]
