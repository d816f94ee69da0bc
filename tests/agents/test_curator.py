"""The curator: one question a turn, one repair, a refusal is a refusal of the step alone."""

from pathlib import Path

import pytest
from seats import AGENT_PROMPTS, a_seat

from wardround.agents.curator import Curator
from wardround.engine.errors import ProviderError, UsageError
from wardround.engine.models.scripted import Scripted
from wardround.engine.prompts import Prompts
from wardround.engine.records import Completion, View
from wardround.scenarios.reports.reply_parsers import BODY_SYSTEMS, DISORDERS


def view(step: str, about: str = "") -> View:
    return View("curator", "", (), ("reply", "decline"), {"step": step, "about": about, "article": "Title:\nA {man}"})


async def said(step: str, *replies: str | Completion | ProviderError, about: str = "") -> tuple[str, str, Scripted]:
    model = Scripted(replies)
    action = await Curator(a_seat(model)).act(view(step, about))
    return action.verb, action.text, model


@pytest.mark.parametrize(
    ("step", "about", "asks"),
    [
        ("about", "diagnosis", "how a diagnosis was made"),
        ("about", "treatment", "how a treatment was chosen"),
        ("diagnosis", "", "### Diagnosis Results"),
        ("treatment", "", "### Selected Treatment for the Patient"),
        ("body_system", "", "\n".join(BODY_SYSTEMS)),
        ("disorder", "", "\n".join(DISORDERS)),
        ("rare", "Sporotrichosis", '"Sporotrichosis"'),
    ],
)
async def test_each_step_has_its_question(step: str, about: str, asks: str) -> None:
    verb, text, model = await said(step, "I can't.", about=about)
    assert (verb, text) == ("reply", "I can't.")
    [(messages, purpose, _)] = model.calls
    assert purpose == step
    assert [message.role for message in messages] == ["system", "user"]
    assert asks in messages[1].content
    assert "<article>\nTitle:\nA {man}\n</article>" in messages[1].content


async def test_an_unreadable_reply_is_repaired_once() -> None:
    verb, text, model = await said("about", "Perhaps it is.", "Yes")
    assert (verb, text) == ("reply", "Yes")
    messages, purpose, _ = model.calls[1]
    assert purpose == "repair"
    assert "not Yes or No" in messages[-1].content
    assert messages[-2].content == "Perhaps it is."
    assert (await said("about", "Perhaps", "Perhaps not"))[1] == "Perhaps not"


async def test_an_empty_reply_is_repaired_and_handed_on_if_it_stays_empty() -> None:
    assert (await said("disorder", " ", "Cancers"))[1] == "Cancers"
    verb, text, model = await said("disorder", "", "")
    assert (verb, text, model.count) == ("reply", "", 2)
    assert model.calls[1][0][-2].content


CASE = (
    "### Case Summary\n- Patient Information: A man of 40 with gout [{}].\n\n### Differential Diagnosis Process\nx\n\n"
    "### Final Diagnosis\nx\n\n### Diagnosis Results\nGout [2]\n"
)


@pytest.mark.parametrize(
    ("cited", "why"),
    [("9", "cites sentence 9, but the article has 2"), ("1", "say nothing of 'A man of 40 with gout.'")],
)
async def test_a_wrong_citation_is_asked_for_once_more(cited: str, why: str) -> None:
    article = "Title\n[1] A swollen toe\n\nCase\n[2] A man of 40 had gout."
    for second in (CASE.format(2), CASE.format(cited)):
        model = Scripted([CASE.format(cited), second])
        asked = View(
            "curator",
            "",
            (),
            ("reply", "decline"),
            {"step": "diagnosis", "about": "", "article": article, "numbered": True},
        )
        action = await Curator(a_seat(model)).act(asked)
        assert (action.text, model.count) == (second, 2)
        assert why in model.calls[1][0][-1].content


async def test_a_refusal_by_the_endpoint_declines_the_step() -> None:
    verb, text, _ = await said("treatment", ProviderError("refused", "content filter"))
    assert verb == "decline"
    assert "content filter" in text
    assert (await said("about", "Hm", ProviderError("refused", "content filter")))[0] == "decline"


async def test_any_other_failure_is_not_its_to_hide() -> None:
    with pytest.raises(ProviderError):
        await said("treatment", ProviderError("context_overflow", "too long"))


async def test_it_needs_a_model_and_an_article() -> None:
    with pytest.raises(UsageError, match="needs a model"):
        Curator(a_seat())
    with pytest.raises(ValueError, match="needs its step"):
        await Curator(a_seat(Scripted([]))).act(View("curator", "", (), ("reply",)))


async def test_the_prompts_are_the_users_to_replace(tmp_path: Path) -> None:
    (tmp_path / "curator").mkdir()
    (tmp_path / "curator" / "about.md").write_text("Is it on {task}? YES or NO.\n{article}")
    model = Scripted(["YES"])
    await Curator(a_seat(model, prompts=Prompts.load([AGENT_PROMPTS], tmp_path))).act(view("about", "diagnosis"))
    assert model.calls[0][0][1].content == "Is it on how a diagnosis was made? YES or NO.\nTitle:\nA {man}"
    (tmp_path / "curator" / "about.md").write_text("Is it?")
    with pytest.raises(UsageError, match="placeholders must be"):
        Prompts.load([AGENT_PROMPTS], tmp_path)
