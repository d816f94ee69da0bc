"""Cases built from case reports end to end: the run, the flow table, bad files and bad replies."""

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from curating import answered, flow, instead, jats, pmc_folder, settings
from examples import first_rows

from wardround.api import run
from wardround.builds import CaseBuild
from wardround.engine.batch import Progress
from wardround.engine.errors import EgressError, UsageError
from wardround.engine.records import Message
from wardround.replay_run import replay_run
from wardround.runs.control import status
from wardround.runs.settings import validate_settings
from wardround.runs.stored_run import Run
from wardround.scenarios.loaders.census import census
from wardround.scenarios.loaders.load import load
from wardround.scoring.score import score_run
from wardround.testing.loopback import Loopback
from wardround.testing.memory_store import MemoryStore
from wardround.testing.wire import Rates

CALLS = 6
"""Calls that one of our articles needs: two of relevance, two cases, two strata."""


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")


@pytest.fixture
async def server() -> AsyncIterator[Loopback]:
    async with Loopback(answered) as running:
        yield running


@pytest.fixture
def pmc(tmp_path: Path) -> Path:
    """A folder of eight articles, of which four can become cases."""
    return pmc_folder(tmp_path)


async def test_a_folder_becomes_cases_and_every_loss_is_counted(tmp_path: Path, pmc: Path, server: Loopback) -> None:
    out, store = tmp_path / "cases.jsonl", MemoryStore()
    built = await CaseBuild(out).begin(
        settings(pmc, server.base_url, {"published_after": "2024-06-30"}), store, Progress()
    )
    told = flow(built)
    assert told["readable"] == (8, 0)
    assert told["unique"] == (8, 1)
    assert told["article_type"] == (7, 1)
    assert told["published_after"] == (6, 1)
    assert told["body"] == (5, 1)
    assert told["relevant"] == (4, 1)
    assert told["restructured"] == (6, 0)
    assert told["schema"] == (6, 0)
    cases = list(load(out))
    assert [case.id for case in cases] == [f"PMC{n}-{kind}" for n in (1, 2, 3) for kind in ("diagnosis", "treatment")]
    assert {case.data_class for case in cases} == {"public"}
    assert cases[0].provenance.licence == "CC-BY-4.0"
    assert str(cases[0].provenance.dated) == "2024-08-03"
    assert cases[0].truth.diagnosis == "lymphocutaneous sporotrichosis"
    assert cases[0].category.disorders == ("Infections",)
    assert cases[0].category.rare is None
    checked = census(out)
    assert checked.problems == ()
    assert checked.leaks == ()
    account = beside(out)
    assert (account["articles"], account["cases"], account["kinds"]) == (8, 6, {"diagnosis": 3, "treatment": 3})
    steps = account["flow"]
    assert [(step["in"] - step["dropped"]) == step["out"] for step in steps] == [True] * len(steps)
    assert account["dropped"] == [{"id": "PMC4", "rule": "relevant", "why": "it is about neither", "evidence": []}]
    assert {lost["article"] for lost in account["skipped"]} == {"PMC1", "PMC5", "PMC6", "PMC7"}
    assert account["spent"]["curator"]["calls"] == server.total - 1 == 3 * CALLS + 2


def beside(out: Path) -> Any:
    return json.loads(Path(f"{out}.flow.json").read_text())


@pytest.mark.long
async def test_the_run_is_a_run_like_any_other(tmp_path: Path, pmc: Path, server: Loopback) -> None:
    built = await CaseBuild(tmp_path / "c.jsonl").begin(settings(pmc, server.base_url), MemoryStore(), Progress())
    made = built.run
    assert made is not None
    assert [found.error async for found in replay_run(made)] == [""] * len(await made.episodes())
    assert (await status(made)).spent["curator"].calls == server.total - 1
    recorded = settings(pmc, server.base_url, name="again", seat={"spec": "recorded:r", "base_url": ""})
    asked = server.total
    again = await CaseBuild(tmp_path / "again.jsonl").begin(recorded, made.store, Progress())
    assert server.total == asked
    assert again.account.made == built.account.made
    assert (tmp_path / "again.jsonl").read_text() == (tmp_path / "c.jsonl").read_text()
    with pytest.raises(UsageError, match="there is nothing to score"):
        await score_run(made)


