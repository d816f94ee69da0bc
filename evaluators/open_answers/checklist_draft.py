"""The evaluator `checklist-draft`: a model's proposal for a checklist, from the old one, reference and answers."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import ClassVar

import msgspec

from wardround.engine.once import together
from wardround.engine.records import Score, Scored
from wardround.engine.seat import Seat
from wardround.engine.trajectory import Trajectory
from wardround.evaluators.evaluation import require_judges
from wardround.evaluators.judges.panel import PanelAnswer
from wardround.evaluators.judges.question import LONGEST, Material, Question, reply_shape
from wardround.evaluators.judges.strict_reply import Unread, field, only_entry, required_json, unread_reply
from wardround.evaluators.open_answers.checklist_marking import ANSWER, QUESTION, REFERENCE, REQUIREMENTS, requirements
from wardround.evaluators.open_answers.rubric import turn_replies
from wardround.scenarios.criteria import Checklist
from wardround.scenarios.question_item import QuestionItem

REQUIREMENTS_SCORE = "draft_requirements"
_LIST = {"type": "array", "items": {"type": "string"}}


class Draft(msgspec.Struct, frozen=True):
    """A proposed checklist with what was changed and why."""

    core: tuple[str, ...]
    secondary: tuple[str, ...]
    changes: str = ""

    def checklist(self) -> Checklist:
        """The proposal as a checklist that is marked as drafted."""
        return Checklist(core=self.core, secondary=self.secondary, origin="drafted")


class TurnDraft(msgspec.Struct, frozen=True):
    """The proposal for one turn, or None with the reason why the model gave none."""

    turn: int
    draft: Draft | None
    reason: str = ""


class ChecklistDraft:
    """Proposes a checklist for each turn of some items; `wardround checklists review RUN --judge SPEC` asks for it.

    `cases` names the items, one a line; the others are not asked about (`not_asked`). Proposals are stored as accounts.
    """

    name = "checklist-draft"
    VERSION: ClassVar[int] = 1
    judged: ClassVar[bool] = True
    QUESTIONS: ClassVar[tuple[str, ...]] = ("checklist_draft",)
    Item = QuestionItem

    def __init__(self, cases: str = "") -> None:
        self._cases = frozenset(cases.split("\n")) if cases else frozenset[str]()
        self.tables: Mapping[str, str] = {"cases": cases} if cases else {}

    async def score(self, case: QuestionItem, trajectory: Trajectory, seat: Seat | None = None) -> Scored:
        """Return the number of requirements proposed, with the proposals as the account."""
        panel = require_judges(seat, self.name).panel
        if self._cases and case.id not in self._cases:
            return Scored([Score(REQUIREMENTS_SCORE, None, "not_asked")])
        replies = turn_replies(case, trajectory)
        asked = [(case.question, case.truth.answers[:1], case.checklist)]
        asked += [(turn.question, (turn.reference,), turn.checklist) for turn in case.turns]
        questions = [
            draft_question(question, "".join(reference), checklist, replies[at] if at < len(replies) else "")
            for at, (question, reference, checklist) in enumerate(asked)
        ]
        asking = [partial(panel.first, one, read_draft) for one in questions]
        made: list[PanelAnswer[Draft]] = await together(asking)
        drafts = [TurnDraft(turn, answer.value, answer.reason) for turn, answer in enumerate(made, 1)]
        count = sum(len(one.draft.core) + len(one.draft.secondary) for one in drafts if one.draft)
        reason = next((one.reason for one in drafts if one.draft is None), "")
        score = Score(REQUIREMENTS_SCORE, float(count) if count else None, reason if not count else "")
        return Scored([score], {"draft": msgspec.to_builtins(drafts)})


def draft_question(question: str, reference: str, checklist: Checklist, answer: str) -> Question:
    """Ask for a checklist of a question; a text that is missing is left out."""
    texts = (
        Material(QUESTION, question, "case", LONGEST),
        Material(REFERENCE, reference, "reference", LONGEST),
        Material(REQUIREMENTS, requirements(checklist), "reference", LONGEST),
        Material(ANSWER, answer, "reply", LONGEST),
    )
    shown = tuple(one for one in texts if one.text.strip())
    return Question(
        "checklist_draft", shown, shape=reply_shape(core=_LIST, secondary=_LIST, changes={"type": "string"})
    )


def read_draft(text: str) -> Draft | Unread:
    """Read {"core": [...], "secondary": [...], "changes": ...}; a list without a core requirement is `no_field`."""
    parsed = required_json(text)
    if isinstance(parsed, Unread):
        return parsed
    value = only_entry(parsed.value)
    lists = [_texts(field(value, (name,))) for name in ("core", "secondary")]
    if not lists[0] or lists[1] is None:
        return unread_reply("no_field", text)
    changes = field(value, ("changes",))
    return Draft(lists[0], lists[1], changes if isinstance(changes, str) else "")


def _texts(listed: object) -> tuple[str, ...] | None:
    if listed is None:
        return ()
    if not isinstance(listed, Sequence) or isinstance(listed, str) or not all(isinstance(one, str) for one in listed):
        return None
    return tuple(" ".join(one.split()) for one in listed if one.strip())
