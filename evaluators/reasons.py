"""The words that people read for every reason, cause and ending: a short phrase and a sentence.

JSON and the store keep the code itself (`no_thinking`, `provider/timeout`). To add a reason, add its line to one of
the tables below; a test names every reason that the code uses and the tables lack.
"""

from collections.abc import Mapping
from typing import NamedTuple

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

WORDS: dict[str, tuple[str, str]] = {
    # endings
    "completed": ("completed", "The encounter came to its end."),
    "open": ("still open", "The episode is not finished; resume the run."),
    "doctor": ("ended by the doctor", "The doctor failed to give an answer."),
    "patient": ("ended by the patient", "The patient failed, which is not the doctor's fault."),
    "examiner": ("ended by the examiner", "The examiner failed, which is not the doctor's fault."),
    "curator": ("ended by the curator", "The curator failed."),
    "writer": ("ended by the writer", "The writer of questions failed."),
    "checker": ("ended by the checker", "The checker of questions failed."),
    "parser": ("reply not understood", "No rule of the scenario could read the doctor's replies."),
    "provider": ("endpoint failed", "A model could not be reached or would not answer."),
    "rules": ("rules of the scenario failed", "The scenario's own code failed."),
    "limit": ("limit reached", "The episode reached one of its limits."),
    "evaluator": ("evaluator failed", "The evaluator raised an error."),
    "judge": ("judge failed", "The judge could not be reached."),
    "no_answer": ("no answer", "No usable answer was given within the turns."),
    "unreadable": ("reply not understood", "The replies could not be read, even after a warning."),
    "replies_exhausted": ("recorded replies ended early", "The recording had no reply for this turn."),
    "bad_action": ("an action that the game does not have", "The agent returned something that is no possible action."),
    "bad_answer": ("an answer in a wrong form", "The scenario read an answer that cannot be stored."),
    "bad_ending": ("an ending in a wrong form", "The scenario returned something that is no ending."),
    "error": ("an error in its code", "Its code raised an error; `wardround show` has the message."),
    "actions": ("actions used up", "The episode took as many actions as it may."),
    "turns": ("turns used up", "The doctor used all of its turns."),
    "calls": ("calls used up", "The episode made as many calls of models as it may."),
    "act_calls": ("calls of one turn used up", "One turn made as many calls of models as it may."),
    "tokens": ("tokens used up", "The episode used as many tokens as it may."),
    "cost": ("money used up", "The episode cost as much as it may."),
    "act": ("an act took too long", "One act took more time of its own than it may, waits for models left out."),
    "wall": ("time used up", "The episode took as long as it may."),
    "seconds": ("time used up", "The episode took as long as it may."),
    "exit": ("its code tried to end the program", "Its code tried to end the whole program."),
    "cancelled": ("its code cancelled itself", "Its code cancelled the work that it was part of."),
    "stopped": ("its code stopped the event loop", "Its code stopped the event loop that all episodes share."),
    "budget": ("budget of the run used up", "The run's budget was used up."),
    "unattended": ("nobody sat at the terminal", "A person was to play and nobody could be asked."),
    "left": ("the client left", "A client played the seat from outside and left before the end."),
    "operator": ("stopped by the operator", "The run was told to stop."),
    # why the doctor has no answer
    "agent_error": ("error in the doctor's code", "The doctor's own code raised an error."),
    "agent_timeout": ("doctor's code too slow", "The doctor's own code took too long over one turn."),
    "unsendable": ("text that cannot be sent", "The doctor sent its model text that is not valid."),
    "flooded": ("more words than another seat can take", "The doctor wrote more than another seat's model can take."),
    "limit_actions": ("turns used up", "The doctor used up the actions of an episode."),
    "limit_calls": ("calls used up", "The doctor used up the calls of an episode."),
    "limit_act_calls": ("calls of one turn used up", "The doctor called its model without end in one turn."),
    "limit_tokens": ("tokens used up", "The doctor used up the tokens of an episode."),
    "limit_cost": ("money used up", "The doctor used up the money of an episode."),
    "limit_wall": ("time used up", "The doctor used up the time of an episode; waiting for a model is not its time."),
    # shapes of unusable replies
    "only_thinking": ("thinking without text after it", "The reply is thinking, with no text after it."),
    "tool_call": ("a tool call in place of text", "The reply calls a tool in place of text."),
    "dialogue": ("words of another seat, made up", "The reply plays another seat too."),
    "not_possible": ("a move not possible now", "The reply asks for something that is not possible at this point."),
    "names_nothing": ("the right form with nothing in it", "The reply has the right form and names nothing."),
    "bad_arguments": ("an action with unusable arguments", "The arguments of the action make no move."),
    # breaks of a role
    "plays_other": ("spoke for another seat", "The seat wrote the words of another seat."),
    "recites": ("recited its instructions", "The seat repeated its own instructions."),
    "self_as_model": ("spoke of itself as a model", "The seat spoke of itself as a language model."),
    # answers and replies
    "refusal": ("declined to answer", "The reply declines to answer."),
    "refused": ("refused to answer", "The endpoint or source refused to answer."),
    "content_filter": ("stopped by a content filter", "A content filter of the endpoint stopped the reply."),
    "several_answers": ("several answers, none chosen", "The answer names several diseases and chooses none of them."),
    "no_diagnosis_asserted": ("no diagnosis asserted", "The answer asserts no diagnosis: it denies, doubts or asks."),
    "no_treatment_asserted": ("no treatment asserted", "The answer asserts no treatment."),
    "too_many_measures": ("far more measures than were needed", "The plan names far more measures than the true one."),
    "hedged": ("an answer with reservations", "The answer is hedged."),
    "template": ("an unfilled template", "The reply repeats a template without filling it in."),
    "several": ("several verdicts in one reply", "The reply gives more than one verdict."),
    "truncated": ("reply cut off", "The reply was cut off before it was complete."),
    "length": ("reply cut off", "The reply was cut off at its greatest length."),
    "empty_reply": ("empty reply", "The reply holds no text."),
    "empty": ("empty reply", "The reply holds no text."),
    # endpoints and searches
    "auth": ("the key was refused", "The endpoint refused the key."),
    "unknown_model": ("no such model", "The endpoint knows no model of this name."),
    "bad_request": ("the request was refused", "The endpoint refused the request as it was sent."),
    "context_overflow": ("conversation too long for the model", "The conversation is longer than the model can take."),
    "rate_limit": ("too many requests", "The endpoint refuses more requests for now."),
    "quota": ("the account is used up", "The quota of the account is used up."),
    "server": ("an error at the endpoint", "The endpoint reports an error of its own."),
    "timeout": ("no reply in time", "There was no reply within the time allowed."),
    "connection": ("could not be reached", "No connection could be made."),
    "malformed": ("a reply in a wrong form", "The reply is not in the form that was agreed."),
    "too_large": ("the page is too large", "The page is larger than what is read."),
    "unsupported": ("not a page of text", "The page is of a kind that is not read."),
    "redirects": ("too many redirects", "The address leads on and on."),
    "private": ("an address that is not public", "The address lies in a private network and is not visited."),
    "denied": ("a source that is not allowed", "The source is on no list of allowed ones."),
    "leak": ("the query held the truth", "The query holds words of the truth, so it was not sent."),
    "unrecorded": ("not among the recorded searches", "The recording has no result for this query."),
    # log-probabilities
    "no_logprobs": ("no log-probabilities", "The endpoint gave no log-probabilities for the first token."),
    "no_option_in_logprobs": (
        "no option among the likeliest",
        "No option is among the alternatives of the first token.",
    ),
    "tied_options": ("two options equally likely", "Two options share the largest log-probability."),
    # judges
    "too_long": ("the reply is too long", "The reply is longer than what is read."),
    "half_json": ("JSON that breaks off", "The reply is JSON that breaks off."),
    "no_field": ("a field is missing", "The reply lacks a field that was asked for."),
    "no_steps": ("no steps", "The reply lists no steps."),
    "no_test": ("no test named", "The reply lists no test although the text names some."),
    "too_many_steps": ("too many steps", "There are more steps than are judged; the others were left out."),
    "not_in_vocabulary": ("not one of the allowed words", "The reply is none of the words that may be said."),
    "other_language": ("a reply in another language", "The reply is in a language that was not asked for."),
    "prose": ("prose instead of a verdict", "The reply is prose from which no verdict is read."),
    "no_reason": ("no reason given", "Nobody said why."),
    "no_votes": ("no votes", "No judge was asked."),
    "judge_torn": ("the judge contradicts itself", "One judge's own votes have no majority."),
    "contradicted": ("judge contradicts the record", "The judge said that a finding was not reported, and it was."),
    "judges_divided": ("the judges disagree", "Nothing has more than half of the judges behind it."),
    "unresolved": ("not resolved", "The judges came to no verdict."),
    "no_keywords": ("no search words", "No judge named anything to search for."),
    "hostile": ("text that speaks to the judge", "The text tries to instruct the judge and was not shown."),
    "unverifiable": ("not verifiable", "No passage settles it."),
    "no_search": ("no search was given", "The judge had nothing to look things up in; give --search."),
    "uncited": ("verdict without a quotation", "The verdict rests on no words that stand in a source."),
    "unfit": ("the judge failed its controls", "The judge did not tell right controls from wrong ones."),
    "judge_unfit": ("the judge failed its controls", "The judge did not tell right controls from wrong ones."),
    # reasoning
    "no_reference": ("no reference reasoning in the case", "The case has no reference reasoning to compare with."),
    "only_the_answer": ("the reference is the answer alone", "The reference holds nothing but the final answer."),
    "no_reasoning": ("no reasoning in the reply", "The reply gives an answer without reasoning."),
    "no_reasoning_step": ("no step that claims anything", "No step of the reply makes a claim of its own."),
    "no_thinking": ("no separate thinking part", "The model gave no thinking apart from its reply."),
    "no_words": ("typed action without words", "The doctor acted by a typed action and wrote nothing."),
    "no_heading": ("no heading of reasoning", "The reply has no heading under which reasoning stands."),
    "nothing_verified": ("no step could be verified", "The searches settled none of the steps."),
    "no_such_turn": ("the episode ended before this turn", "The episode had fewer turns than this one."),
    "no_deciding_findings": ("deciding findings not stated", "The case does not say which findings settle it."),
    "one_turn": ("one turn only", "The episode has one turn, so nothing can repeat an earlier one."),
    "no_deciding": ("deciding findings not stated", "The case does not say which findings settle the diagnosis."),
    "unseen": ("relies on a finding not yet seen", "The step relies on a finding that nobody had reported yet."),
    # rubrics and checklists
    "no_rubric": ("no rubric", "The case or question has no rubric."),
    "no_positive_points": (
        "no positive points",
        "No criterion of the rubric earns points.",
    ),
    "veto": ("veto", "The answer or encounter does what its rubric marks as unsafe."),
    "veto_undecided": ("veto undecided", "It is not decided whether a veto of the rubric applies."),
    "judges_abstained": ("the judges cannot tell", "Every judge said that it cannot tell."),
    "nobody_to_ask": ("no patient to ask", "In this scenario there is no patient to question."),
    "not_asked": ("not asked about", "No proposal was asked for this item."),
    "no_checklist": ("no reference and no checklist", "The question has neither a reference answer nor a checklist."),
    "unknown_category": ("category not known", "The question's category is none of the five of LLMEval-Med."),
    "generation_scale": ("generated texts have a scale of their own", "Generated texts are scored from 0 to 7."),
    "not_generation": ("no text generation", "Only text generation is judged by dimensions."),
    "unsafe": ("unsafe text", "A judge calls the text unsafe, so it is not usable."),
    # examinations
    "nothing_recorded": ("nothing of the kind recorded", "The case records nothing of this kind."),
    "unpriced_order": ("price of a test not known", "No price is known for a test that was ordered."),
    "no_bill": ("no bill", "The episode ended outside the rules, which keep the bill."),
    "nothing_reported": ("no result seen", "The doctor saw no result of an examination or test."),
    "nothing_ordered": ("nothing ordered", "The doctor ordered nothing of this kind."),
    "nothing_asked": ("nothing asked for", "The doctor asked for no examination."),
    "not_ordered_here": ("nothing can be ordered", "In this scenario nothing can be ordered."),
    "unstructured": (
        "answered in free text",
        "The orders were answered in free text that cites no field of the record.",
    ),
    "no_replies": ("no reply", "The doctor gave no reply."),
    # questions
    "open_question": (
        "an open question without a judge",
        "No words decide an open answer; a rubric or a checklist does.",
    ),
    "no_reading": ("what was read is not stored", "The ending does not say which answer was read from the reply."),
    "nothing_read": (
        "no answer read",
        "The published rules read no possible answer in the reply and count it as wrong.",
    ),
    # cases and grades
    "no_truth": ("the case has no reference answer", "The case does not say what the right answer is."),
    "no_diagnosis": ("the answer is no diagnosis", "The scenario asks for something other than a diagnosis."),
    "truth_unknown": ("true disease not in the tables", "The tables of diseases do not know the true diagnosis."),
    "unknown_price": ("price not known", "A call has no known price; name one with --prices."),
    "not_scored": ("not scored", "This score was never taken; run `wardround score`."),
    "same": ("the same disease", "The answer is the true disease."),
    "kind": ("a kind of the true disease", "The answer is a kind of the true disease."),
    "wider": ("a wider disease", "The answer is a wider disease than the true one."),
    "beside": ("a neighbour of the true disease", "The answer stands beside the true disease in the tree."),
    "other": ("another disease", "The answer is another disease."),
    # figures of a report
    "mixed_rules": ("scored under different rules", "Some values were taken under other rules than the rest."),
    "singletons": ("groups of one case", "Most groups have one case, so their average is no other figure."),
    "nothing_scored": ("nothing scored", "No episode has a value."),
    "no_group": ("no groups", "No case states a group."),
    "no_case": ("no case", "There is no case of this kind."),
    "no_rare_case": ("no rare case", "No case is marked as rare."),
    "no_run": ("no run of this setting", "There is no run under this scenario."),
    "too_few_cases": ("fewer than five cases", "With fewer than five cases there is no interval."),
    "few_cases": ("fewer than five cases", "With fewer than five cases there is no interval."),
    "one_repeat": ("one repeat", "With one repeat there is no error over repeats."),
    "all_equal": ("all values are equal", "All values are equal, so nothing can be tested."),
    "none_scored": ("nothing scored", "No episode has a value."),
    "no_share": ("no share", "The figure has no scale, so it has no such interval."),
    # what became of a request
    "unavailable": ("not possible now", "What the reply asks for is not possible at this point."),
    "repeated": ("had before", "This was had before, and can be had once."),
    "none": ("nothing of the kind recorded", "The case records nothing of this kind."),
    "none_found": ("nothing found", "The record holds none of what was ordered."),
}
"""Every reason that has words of its own."""

