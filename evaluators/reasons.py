"""The words that people read for every reason, cause and ending.

JSON and the store keep the code itself (`no_thinking`, `provider/timeout`). To add a reason, add its line to one of
the tables below; a test names every reason that the code uses and the tables lack.
"""

from collections.abc import Mapping, Sequence

from wardround.engine.text import count_noun
from wardround.evaluators.measures import is_house

CAUSES: dict[str, str] = {
    "doctor": "doctor",
    "patient": "patient",
    "examiner": "examiner",
    "curator": "curator",
    "writer": "writer",
    "checker": "checker",
    "parser": "reading of the reply",
    "provider": "endpoint",
    "rules": "rules of the scenario",
    "limit": "limit of the episode",
    "judge": "judge",
    "judge_unreadable": "judge's reply not usable",
    "keywords": "judge's search words not usable",
    "search": "search failed",
    "evaluator": "evaluator",
}
"""The first part of `CAUSE/REASON` in words."""

ANY_SCORE: dict[str, str] = {
    "completed": "completed",
    "open": "still open",
    "doctor": "ended by the doctor",
    "patient": "ended by the patient",
    "examiner": "ended by the examiner",
    "curator": "ended by the curator",
    "writer": "ended by the writer",
    "checker": "ended by the checker",
    "parser": "ended by a reply not understood",
    "provider": "ended by the endpoint",
    "rules": "ended by the rules of the scenario",
    "limit": "ended by a limit",
    "evaluator": "ended by the evaluator",
    "judge": "ended by the judge",
    "no_answer": "no answer",
    "unreadable": "reply not understood",
    "bad_action": "an action that the game does not have",
    "left": "the client left",
    "agent_error": "error in the doctor's code",
    "agent_timeout": "doctor's code too slow",
    "unsendable": "text that cannot be sent",
    "flooded": "more words than another seat can take",
    "limit_actions": "turns used up",
    "limit_calls": "calls used up",
    "limit_act_calls": "calls of one turn used up",
    "limit_tokens": "tokens used up",
    "limit_cost": "money used up",
    "limit_wall": "time used up",
    "refusal": "declined to answer",
    "content_filter": "stopped by a content filter",
    "several_answers": "several answers, none chosen",
    "no_diagnosis_asserted": "no diagnosis asserted",
    "no_treatment_asserted": "no treatment asserted",
    "bad_request": "the request was refused",
    "context_overflow": "conversation too long for the model",
    "too_long": "the reply is too long",
    "no_truth": "the case has no reference answer",
    "no_diagnosis": "the answer is no diagnosis",
    "not_scored": "not scored",
    "mixed_rules": "scored under different rules",
}
"""Reasons that the score of any evaluator can have: how its episode ended, and why the doctor has no answer."""

