"""Loads MedQuAD: consumers' questions with the answers of health institutes."""

from collections.abc import Iterable

from wardround.engine.records import Json
from wardround.scenarios.loaders.question_sets import question_item
from wardround.scenarios.loaders.source import Loader, Refused
from wardround.scenarios.question_item import QuestionItem


class MedQuAD(Loader):
    """MedQuAD: `{qid, qtype, focus, question, answer}`, one object a line, as open questions of medical knowledge.

    Questions without an answer are left out. Items are numbered by line, since numbers of the source are used twice.
    """

    TITLE = "MedQuAD JSONL, one object with qid, qtype, question and answer a line"

    def knows(self, record: Json) -> float:
        """Match an object with a numbered question, its type and its answer."""
        return float(isinstance(record, dict) and {"qid", "qtype", "question", "answer"} <= record.keys())

    def cases(self, number: int, name: str, record: Json) -> Iterable[QuestionItem]:
        """The open question of a record; raises Refused where it has no answer."""
        del name
        answer = record["answer"]
        if not isinstance(answer, str) or not answer.strip():
            raise Refused([("answer", "is missing, so nothing can mark an answer")])
        return [
            question_item(
                {
                    "id": f"medquad-{number:05d}",
                    "form": "free",
                    "level": "open",
                    "question": record["question"],
                    "truth": {"answers": [answer]},
                    "group": str(record.get("focus") or ""),
                    "source_group": str(record.get("focus") or ""),
                    "kind": ["medical knowledge", str(record["qtype"])],
                    "data_class": "public",
                    "provenance": {
                        "source": f"MedQuAD, {record.get('source') or 'source not stated'}",
                        "record": str(record["qid"]),
                        "licence": "CC-BY-4.0",
                    },
                }
            )
        ]