async def test_nothing_left_to_ask_writes_no_file_and_a_table_says_why(
    tmp_path: Path, pmc: Path, server: Loopback
) -> None:
    out = tmp_path / "c.jsonl"
    built = await CaseBuild(out).begin(
        settings(pmc, server.base_url, {"published_after": "2030-01-01"}), MemoryStore(), Progress()
    )
    assert built.run is None
    assert not out.exists()
    assert not out.with_suffix(".jsonl.flow.json").exists()
    assert flow(built)["published_after"] == (6, 6)
    assert "no case was built: rule published_after" in built.account.text()
    assert server.total == 0


async def test_a_bad_file_stops_the_build_before_a_call_or_is_counted(
    tmp_path: Path, pmc: Path, server: Loopback
) -> None:
    (pmc / "9.xml").write_text("<article><front>")
    out = tmp_path / "c.jsonl"
    with pytest.raises(UsageError, match=r"9\.xml: line 1, column .*--on-bad-row skip"):
        await CaseBuild(out).begin(settings(pmc, server.base_url), MemoryStore(), Progress())
    assert (server.total, out.exists()) == (0, False)
    built = await CaseBuild(out).begin(
        settings(pmc, server.base_url, {"on_bad_row": "skip"}), MemoryStore(), Progress()
    )
    assert flow(built)["readable"] == (9, 1)
    assert sum(built.account.made.values()) > 0
    said = built.account.text()
    assert "left out before the model was asked (" in said
    assert "9.xml: line 1, column " in said


@pytest.mark.parametrize(
    ("reply", "rule", "why"),
    [
        ("The patient is a man of 40. He was ill, and we cured him.", "answered", "parser/unreadable"),
        ('{"case_summary": "A man", "diagn', "answered", "parser/unreadable"),
        ("", "answered", "curator/no_answer"),
        ("I'm sorry, but I cannot help with medical content.", "restructured", "the model declined"),
    ],
    ids=["prose", "half JSON", "empty", "refusal"],
)
async def test_a_bad_reply_is_a_counted_drop(tmp_path: Path, pmc: Path, reply: str, rule: str, why: str) -> None:
    async with Loopback(instead("### Case Summary", reply)) as server:
        built = await CaseBuild(tmp_path / "c.jsonl").begin(settings(pmc, server.base_url), MemoryStore(), Progress())
    lost = [drop for drop in built.account.dropped if drop["rule"] == rule]
    assert len(lost) == 4
    assert all(str(drop["why"]).startswith(why) for drop in lost)
    assert built.account.made["treatment"] == (4 if rule == "restructured" else 0)


def reading(verdicts: Mapping[str, str], wrong: str = "") -> Callable[[Sequence[Message], str], str]:
    """The scripted curator, with `wrong` in place of its first '3 weeks', and a checker: 'same' but for `verdicts`."""

    def said(messages: Sequence[Message], model: str) -> str:
        asked = messages[1].content if len(messages) > 1 else ""
        if "Statement (" in asked:
            return next(
                (word for words, word in verdicts.items() if words in asked.partition("Statement (")[2]), "same"
            )
        reply = answered(messages, model)
        return reply.replace("3 weeks", wrong) if wrong and "### Case Summary" in asked else reply

    return said