WORDS: dict[str, str] = ANY_SCORE | {
    # endings
    "replies_exhausted": "recorded replies ended early",
    "bad_answer": "an answer in a wrong form",
    "bad_ending": "an ending in a wrong form",
    "error": "an error in its code",
    "actions": "actions used up",
    "turns": "turns used up",
    "calls": "calls used up",
    "act_calls": "calls of one turn used up",
    "tokens": "tokens used up",
    "cost": "money used up",
    "act": "an act took too long",
    "wall": "time used up",
    "seconds": "time used up",
    "exit": "its code tried to end the program",
    "cancelled": "its code cancelled itself",
    "stopped": "its code stopped the event loop",
    "budget": "budget of the run used up",
    "unattended": "nobody sat at the terminal",
    "operator": "stopped by the operator",
    # shapes of unusable replies
    "only_thinking": "thinking without text after it",
    "tool_call": "a tool call in place of text",
    "dialogue": "words of another seat, made up",
    "not_possible": "a move not possible now",
    "names_nothing": "the right form with nothing in it",
    "bad_arguments": "an action with unusable arguments",
    # breaks of a role
    "plays_other": "spoke for another seat",
    "recites": "recited its instructions",
    "self_as_model": "spoke of itself as a model",
    # answers and replies
    "refused": "refused to answer",
    "too_many_measures": "far more measures than were needed",
    "hedged": "an answer with reservations",
    "template": "an unfilled template",
    "several": "several verdicts in one reply",
    "truncated": "reply cut off",
    "length": "reply cut off",
    "empty_reply": "empty reply",
    "empty": "empty reply",
    # endpoints and searches
    "auth": "the key was refused",
    "unknown_model": "no such model",
    "rate_limit": "too many requests",
    "quota": "the account is used up",
    "server": "an error at the endpoint",
    "timeout": "no reply in time",
    "connection": "could not be reached",
    "malformed": "a reply in a wrong form",
    "too_large": "the page is too large",
    "unsupported": "not a page of text",
    "redirects": "too many redirects",
    "private": "an address that is not public",
    "denied": "a source that is not allowed",
    "leak": "the query held the truth",
    "unrecorded": "not among the recorded searches",
    # log-probabilities
    "no_logprobs": "no log-probabilities",
    "no_option_in_logprobs": "no option among the likeliest",
    "tied_options": "two options equally likely",
    # levels
    "one_side": "rectifications with one of two sides answered",
    # judges
    "half_json": "JSON that breaks off",
    "no_field": "a field is missing",
    "no_steps": "no steps",
    "no_test": "no test named",
    "too_many_steps": "too many steps",
    "not_in_vocabulary": "not one of the allowed words",
    "other_language": "a reply in another language",
    "prose": "prose instead of a verdict",
    "no_reason": "no reason given",
    "no_votes": "no votes",
    "judge_torn": "the judge contradicts itself",
    "contradicted": "judge contradicts the record",
    "judges_divided": "the judges disagree",
    "unresolved": "not resolved",
    "no_keywords": "no search words",
    "hostile": "text that speaks to the judge",
    "unverifiable": "not verifiable",
    "no_search": "no search was given",
    "uncited": "verdict without a quotation",
    "unfit": "the judge failed its controls",
    "judge_unfit": "the judge failed its controls",
    # reasoning
    "no_reference": "no reference reasoning in the case",
    "only_the_answer": "the reference is the answer alone",
    "no_reasoning": "no reasoning in the reply",
    "no_reasoning_step": "no step that claims anything",
    "no_thinking": "no separate thinking part",
    "no_words": "typed action without words",
    "no_heading": "no heading of reasoning",
    "nothing_verified": "no step could be verified",
    "no_such_turn": "the episode ended before this turn",
    "no_deciding_findings": "deciding findings not stated",
    "one_turn": "one turn only",
    "no_deciding": "deciding findings not stated",
    "unseen": "relies on a finding not yet seen",
    # rubrics and checklists
    "no_rubric": "no rubric",
    "no_positive_points": "no positive points",
    "veto": "veto",
    "veto_undecided": "veto undecided",
    "judges_abstained": "the judges cannot tell",
    "nobody_to_ask": "no patient to ask",
    "not_asked": "not asked about",
    "no_checklist": "no reference and no checklist",
    "unknown_category": "category not known",
    "closed_question": "a closed question: checklists mark open answers",
    "generation_scale": "generated texts have a scale of their own",
    "not_generation": "no text generation",
    "unsafe": "unsafe text",
    # examinations
    "nothing_recorded": "nothing of the kind recorded",
    "unpriced_order": "price of a test not known",
    "no_bill": "no bill",
    "nothing_reported": "no result seen",
    "nothing_ordered": "nothing ordered",
    "nothing_asked": "nothing asked for",
    "not_ordered_here": "nothing can be ordered",
    "unstructured": "answered in free text",
    "no_replies": "no reply",
    # questions
    "open_question": "an open question without a judge",
    "no_reading": "what was read is not stored",
    "nothing_read": "no answer read",
    # cases and grades
    "truth_unknown": "true disease not in the tables",
    "unknown_price": "price not known",
    # figures of a report
    "singletons": "groups of one case",
    "nothing_scored": "nothing scored",
    "no_group": "no groups",
    "no_case": "no case",
    "no_rare_case": "no rare case",
    "no_run": "no run of this setting",
    "too_few_cases": "fewer than five cases",
    "few_cases": "fewer than five cases",
    "one_repeat": "one repeat",
    "all_equal": "all values are equal",
    "none_scored": "nothing scored",
    "no_share": "no share",
    # what became of a request
    "unavailable": "not possible now",
    "repeated": "had before",
    "none": "nothing of the kind recorded",
    "none_found": "nothing found",
}
"""Every reason that this package gives. A plug-in may mean something else by the same code, such as `kind`."""

