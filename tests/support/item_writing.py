"""A writer and a checker of middle-level items without a language model, and a choice set for them."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from wardround.engine.records import Message

NEW = {"q1": "Encephalitis", "q2": "Amiloride", "q3": "股动脉"}
"""What the scripted writer puts in the right option's place."""


def choice(number: int, question: str, options: Sequence[str], right: int, **more: object) -> str:
    """A line of a choice set of our own."""
    made: dict[str, object] = {
        "id": f"q{number}",
        "form": "choice",
        "question": question,
        "options": list(options),
        "truth": {"option": right},
        "provenance": {"source": "test"},
        "data_class": "public",
    }
    return json.dumps({**made, **more}, ensure_ascii=False)


def choice_set(where: Path) -> Path:
    """Three questions of which items can be made, and one for each rule of reading that drops it."""
    lines = [
        choice(1, "A man has fever and a stiff neck. What is likely?", ["Meningitis", "Migraine", "Gout", "Otitis"], 0),
        choice(2, "Which diuretic acts on the loop?", ["Mannitol", "Furosemide", "Spironolactone"], 1, group="Oedema"),
        choice(3, "睾丸动脉通常发自哪条血管？", ["髂内动脉", "髂外动脉", "腹主动脉", "肠系膜下动脉"], 2, language="zh"),
        choice(4, "Which is right?", ["Aspirin", "Heparin", "All of the above"], 2),
        choice(5, "Is it so?", ["yes", "no"], 0),
        choice(6, "What does the picture show?", ["A nevus", "A melanoma"], 1, images=["https://example.org/a.png"]),
        choice(7, "Twice the same?", ["Iron", "iron", "Zinc"], 0),
        choice(8, "Gout is caused by urate.", [], 0, form="statement", truth={"holds": True}),
        '{"id": "q9", "form": "choice"}',
    ]
    path = where / "choices.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def fields_of(asked: str) -> Mapping[str, str]:
    """The labelled lines of a question to the writer or the checker."""
    return dict(re.findall(r"(?m)^(Question|Right answer|Given option|Statement|New option):[ \n](.*)$", asked))


def written(messages: Sequence[Message], model: str = "") -> str:
    """What a good writer and a fair checker say: a function of the messages alone."""
    del model
    asked = messages[1].content if len(messages) > 1 else messages[0].content
    fields = fields_of(asked)
    if "Statement: <the statement>" in asked:
        return (
            f"Statement: To the question {fields['Question'].rstrip('?？')!r} the answer is {fields['Given option']}."
        )
    if "Distractor: <" in asked:
        right = fields["Right answer"]
        return f"Distractor: {dict(zip(('Meningitis', 'Furosemide', '腹主动脉'), NEW.values(), strict=True))[right]}"
    if "Verdict: <" in asked:
        return "Why: it fits.\nVerdict: yes"
    return "pong"


def instead(mark: str, *replies: str) -> Callable[[Sequence[Message], str], str]:
    """The same, but what holds `mark` is answered with these replies in turn; the last one is repeated."""
    asked: list[str] = []

    def said(messages: Sequence[Message], model: str) -> str:
        if mark not in "\n".join(one.content for one in messages):
            return written(messages, model)
        asked.append(mark)
        return replies[min(len(asked), len(replies)) - 1]

    return said
