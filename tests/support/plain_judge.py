"""A scripted model that judges everything the same way: all steps reason, what is found bears them out."""

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence

from wardround.engine.models.scripted import Reply
from wardround.engine.records import Message
from wardround.evaluators.report.score_rows import RunScores

_PASSAGE = re.compile(
    r"^----- begin Passage 1 (\S+) -----\n(.*?)\n----- end Passage 1 \1 -----$", re.DOTALL | re.MULTILINE
)
_STEP = re.compile(r"^----- begin The step (\S+) -----\n(.*?)\n----- end The step \1 -----$", re.DOTALL | re.MULTILINE)


class PlainJudge:
    """A script; `asked` counts the calls by purpose, `before(purpose, count)` may raise or give another reply."""

    def __init__(self, before: Callable[[str, int], Reply | None] | None = None) -> None:
        self.asked: Counter[str] = Counter()
        self._before = before

    def __call__(self, messages: Sequence[Message], purpose: str) -> Reply:
        """The reply to a question."""
        self.asked[purpose] += 1
        text = messages[1].content
        if self._before and (instead := self._before(purpose, self.asked.total())) is not None:
            return instead
        purpose = purpose.partition(" #")[0]
        if purpose == "keywords":
            step = _STEP.search(text)
            assert step is not None
            return ", ".join(re.findall(r"[a-z]{7,}", step[2].lower())[:4]) or "medicine"
        if purpose in ("judgment", "bearing"):
            passage = _PASSAGE.search(text)
            quote = passage[2].split(". ")[0] if passage else ""
            bearing = {"bearing": "supports"} if purpose == "bearing" else {}
            evidence = [{"passage": 1, "quote": quote, **bearing}] if quote else []
            verdict = "correct" if quote else "search"
            return json.dumps({"judgment": verdict, "keywords_to_search": "None", "evidence": evidence})
        return json.dumps(
            {
                "step_class": {"classification": "reasoning"},
                "step_role": {"classification": "reasoning", "finding": ""},
                "opinion": {"judgment": "correct"},
                "reference": {"steps": ["What was found", "The answer"]},
                "found": {"found": True},
                "diagnosis": {"verdict": "correct"},
            }[purpose]
        )


def wrong(purpose: str, count: int) -> str:
    """A judge that calls everything wrong, as `before` of `PlainJudge`."""
    del purpose, count
    return '{"verdict": "wrong"}'


def accuracy(scores: RunScores) -> list[float | None]:
    """The accuracy of each episode of a run."""
    return [row.score("diagnosis_accuracy").value for row in scores.episodes]
