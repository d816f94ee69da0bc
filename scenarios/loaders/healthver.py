"""Questions of HealthVer: what a passage of evidence says about a claim."""

from collections.abc import Mapping

from wardround.scenarios.loaders.question_sets import question_item
from wardround.scenarios.loaders.source import Refused
from wardround.scenarios.question_item import QuestionItem

HEALTHVER = "HealthVer"
COLUMNS = {name: name for name in ("id", "evidence", "claim", "label", "question")}
"""Columns of its tables by our names."""
_LABELS = ("Supports", "Refutes", "Neutral")
_OPTIONS = ("It supports the claim.", "It refutes the claim.", "It neither supports nor refutes the claim.")


def healthver_question(row: Mapping[str, str]) -> QuestionItem:
    """The choice of a row, with its evidence as context; items of one claim are of one source group.

    Raises Refused for another label, and for a row without claim or evidence.
    """
    wrong = [(name, "must not be blank") for name in ("id", "evidence", "claim") if not row.get(name)]
    if row.get("label") not in _LABELS:
        wrong.append(("label", f"{row.get('label')!r} is none of {', '.join(_LABELS)}"))
    if wrong:
        raise Refused(wrong)
    return question_item(
        {
            "id": f"healthver-{row['id']}",
            "form": "choice",
            "question": f"What does this evidence say about the following claim?\n\nClaim: {row['claim']}",
            "options": list(_OPTIONS),
            "context": [row["evidence"]],
            "truth": {"option": _LABELS.index(row["label"])},
            "source_group": row["claim"],
            "kind": ["claim verification"],
            "data_class": "public",
            "provenance": {"source": HEALTHVER, "record": row["id"]},
        }
    )
