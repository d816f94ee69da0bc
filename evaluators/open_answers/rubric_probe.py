"""The evaluator `rubric-probe`: which criteria a blank, a copied question and a very long answer meet."""

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

import msgspec

from wardround.engine.once import together
from wardround.engine.records import Score, Scored
from wardround.engine.seat import Seat
from wardround.engine.trajectory import Trajectory
from wardround.evaluators.evaluation import require_judges
from wardround.evaluators.judges.question import LONGEST, Material
from wardround.evaluators.open_answers.rubric import conversation
from wardround.evaluators.open_answers.rubric_judging import ANSWER, CONVERSATION, CriterionVerdict, decide_answers
from wardround.evaluators.open_answers.rubric_points import Met, rubric_score
from wardround.scenarios.question_item import QuestionItem

PROBES = ("blank", "copied", "long")
BLANK = "(no text)"
_SENTENCES = (
    "Thank you for your question; health matters, and there are many sides to it.",
    "There can be many causes, some of them harmless and some of them serious.",
    "It depends on age, other illnesses, medicines, habits and the course over time.",
    "In general a balanced diet, enough sleep, movement and enough to drink are good for most people.",
    "Some people feel better after rest, others need a treatment, and others again need tests.",
    "Possible tests are blood tests, urine tests, pictures and others, according to the situation.",
    "Treatments can be medicines, procedures or simply time, and each has benefits and risks.",
    "If things get worse, do not get better or worry you, talk to someone who knows about it.",
    "A doctor, a nurse or a pharmacist can look at the details and give advice that fits them.",
    "This text is general information and replaces no examination.",
)
_LONG = 6_000
"""The fewest characters of the long text."""


class ProbeAccount(msgspec.Struct, frozen=True):
    """Which criteria each probe meets, in the order of the rubric; None where the judges came to no decision."""

    criteria: tuple[str, ...]
    points: tuple[float, ...]
    met: dict[str, tuple[Met, ...]]


class RubricProbe:
    """Judges three texts in place of the doctor's answer; `wardround rubrics lint FILE --judge SPEC` asks for it.

    `rubric_probe_blank`, `_copied` and `_long` are the rubric's scores of no text, of the question copied, and of a
    very long text that says nothing in particular. A rubric that gives them points does not measure what it says.
    """

    name = "rubric-probe"
    VERSION: ClassVar[int] = 1
    judged: ClassVar[bool] = True
    Item = QuestionItem

    async def score(self, case: QuestionItem, trajectory: Trajectory, seat: Seat | None = None) -> Scored:
        """Return the score of each probe; the doctor's own answer has no influence."""
        panel = require_judges(seat, self.name).panel
        if not case.rubric:
            return Scored([Score(f"rubric_probe_{name}", None, "no_rubric") for name in PROBES])
        before, _ = conversation(case.model_copy(update={"turns": ()}), trajectory)
        criteria = [one.criterion for one in case.rubric]

        async def judged(text: str) -> Sequence[CriterionVerdict]:
            texts = (Material(CONVERSATION, before, "case", LONGEST), Material(ANSWER, text, "reply", LONGEST))
            return await decide_answers(panel, texts, criteria)

        made = await together([partial(judged, text) for text in (BLANK, case.question, long_text())])
        met = {name: tuple(one.met for one in decided) for name, decided in zip(PROBES, made, strict=True)}
        scores = []
        for name, values in met.items():
            value = rubric_score(case.rubric, values)
            undecided = next((one.reason for one in made[PROBES.index(name)] if one.met is None), "no_positive_points")
            scores.append(Score(f"rubric_probe_{name}", value, "" if value is not None else undecided))
        account = ProbeAccount(tuple(criteria), tuple(one.points for one in case.rubric), met)
        return Scored(scores, {"probe": msgspec.to_builtins(account)})


def long_text() -> str:
    """Return about a thousand words that fit any question."""
    body = " ".join(_SENTENCES)
    return " ".join([body] * (1 + _LONG // len(body)))