@pytest.mark.parametrize(
    ("verdicts", "wrong", "lost"),
    first_rows(
        [
            ({}, "", {}),
            ({"enlarged lymph nodes": "contradicts"}, "", {"faithful": 4}),
            ({}, "9 weeks", {}),
            ({"9 weeks": "who knows"}, "9 weeks", {"numbers": 4}),
            ({"": "not stated"}, "", {"supported": 4}),
        ],
        2,
    ),
    ids=["same", "contradicts", "same against a rule", "unreadable: the rules decide", "not stated"],
)
async def test_a_second_reader_decides_where_it_has_a_verdict(
    tmp_path: Path, pmc: Path, verdicts: Mapping[str, str], wrong: str, lost: Mapping[str, int]
) -> None:
    async with Loopback(reading(verdicts, wrong)) as server:
        rules = {"kinds": ("diagnosis",), "second_reader": True}
        both = settings(pmc, server.base_url, rules)
        seats = {**both.seats, "checker": both.seats["curator"]}
        store = MemoryStore()
        built = await CaseBuild(tmp_path / "c.jsonl").begin(both.model_copy(update={"seats": seats}), store, Progress())
        calls = server.total
    dropped = [drop["rule"] for drop in built.account.dropped if drop["rule"] not in ("relevant",)]
    assert {rule: dropped.count(rule) for rule in set(dropped)} == lost
    assert built.account.spent["checker"]["calls"] > 20
    again = await CaseBuild(tmp_path / "d.jsonl").resume("r", store, Progress())
    assert again.account.made == built.account.made
    assert server.total == calls


async def test_a_content_filter_is_a_refusal_of_the_step(tmp_path: Path, pmc: Path) -> None:
    def treats(asked: Any) -> bool:
        return "Comprehensive Patient Profile" in asked.body.decode()

    async with Loopback(answered, faults=Rates({"filtered": 1.0}), only=treats) as server:
        built = await CaseBuild(tmp_path / "c.jsonl").begin(settings(pmc, server.base_url), MemoryStore(), Progress())
    assert built.account.made == {"diagnosis": 4, "treatment": 0}
    assert flow(built)["restructured"] == (8, 4)


async def test_a_restricted_article_goes_nowhere_unasked(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text(jats(licence=""))
    seat = {"curator": {"spec": "openai/m", "base_url": "http://example.org/v1"}}
    fields = {"cases": str(path), "scenario": "curation", "seats": seat, "set": {"rare_candidates": 0}}
    with pytest.raises(EgressError, match=r"example\.org"):
        await CaseBuild(tmp_path / "c.jsonl").begin(validate_settings(fields, "test"), MemoryStore(), Progress())


async def test_only_a_build_can_be_gone_on_with(tmp_path: Path) -> None:
    store = MemoryStore()
    played = await run("bundled:reports", "oracle", doctor="gold", store=store, limit=1)
    with pytest.raises(UsageError, match="is not a build of cases"):
        await CaseBuild(tmp_path / "c.jsonl").resume(played.name, store, Progress())
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="the folder cannot be made"):
        await CaseBuild(tmp_path / "file" / "c.jsonl").resume(played.name, store, Progress())


@pytest.mark.long
async def test_rare_diseases_are_found_by_the_linker_and_verified_by_the_model(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text(jats(title="Sporotrichosis in a gardener: a case report"))
    async with Loopback(answered) as server:
        given = settings(path, server.base_url, {"rare_candidates": 3})
        built = await CaseBuild(tmp_path / "c.jsonl").begin(given, MemoryStore(), Progress())
        assert built.run is not None
        facts = (await built.run.trajectory("PMC1@1")).ending
    assert facts is not None
    assert facts.facts["rare"] == {"Sporotrichosis": True}
    assert {case.category.rare for case in load(tmp_path / "c.jsonl")} == {True}


@pytest.mark.long
@pytest.mark.shared
async def test_the_forty_raw_articles_become_cases_that_the_check_accepts(tmp_path: Path, shared: Path) -> None:
    """With the scripted curator: it only takes sentences out of the article, so this shows the path, not good cases."""
    raw = shared / "data" / "medrbench" / "raw_case_reports_40.jsonl.gz"
    out, store = tmp_path / "c.jsonl", MemoryStore()
    async with Loopback(answered) as server:
        given = settings(raw, server.base_url, {"licence": "CC-BY-4.0"})
        built = await CaseBuild(out).begin(given, store, Progress())
    assert flow(built)["restructured"][0] == 80
    checked = census(out)
    assert checked.problems == ()
    assert checked.leaks == ()
    assert checked.cases == sum(built.account.made.values()) >= 50
    assert min(built.account.made.values()) >= 20
    assert built.run is not None
    assert [found.error async for found in replay_run(await Run.open(store, "r"))] == [""] * 40
