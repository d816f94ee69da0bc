"""A model that judges as a stored evaluation does: every question is answered by the labels of its case."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from wardround.engine.records import Message
from wardround.evaluators.judges.strict_reply import word
from wardround.evaluators.reasoning.step_questions import read_reference

_TEXT = re.compile(r"^----- begin (.+?) ([0-9a-f]+) -----\n(.*?)\n----- end \1 \2 -----$", re.DOTALL | re.MULTILINE)
_HEAD = 500
CLASSES = {name: name for name in ("citation", "repetition", "reasoning", "redundancy")}


def materials(prompt: str) -> dict[str, str]:
    """The fenced texts of a prompt by label."""
    return {label: text for label, _, text in _TEXT.findall(prompt)}


class Labels:
    """Plays the labels of one model's stored replies, `rows` by case; what they do not know is redundant and not found.

    `cases` are those of the data set: a case is known by the beginning of its summary, and a reference by its text.
    """

    def __init__(self, rows: Mapping[str, Mapping[str, Any]], cases: Mapping[str, Mapping[str, Any]]) -> None:
        self._cases: dict[str, str] = {}
        self._steps: dict[tuple[str, str], Mapping[str, Any]] = {}
        self._hits: dict[tuple[str, str], bool] = {}
        self._references: dict[str, list[str]] = {}
        for case, row in rows.items():
            told = cases[case]["generate_case"]
            self._cases[_flat(told["case_summary"])[:_HEAD]] = case
            self._steps.update({(case, _flat(step["step"])): step for step in row["reasoning_eval"]})
            steps = read_reference(json.dumps({"steps": [one["step"] for one in row["gt_reasoning_eval"]]}), None)
            assert isinstance(steps, tuple)
            self._references[_flat(told["differential_diagnosis"])] = list(steps)
            text = _flat(" ".join(step["step"] for step in row["reasoning_eval"]))
            for step, one in zip(steps, row["gt_reasoning_eval"], strict=True):
                self._hits[_flat(step), text] = str(one["hit"]) == "True"

    def __call__(self, messages: Sequence[Message], purpose: str) -> str:
        """The reply to a question, the same again where a repair is asked for."""
        texts, asked = materials(messages[1].content), purpose.removesuffix(" repair")
        if asked == "reference":
            text = _flat(texts["The reference"])
            return json.dumps({"steps": next(step for said, step in self._references.items() if text.startswith(said))})
        if asked == "found":
            place = _flat(texts["The reference step"]), _flat(texts["The text"])
            return json.dumps({"found": self._hits.get(place, False)})
        if asked == "starts":
            return json.dumps({"starts": ["words that no text has"]})
        if asked == "keywords":
            return "terms of the step"
        case = self._cases[_flat(texts["The case"])[:_HEAD]]
        step = self._steps.get((case, _flat(texts["The step"])), {"efficiency": "Redundancy"})
        if asked == "step_class":
            return json.dumps({"classification": word(step["efficiency"], CLASSES)})
        return _verdict(step, texts)


def _verdict(step: Mapping[str, Any], texts: Mapping[str, str]) -> str:
    last = step["judgment_path"][-1]["judgment"]
    passage = texts.get("Passage 1", "")
    quotes = [{"passage": 1, "quote": passage}] if passage and last != "Search" else []
    return json.dumps({"judgment": last, "keywords_to_search": "more terms", "evidence": quotes})


def _flat(text: str) -> str:
    """Letters and digits only: a fence puts marks before some lines."""
    return re.sub(r"[\W_]+", "", text)