EXACT: dict[str, tuple[str, str]] = {
    "doctor/no_answer": ("no answer from the doctor", "The doctor gave no usable answer within its turns."),
    "doctor/replies_exhausted": ("recorded replies ended early", "The recording had no reply for the doctor's turn."),
    "doctor/error": ("error in the doctor's code", "The doctor's own code raised an error."),
    "parser/unreadable": ("reply not understood", "The doctor's replies could not be read, even after a warning."),
    "provider/empty": ("the endpoint sent an empty reply", "The endpoint sent a reply without text."),
    "provider/timeout": ("the endpoint gave no reply in time", "The endpoint gave no reply within the time allowed."),
    "provider/refused": ("the endpoint refused to answer", "The endpoint refused to answer."),
    "evaluator/error": ("error in the evaluator's code", "The evaluator's code raised an error."),
    "judge_unreadable/empty": ("the judge sent an empty reply", "The judge sent a reply without text, twice."),
    "search/leak": ("the query held the truth", "The search was not made: its query contained words of the truth."),
    "judge/timeout": ("the judge gave no reply in time", "The judge gave no reply within the time allowed."),
}
"""Pairs of cause and reason that read better as a whole."""


class Words(NamedTuple):
    """The text of a reason: a `phrase` for a table cell, without a full stop, and a whole `sentence`."""

    phrase: str
    sentence: str


