"""The examiner under the published rules: a list answered by the record's item numbers and the table of exams."""

from collections.abc import Sequence

from wardround.scenarios.case import Item
from wardround.scenarios.parsers.published import Listed
from wardround.scenarios.published import imaging, replies
from wardround.scenarios.published.tables import Absent, Tables
from wardround.scenarios.terms.examiner_lookup import Answer


def answer(record: Sequence[Item], reply: str, kind: str, tables: Tables) -> tuple[Answer, ...]:
    """What the record has of the list in `reply`, in the record's order; what matches nothing is passed over.

    `kind` is examination (all of it), lab, microbiology or imaging. Of studies with the same name the last is told.
    """
    if kind == "examination":
        return tuple(_told(reply, item, "panel", 1.0) for item in record if item.kind == kind)
    if kind == "imaging":
        return _studies(record, reply, tables)
    if kind not in ("lab", "microbiology"):
        return ()
    listed: Listed = "lab" if kind == "lab" else "microbiology"
    wanted = {str(number): hit for hit in replies.matches(listed, reply, tables) for number in hit.item_ids}
    return tuple(
        _told(wanted[item.code].key, item, wanted[item.code].rule, wanted[item.code].score / 100)
        for item in record
        if item.kind == kind and item.code in wanted
    )


def _studies(record: Sequence[Item], reply: str, tables: Tables) -> tuple[Answer, ...]:
    done = {item.name: item for item in record if item.kind == "imaging"}
    try:
        wanted = replies.studies(reply, tables)
    except Absent:
        return ()
    return tuple(_told(name, done[name], "region", 1.0) for name in imaging.answered(wanted, done, tables))


def _told(asked: str, item: Item, rule: str, score: float) -> Answer:
    text = item.text if item.kind != "examination" else f"{item.name}: {item.text}"
    return Answer(asked, item.kind, "normal" if item.normal else "reported", (item.ref,), asked, rule, score, text, 1.0)
