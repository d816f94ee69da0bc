"""Judges without a model for tests: one that marks open answers fairly by their words, one that plays a script."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Protocol

_TOKEN = re.compile(r"[a-z0-9]+(?:[.,][0-9]+)?|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LINE = re.compile(r"[\n.;!?\u3002\uff01\uff1f\uff1b]+")
_NUMBERED = re.compile(r"(?m)^(\d{1,3})\. (.*)$")
_REPLIED = re.compile(r"(?ms)^assistant: .*?(?=^user: |\Z)")
_ACTION = re.compile(r"(?ms)^\[(\d+)\] doctor: (.*?)(?=^\[\d+\] |\Z)")


class QuestionTexts(Protocol):
    """A question to a judge: its name, and its texts by their labels."""

    @property
    def name(self) -> str:
        """The name of the question."""

    def text(self, label: str) -> str:
        """The text under a label."""


class FairJudge:
    """Marks open answers by exact words: words of the reference or a criterion count, words of the question do not.

    A criterion is met if one line or sentence of the answer has nine tenths of its words. A checklist's score is the
    share of the reference's words, beside those of the question, that the answer adds. It knows no medicine and no
    paraphrase, so it is for tests only: `--judge wardround.testing.fair_judge:FairJudge`.
    """

    floor = True
    spec = "wardround.testing.fair_judge:FairJudge"

    def __init__(self, seat: str = "judge") -> None:
        self.seat = seat

    async def say(self, question: QuestionTexts, sample: object, said: Sequence[str] = ()) -> str:
        """Return its reply in the form that was asked for."""
        answer = question.text("The answer")
        before = _REPLIED.sub("", question.text("The conversation") or question.text("The question"))
        if question.name == "rubric":
            return json.dumps({"why": "", "met": _is_met(question.text("The criterion"), before, answer)})
        if question.name == "rubric_batch":
            numbered = _NUMBERED.findall(question.text("The criteria"))
            return json.dumps(
                {"verdicts": [{"number": int(n), "met": _is_met(one, before, answer)} for n, one in numbered]}
            )
        if question.name == "rubric_encounter":
            wanted = question.text("The criterion")
            cited = [int(n) for n, text in _ACTION.findall(question.text("The encounter")) if _is_met(wanted, "", text)]
            return json.dumps({"why": "", "met": bool(cited), "events": cited})
        if question.name == "checklist_draft":
            core = [one.strip() for one in _LINE.split(question.text("The reference")) if one.strip()]
            return json.dumps({"core": core, "secondary": [], "changes": "each sentence of the reference"})
        wanted = question.text("The reference") or question.text("The requirements")
        score = _score(wanted, before, answer)
        if question.name == "generation":
            dimensions = dict.fromkeys(("instruction", "correctness", "effectiveness", "readability", "turns"), score)
            return json.dumps({"basis": "", **dimensions, "safety": 1, "errors": []})
        return json.dumps({"basis": "", "score": score, "errors": []})


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text.casefold())


def _is_met(criterion: str, before: str, answer: str) -> bool:
    wanted, asked = set(_tokens(criterion)), set(_tokens(before))
    own = [line for line in [set(_tokens(one)) for one in (answer, *_LINE.split(answer))] if line - asked]
    return bool(wanted) and any(len(wanted & line) >= 0.9 * len(wanted) for line in own)


def _score(wanted: str, before: str, answer: str) -> int:
    asked, had = set(_tokens(before)), set(_tokens(answer))
    needed = set(_tokens(wanted)) - asked
    if not needed:  # a reference that repeats the question's words: only the reference itself is as good
        return 5 if _tokens(answer) == _tokens(wanted) and had else 1
    share = len(needed & had) / len(needed)
    return next((score for least, score in ((0.9, 5), (0.7, 4), (0.4, 3), (0.15, 2)) if share >= least), 1)


class ScriptedJudge:
    """Plays replies by the name of the question; derive a class with a `script` of your own.

    ::

        class Harsh(ScriptedJudge):
            script = {"rubric": '{"met": false}'}

    A reply may be a function of the question and the sample, which has `repeat`, the number of the repeat.
    """

    floor = True
    spec = "scripted"
    script: ClassVar[Mapping[str, str | Callable[..., str]]] = {}

    def __init__(self, seat: str = "judge") -> None:
        self.seat = seat

    async def say(self, question: QuestionTexts, sample: object, said: Sequence[str] = ()) -> str:
        """Return the reply of the script; raises KeyError for a question that it does not have."""
        reply = self.script[question.name]
        return reply if isinstance(reply, str) else reply(question, sample)