def reason_words(reason: str) -> Words:
    """Return the words of a reason, a cause, a pair `CAUSE/REASON`, or several of these separated by commas.

    A reason without words, such as a plug-in's own, is returned as it is, with spaces for its underscores.
    """
    if exact := EXACT.get(reason):
        return Words(*exact)
    if ", " in reason:
        several = [reason_words(one) for one in reason.split(", ")]
        return Words(", ".join(one.phrase for one in several), " ".join(one.sentence for one in several))
    cause, slash, rest = reason.partition("/")
    if not slash:
        return Words(*WORDS[reason]) if reason in WORDS else _unknown(reason)
    who = CAUSES.get(cause, spaced(cause))
    inner = reason_words(rest)
    return Words(f"{who}: {inner.phrase}", f"{who[:1].upper()}{who[1:]}: {inner.sentence}")


def phrase(reason: str) -> str:
    """Return a reason in a few words, "" for an empty reason."""
    return reason_words(reason).phrase if reason else ""


def sentence(reason: str) -> str:
    """Return a reason as a sentence, "" for an empty reason."""
    return reason_words(reason).sentence if reason else ""


def ended_by(cause: str | None, reason: str = "") -> str:
    """Say how an episode ended, for instance `completed` or `the endpoint gave no reply in time`."""
    if cause is None:
        return phrase("open")
    return phrase(f"{cause}/{reason}" if reason else cause)


def list_reasons(reasons: Mapping[str, int]) -> str:
    """List counted reasons, the most frequent first: `no thinking part (7); nothing could be verified (1)`."""
    ordered = sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))
    return "; ".join(f"{phrase(reason)}\u00a0({count:,})" for reason, count in ordered)


def is_known(reason: str) -> bool:
    """Whether Wardround has words for this reason."""
    if reason in EXACT or reason in WORDS:
        return True
    cause, slash, rest = reason.partition("/")
    return bool(slash) and cause in CAUSES and is_known(rest)


def spaced(code: str) -> str:
    """Return a code with spaces for its underscores."""
    return " ".join(code.replace("_", " ").split())


def _unknown(reason: str) -> Words:
    said = spaced(reason)
    return Words(said, f"{said[:1].upper()}{said[1:]}.")