OF_SCORE: dict[str, dict[str, str]] = {
    "diagnosis_grade": WORDS
    | {
        "same": "the same disease",
        "child": "a kind of the true disease",
        "parent": "a wider disease",
        "sibling": "a neighbour of the true disease",
        "other": "another disease",
    },
}
"""Reasons of a score that has some to itself, by its name."""

EXACT: dict[str, str] = {
    "doctor/no_answer": "no answer from the doctor",
    "doctor/replies_exhausted": "recorded replies ended early",
    "doctor/error": "error in the doctor's code",
    "parser/unreadable": "reply not understood",
    "provider/empty": "the endpoint sent an empty reply",
    "provider/timeout": "the endpoint gave no reply in time",
    "provider/refused": "the endpoint refused to answer",
    "evaluator/error": "error in the evaluator's code",
    "judge_unreadable/empty": "the judge sent an empty reply",
    "search/leak": "the query held the truth",
    "judge/timeout": "the judge gave no reply in time",
}
"""Pairs of cause and reason that read better as a whole."""


def phrase(reason: str, score: str = "") -> str:
    """Return a reason in a few words, without a full stop, "" for an empty reason.

    It may be a cause, a pair `CAUSE/REASON`, or several of these separated by commas. `score` names the score that has
    the reason. A reason without words, such as one that a plug-in gives its own score, is returned as it is, with
    spaces for its underscores.
    """
    if reason in EXACT:
        return EXACT[reason]
    if ", " in reason:
        return ", ".join(phrase(one, score) for one in reason.split(", "))
    cause, slash, rest = reason.partition("/")
    words = OF_SCORE.get(score) or (WORDS if not score or is_house(score) else ANY_SCORE)
    said = f"{CAUSES[cause]}: {phrase(rest)}" if slash and cause in CAUSES else words.get(reason, "")
    return said or spaced(reason).replace("/", ": ")


def ended_by(cause: str | None, reason: str = "") -> str:
    """Say how an episode ended, for instance `completed` or `the endpoint gave no reply in time`."""
    return phrase("open") if cause is None else phrase(f"{cause}/{reason}" if reason else cause)


def list_reasons(reasons: Mapping[str, int], score: str = "") -> str:
    """List counted reasons of a score, most frequent first: `no thinking part (7); nothing could be verified (1)`."""
    return "; ".join(
        f"{phrase(reason, score)}\u00a0({count:,})"
        for reason, count in sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))
    )


def list_left_out(first: Sequence[Sequence[str]], count: int) -> str:
    """List why cases were left out, each reason once with the first of its cases.

    `first` are (case, reason) of the first of `count` cases.
    """
    by_reason: dict[str, list[str]] = {}
    for case, why in first:
        by_reason.setdefault(why, []).append(case)
    parts = []
    for why, cases in list(by_reason.items())[:3]:
        more = len(cases) - 3 + (count - len(first) if len(by_reason) == 1 else 0)
        parts.append(f"{why} ({', '.join(cases[:3])}{f' and {more:,} more' if more > 0 else ''})")
    return "; ".join(parts) + (f"; and {count_noun(len(by_reason) - 3, 'other reason')}" if len(by_reason) > 3 else "")


def spaced(code: str) -> str:
    """Return a code with spaces for its underscores."""
    return " ".join(code.replace("_", " ").split())
