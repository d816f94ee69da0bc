"""Doctors that bound the scores without a model: gold and silent for cases, guesses and copies for question sets."""

import random
from typing import ClassVar

from wardround.engine.records import Action, View
from wardround.engine.seat import Seat, seed_of
from wardround.scenarios.case import Case, case_results
from wardround.scenarios.question_item import QuestionItem, solution


class Gold:
    """Orders everything recorded by its exact name, then plays the truth.

    ::

        wardround run --scenario workup --cases bundled:admissions --doctor gold

    One `order` of kind `any` names all tests, because a scenario may allow a single round. The conclusion contains the
    diagnosis and the treatment if the case has them; the scenario takes the part that it asks for. Raises TypeError if
    the seat does not know the case.
    """

    sealed: ClassVar[bool] = True
    knows: ClassVar[str] = "truth"

    def __init__(self, seat: Seat) -> None:
        if not isinstance(seat.knowledge, Case | QuestionItem):
            raise TypeError(f"{seat.name}: gold must know the case, and has {type(seat.knowledge).__name__}")
        self._case = seat.knowledge

    async def act(self, view: View) -> Action:
        """Order once, if that is possible, then conclude; answer a question at once."""
        if isinstance(self._case, QuestionItem):
            return Action("reply", text=solution(self._case, sum(one.verb == "question" for one in view.heard)))
        names = list(dict.fromkeys(item.name for item in case_results(self._case)))
        if names and "order" in view.verbs and view.memo != {"ordered": True}:
            return Action("order", args={"kind": "any", "items": names}, memo={"ordered": True})
        truth = self._case.truth
        answers = {"diagnosis": truth.diagnosis, "treatment": truth.treatment}
        return Action("conclude", args={goal: answer for goal, answer in answers.items() if answer}, memo=view.memo)


class Silent:
    """Gives an empty reply at every turn; an empty reply is not an answer, so it scores 0.0."""

    sealed: ClassVar[bool] = True

    async def act(self, view: View) -> Action:
        """Say nothing."""
        return Action("reply")


def _answer(view: View, option: int, *, holds: bool) -> Action:
    """The answer to a closed question that takes the shown option number `option`, or says whether something holds."""
    known = view.known if isinstance(view.known, dict) else {}
    form, letters = known.get("form"), list(known.get("options") or ())
    words = {"statement": "true" if holds else "false", "existence": "yes" if holds else "no"}
    if form in words:
        return Action("reply", text=f"Answer: {words[form]}")
    if not letters:
        return Action("reply", text="I do not know.")
    letter = letters[option % len(letters)]
    if form == "rectification":
        right = letter == known.get("offered")
        return Action(
            "reply", text="Answer: correct" if right else f"Answer: incorrect, the correct answer is {letter}"
        )
    return Action("reply", text=f"Answer: {letter}")


class AlwaysFirst:
    """Answers A, true or yes to everything: what it scores above chance is the leak of a question set.

    ::

        wardround run --scenario questions --cases questions.jsonl --doctor always-first
    """

    sealed: ClassVar[bool] = True

    async def act(self, view: View) -> Action:
        """Take the first option."""
        return _answer(view, 0, holds=True)


class RandomAnswers:
    """Draws an option by seed: its score is the chance of a question set.

    ::

        wardround run --scenario questions --cases questions.jsonl --set permute=true --doctor random-answers
    """

    sealed: ClassVar[bool] = True

    def __init__(self, seat: Seat) -> None:
        self._seed = seat.seed

    async def act(self, view: View) -> Action:
        """Take an option at random, the same on resume and replay."""
        draw = random.Random(seed_of(self._seed, view.seq, view.brief))
        return _answer(view, draw.randrange(1 << 30), holds=draw.random() < 0.5)


class Copied:
    """Gives the question back as its answer: what a rubric or a checklist gives it, it gives to any text."""

    sealed: ClassVar[bool] = True

    async def act(self, view: View) -> Action:
        """Copy the last question."""
        asked = [said.text for said in view.heard if said.verb == "question"]
        return Action("reply", text=asked[-1] if asked else view.brief)
