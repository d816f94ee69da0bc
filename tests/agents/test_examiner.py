"""The examiner: answers from the view's record alone, each with its citation."""

import pytest

from wardround.agents.examiner import Examiner
from wardround.engine.records import Json, View

ROW = {"ref": "labs[0]", "kind": "lab", "name": "Sodium", "text": "Sodium: 128 [low]", "normal": False, "detail": ""}
PE = {"ref": "examination[0]", "kind": "examination", "name": "Abdomen", "text": "Soft", "normal": True, "detail": ""}


def view(order: Json, policy: str = "strict") -> View:
    return View("examiner", "Look it up.", (), ("answer",), {"record": [ROW, PE], "policy": policy, "order": order})


async def test_an_answer_cites_the_record_and_tells_its_text() -> None:
    action = await Examiner().act(view({"kind": "lab", "items": ["Na", "potassium", "blorb"], "text": "Na"}))
    assert action.verb == "answer"
    states = [(line["asked"], line["state"], line["refs"]) for line in action.args["answers"]]
    assert states == [
        ("Na", "reported", ["labs[0]"]),
        ("potassium", "not_performed", []),
        ("blorb", "unknown", []),
    ]
    assert action.text.splitlines()[0] == "Sodium: 128 [low]"
    first = {"asked", "kind", "state", "refs", "test", "rule", "score", "text", "points", "assumed"}
    assert set(action.args["answers"][0]) == first


async def test_items_go_before_text_and_text_is_split() -> None:
    action = await Examiner().act(view({"kind": "any", "items": [], "text": "1. Sodium\n2. Abdominal exam"}))
    assert [line["refs"] for line in action.args["answers"]] == [["labs[0]"], ["examination[0]"]]


async def test_all_of_an_examination_and_the_policy() -> None:
    action = await Examiner().act(view({"kind": "examination", "items": [], "text": ""}))
    assert action.text == "Abdomen: Soft"
    action = await Examiner().act(view({"kind": "lab", "items": ["potassium"]}, "normal-default"))
    assert action.args["answers"][0]["assumed"] is True


async def test_an_order_that_names_nothing_is_asked_back() -> None:
    action = await Examiner().act(view({"kind": "lab", "items": [], "text": " "}))
    assert action.args["answers"] == []
    assert "name" in action.text


async def test_without_an_order_it_says_what_is_missing() -> None:
    with pytest.raises(ValueError, match="without an order"):
        await Examiner().act(view(None))
