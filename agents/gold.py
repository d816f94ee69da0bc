"""The upper and lower bound of every scenario: a doctor that knows the truth, and one that says nothing."""

from typing import ClassVar

from wardround.engine.records import Action, View
from wardround.engine.seat import Seat
from wardround.scenarios.case import Case, case_results
from wardround.scenarios.question_item import QuestionItem, solution


class Gold:
    """Orders everything recorded by its exact name, then plays the truth.

    One `order` of kind `any` names all tests, because a scenario may allow a single round. The conclusion contains the
    diagnosis and the treatment if the case has them; the scenario takes the part that it asks for.
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
            turn = sum(one.verb == "question" for one in view.heard)
            return Action("reply", text=solution(self._case, turn))
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
        del view
        return Action("reply")
