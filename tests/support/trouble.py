"""What can go wrong with an endpoint, and how an episode must come out of it: the matrix of docs/reliability.md."""

from dataclasses import dataclass

from wardround.testing.wire import Fault

SCENARIOS = ("workup", "one-turn", "free-turn", "oracle", "treatment", "consultation")
PLACES = {
    "doctor": SCENARIOS,
    "patient": ("one-turn", "free-turn", "consultation"),
    "judge": SCENARIOS,
}
"""The scenarios in which a model can sit in each role."""

ALONE = ("oracle", "treatment")
"""The scenarios of one reply: there is nothing yet that a summary could shorten."""


@dataclass(frozen=True)
class Trouble:
    """One way to fail; `kind` is that of its ProviderError, empty where an answer comes back.

    `passing`: a call made again can get through. `starts`: the cheap call before a run lets the run begin. `down`:
    nothing listens, and no request is ever seen.
    """

    name: str
    fault: Fault
    kind: str = ""
    passing: bool = False
    starts: bool = False
    down: bool = False


TROUBLES = (
    Trouble("429 with Retry-After", Fault("rate_limit", retry_after=0.02), "rate_limit", True, True),
    Trouble("429 without it", Fault("rate_limit"), "rate_limit", True, True),
    Trouble("429, Retry-After beyond the patience", Fault("rate_limit", retry_after=1), "rate_limit", starts=True),
    Trouble("429, quota or credit used up", Fault("quota"), "quota"),
    Trouble("500", Fault("server_error"), "server", True),
    Trouble("nothing listens", Fault("reset"), "connection", True, down=True),
    Trouble("connection reset", Fault("reset"), "connection", True),
    Trouble("stall", Fault("stall"), "timeout", True),
    Trouble("reply broken off in the middle", Fault("truncated"), "connection", True),
    Trouble("malformed JSON", Fault("malformed"), "malformed", True),
    Trouble("a web page", Fault("web_page"), "malformed", True),
    Trouble("no choice in the reply", Fault("no_choices"), "empty", True, True),
    Trouble("empty text", Fault("empty"), starts=True),
    Trouble("refusal by the model", Fault("refusal"), "refusal", starts=True),
    Trouble("refusal by a content filter", Fault("filtered"), "refused", starts=True),
    Trouble("context overflow", Fault("context_overflow"), "context_overflow", starts=True),
    Trouble("wrong model name", Fault("unknown_model"), "unknown_model"),
    Trouble("expired key", Fault("expired_key"), "auth"),
    Trouble("redirect", Fault("redirect", location="https://example.org/v1"), "bad_request"),
)

REPAIRED = {"empty": "once, as a repair", "refusal": "by the doctor once, as a repair"}
"""What is asked for once more by the agent, not by the model layer."""

SILENT = {"doctor": "doctor/no_answer", "patient": "patient/no_answer", "judge": "judge_unreadable/empty"}
"""What an empty text comes to when the one repair is empty too."""


def outcome(trouble: Trouble, role: str, scenario: str, *, lasting: bool) -> str:
    """How a spoiled episode ends: `completed` or CAUSE/REASON; for a judge `scored`, or why there is no score."""
    well = "scored" if role == "judge" else "completed"
    if trouble.fault.kind == "empty":
        return SILENT[role] if lasting else well
    if trouble.fault.kind == "context_overflow" and role == "doctor" and scenario not in ALONE and not lasting:
        return well
    if trouble.fault.kind == "refusal" and role != "judge":
        return f"{role}/refusal" if lasting or role != "doctor" else well
    if trouble.passing and not lasting:
        return well
    return f"{'judge' if role == 'judge' else 'provider'}/{trouble.kind}"


def table() -> str:
    """The matrix in Markdown."""
    heads = ["what goes wrong", "tried again"]
    for way in ("it passes", "it lasts"):
        heads += [f"{way}: doctor", "patient", "judge"]
    lines = [[*heads, "before the run"], ["---"] * (len(heads) + 1)]
    for trouble in TROUBLES:
        again = REPAIRED.get(trouble.fault.kind) or ("yes" if trouble.passing else "no")
        cells = [_cell(trouble, role, lasting=lasting) for lasting in (False, True) for role in PLACES]
        lines.append([trouble.name, again, *cells, "starts" if trouble.starts else "does not start"])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _cell(trouble: Trouble, role: str, *, lasting: bool) -> str:
    """Every outcome over the scenarios of the role."""
    found = dict.fromkeys(outcome(trouble, role, scenario, lasting=lasting) for scenario in PLACES[role])
    return " or ".join(name if name in ("completed", "scored") else f"`{name}`" for name in found)
