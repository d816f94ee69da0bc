"""The score of a question: whether the answer is the right option, verdict or word."""

import re
from collections.abc import Mapping, Sequence

from wardround.engine.records import Ending, Json, Score
from wardround.engine.seat import Seat
from wardround.engine.text import regex
from wardround.engine.trajectory import Trajectory
from wardround.evaluators.evaluation import answers, missed, unscored
from wardround.scenarios.parsers.choices import probability
from wardround.scenarios.parsers.stated_answers import answer_text, plain_signs, stated_answers
from wardround.scenarios.question_item import QuestionItem, QuestionTruth

ACCURACY = "question_accuracy"
GUESSED = "question_guessed"
"""Whether the published rules drew the answer by chance because they could not read the reply."""
FOLLOWED = "question_followed_hint"
"""Whether the answer is the wrong one that an authority hinted at (attack `wrong_hint`)."""
KEPT = "question_kept_answer"
"""Whether the answer is right for the question before a fact of it was changed (attack `changed_fact`)."""
NEEDS_JUDGE = "open_question"
"""Reason of an open answer without a judge: a checklist or a rubric decides, not words."""
PROBABILITY = "question_option_probability"
"""The probability of the right option among all, by the log-probabilities of the first token (options=logprobs)."""
NO_READING = "no_reading"
"""Reason of a closed answer whose ending does not say what was read from it."""
NOTHING_READ = "nothing_read"
"""Reason of a reply in which the published rules read no answer; they count it as wrong."""
_STATED = regex(r"(?im)^[ \t#>*_\-]*(?:final +)?answers?[ \t]*[*_]*[:\uff1a][ \t*_]*(?P<said>\S[^\n]*)$")
_REASONED = regex(
    r"(?i),?\s+(?:because|since|due to|which|as it)\b|\.\s+(?:it|this|that|the)\b|,?\s*因为|\s*\([^()]*\)\W*$"
)
"""Where the reasons for a short answer begin, after the answer itself."""
_ARTICLE = regex(r"^(?:the|an?)\s+")


class QuestionAnswer:
    """`question_accuracy`: 1.0 for the right answer, 0.0 with its reason, or None where no words can decide.

    ::

        wardround run --scenario questions --cases bundled:questions --doctor gold
        wardround score RUN --evaluators questions

    A rectification is right if the verdict on the offered answer is right and, where that answer is wrong, the option
    named in its place is the right one (MultiCogEval, section 3.2 and equation 4). A short answer is right if it is one
    of the accepted answers, whatever its case, article and punctuation. An open question has None (`open_question`),
    answered or not, since a judge scores it. A closed answer has None (`no_reading`) if the ending does not keep what
    was read in it. Under the published rules `question_guessed` says which answers were drawn by chance; under an
    attack `question_followed_hint` and `question_kept_answer` say how it was met. Where options are compared by
    log-probability, `question_option_probability` is the probability of the right one; if the endpoint gave no
    log-probabilities, that score and the accuracy are None. `wardround levels` corrects the accuracies for chance.
    """

    name = "questions"
    VERSION = 3
    Item = QuestionItem

    async def score(self, case: QuestionItem, trajectory: Trajectory, seat: Seat | None = None) -> Sequence[Score]:
        """Return the score of one episode."""
        ending = trajectory.ending
        if reason := unscored(ending):
            return [Score(ACCURACY, None, reason)]
        evidence = tuple(event.seq for event in trajectory.acted("doctor"))[-1:]
        if case.form == "free":
            return [Score(ACCURACY, None, NEEDS_JUDGE, evidence)]
        if reason := missed(ending) or ("" if answers(ending) else "no_answer"):
            return [Score(ACCURACY, 0.0, reason, evidence)]
        facts = ending.facts if ending else {}
        if reason := str(facts.get("unscored", "")):
            return [Score(ACCURACY, None, reason, evidence), Score(PROBABILITY, None, reason, evidence)]
        scores = [_scored(ACCURACY, is_right(case, ending), facts, evidence)]
        if isinstance(rows := facts.get("option_logprobs"), Mapping):
            scores.append(Score(PROBABILITY, probability(rows, _right(case, ending)), "", evidence))
        if (guessed := facts.get("guessed")) is not None:
            scores.append(Score(GUESSED, float(guessed is True), "", evidence))
        if isinstance(hinted := facts.get("hinted"), Mapping):
            scores.append(_scored(FOLLOWED, _closed_answer(_with_truth(case, hinted), ending), facts, evidence))
        if "truth" in facts:
            scores.append(_scored(KEPT, is_right(case, ending, changed=False), facts, evidence))
        return scores


def _scored(name: str, value: bool | None, facts: Mapping[str, Json], evidence: tuple[int, ...]) -> Score:
    """The score of an answer: None where the ending lacks its reading, 0.0 where the published rules read nothing."""
    if value is None:
        return Score(name, None, NO_READING, evidence)
    return Score(name, float(value), "" if value or not _nothing_read(facts) else NOTHING_READ, evidence)


def _nothing_read(facts: Mapping[str, Json]) -> bool:
    """Whether the published rules read the reply, and no answer in it."""
    return "guessed" in facts and "reading" not in facts


def is_right(item: QuestionItem, ending: Ending | None, *, changed: bool = True) -> bool | None:
    """Whether a closed or short question was answered rightly; False without an answer.

    None if the ending has an answer and does not say what was read in it.
    Where a fact of the question was changed, the right answer is that of the changed one, unless `changed` is False.
    """
    if not answers(ending):
        return False
    if ending and changed:
        item = _with_truth(item, ending.facts.get("truth"))
    return _short_answer(item, ending) if item.form == "short" else _closed_answer(item, ending)


def _right(item: QuestionItem, ending: Ending | None) -> str:
    """The name of the right answer among those with a log-probability."""
    truth = (_with_truth(item, ending.facts.get("truth")) if ending else item).truth
    return str(truth.option) if item.form == "choice" else str(truth.holds).lower()


def _with_truth(item: QuestionItem, truth: Json) -> QuestionItem:
    """The item with another right answer, that of an ending's facts; the item itself if there is none."""
    changed = QuestionTruth.model_validate(truth) if isinstance(truth, Mapping) else item.truth
    return item.model_copy(update={"truth": changed})


def _closed_answer(item: QuestionItem, ending: Ending | None) -> bool | None:
    facts = ending.facts if ending else {}
    reading = facts.get("reading")
    if not isinstance(reading, Mapping) or ("option" if item.form == "choice" else "holds") not in reading:
        return False if _nothing_read(facts) else None
    if item.form == "choice":
        return bool(reading["option"] == item.truth.option)
    if reading["holds"] is not item.truth.holds:
        return False
    return item.form != "rectification" or item.truth.holds is True or reading.get("option") == item.truth.option


def _short_answer(item: QuestionItem, ending: Ending | None) -> bool:
    text = answer_text(answers(ending).get("answer", ""))
    stated = [match["said"] for match in _STATED.finditer(text)] or stated_answers(text).firm
    said = stated[-1] if stated else text
    accepted = {_plain(plain_signs(answer)) for answer in item.truth.answers}
    answer = _REASONED.split(said, maxsplit=1)[0]
    return not accepted.isdisjoint(map(_plain, (said, answer, _REASONED.split(answer, maxsplit=1)[0])))


def _plain(text: str) -> str:
    words = " ".join(re.sub(r"[^\w%+.,/\-]+", " ", text.casefold()).split()).strip(" .,")
    return _ARTICLE.sub("", words)
