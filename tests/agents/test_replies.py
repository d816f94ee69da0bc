"""Recorded replies: every kind of file, every kind of mistake in one, and the seat that plays them."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seats import a_view

from wardround.agents.recorded import RecordedReply, Replies, read_replies
from wardround.engine.episode import Ended
from wardround.engine.errors import UsageError
from wardround.evaluators.reasoning.steps import Split, split
from wardround.scenarios.answers.diagnosis import compare
from wardround.scenarios.loaders.load import bundled, load
from wardround.scenarios.parsers.reply_text import final_answer

WRONG = ["wr-005", "wr-008", "wr-009", "wr-011", "wr-015"]
"""Cases that the hasty author of the bundled replies gets wrong."""


def written(folder: Path, text: str, name: str = "r.jsonl") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_own_lines(tmp_path: Path) -> None:
    text = (
        '{"case_id": "a", "replies": [{"text": "x", "thinking": "t"}, {"text": ""}]}\n\n'
        '{"case_id": "b", "replies": [{"text": "<think>in</think>y", "thinking": null}]}\n'
    )
    expected = {"a": (RecordedReply("x", "t"), RecordedReply("")), "b": (RecordedReply("y", "in"),)}
    assert read_replies(written(tmp_path, text)) == expected
    assert read_replies(written(tmp_path, "\ufeff" + text, "with_bom.txt")) == expected


def test_own_lines_of_two_models(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        '{"case_id": "a", "model": "m", "replies": [{"text": "1"}]}\n'
        '{"case_id": "a", "model": "n", "replies": [{"text": "2"}]}',
    )
    assert read_replies(path, "n") == {"a": (RecordedReply("2"),)}
    with pytest.raises(UsageError, match=r"2 models.*m, n"):
        read_replies(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ('{"case_id": "a", "replies": []}\n{oops}', "line 2: no valid JSON at column 2"),
        ('{"replies": []}', "line 1: the field `case_id` is missing"),
        ('{"case_id": "a"}', "line 1: the field `replies` is missing"),
        ('{"case_id": 3, "replies": []}', "line 1: `case_id` must be text, not a number"),
        ('{"case_id": "a", "replies": "x"}', "line 1: `replies` must be a list, not text"),
        ('{"case_id": "a", "replies": [3]}', r"line 1, replies\[0\]: expected an object, not a number"),
        ('{"case_id": "a", "replies": [{"text": "x"}, {"txt": "x"}]}', r"replies\[1\]: the field `text` is missing"),
        ('{"case_id": "a", "replies": [{"text": null}]}', "`text` must be text, not null"),
        ('{"case_id": "a", "replies": [{"text": "x", "thinking": 1}]}', "`thinking` must be text, not a number"),
        ('{"case_id": "a", "replies": [{"text": "x", "thought": ""}]}', "unknown field `thought`"),
        (
            '{"case_id": "a", "replies": []}\n{"case_id": "a", "replies": []}',
            "line 2: case 'a' has replies already, at .*line 1",
        ),
        ("[]", "line 1: expected an object, not a list"),
        ("[" * 100_000, "no valid JSON"),
    ],
)
def test_mistakes_in_own_lines_are_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        read_replies(written(tmp_path, text))
    assert "r.jsonl" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "model", "said"),
    [
        ("[1]", None, "it is a list"),
        ('{\n"a": 1,\n}', None, "line 3: no valid JSON"),
        ('{"a": 1}', None, "case a: expected an object, not a number"),
        ('{"a": {"accuracy": true}}', None, "holds no replies"),
        ('{"a": {"results": {"text": "x"}}}', None, "case a, results: expected an object with the field `content`"),
        ('{"a": {"results": {"content": 5}}}', None, "case a, results: `content` must be text, not a number"),
        (
            '{"a": {"m": {"content": "x"}, "n": {"content": "y"}}}',
            None,
            r"2 models; name one as replies:.*#MODEL: m, n",
        ),
        ('{"a": {"m": {"content": "x"}, "n": {"content": "y"}}}', "k", "does not hold model 'k'; it holds: m, n"),
        ('{"a": {"results": {"content": "x"}}}', "k", "leave out #MODEL"),
    ],
)
def test_mistakes_in_results_are_named(tmp_path: Path, text: str, model: str | None, said: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        read_replies(written(tmp_path, text, "r.json"), model)
    assert "r.json" in str(caught.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.json: cannot be read \(No such file"):
        read_replies(tmp_path / "none.json")
    (tmp_path / "latin.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match=r"latin\.jsonl, line 1: byte 0xff is not UTF-8"):
        read_replies(tmp_path / "latin.jsonl")


def test_results_of_several_models_and_a_case_without_reply(tmp_path: Path) -> None:
    held = {
        "a": {"m": {"content": "x", "thinking_process": "t"}, "n": {"content": "y"}},
        "b": {"m": {"content": None}, "n": {"content": ""}},
    }
    path = written(tmp_path, json.dumps(held, indent=1), "r.json")
    assert read_replies(path, "m") == {"a": (RecordedReply("x", "t"),)}
    assert read_replies(path, "n") == {"a": (RecordedReply("y"),), "b": (RecordedReply(""),)}


@given(
    st.dictionaries(st.text(min_size=1), st.lists(st.tuples(st.text(), st.text()), max_size=3), min_size=1, max_size=4)
)
def test_what_is_written_as_own_lines_is_read(
    tmp_path_factory: pytest.TempPathFactory, replies: dict[str, list[tuple[str, str]]]
) -> None:
    rows = [
        {"case_id": case, "replies": [{"text": a, "thinking": b} for a, b in said]} for case, said in replies.items()
    ]
    path = written(tmp_path_factory.mktemp("own"), "\n".join(json.dumps(row) for row in rows))
    assert {case: len(said) for case, said in read_replies(path).items()} == {
        case: len(said) for case, said in replies.items() if said
    }


async def test_the_nth_reply_is_played_at_the_nth_turn() -> None:
    said = (RecordedReply("one", "t1"), RecordedReply("two"))
    heard: list[tuple[str, str]] = []
    memo = None
    played = []
    for _ in said:
        action = await Replies(said).act(a_view(heard, memo=memo))
        played.append((action.verb, action.text, action.thinking))
        heard += [("doctor", action.text), ("desk", "go on")]
        memo = action.memo
    assert played == [("reply", "one", "t1"), ("reply", "two", "")]
    with pytest.raises(Ended, match="2 replies were recorded, and the encounter goes on"):
        await Replies(said).act(a_view(heard, memo=memo))
    assert (await Replies(said).act(a_view([("doctor", "x"), ("desk", "y")], memo=["another's"]))).text == "two"


# Counts by model: replies, with a thinking part, without an answer part, with an answer heading (issue 2, shown by 3).
FILES = {
    "oracle_diagnosis__deepseek-r1__accuracy_judge_gpt": ("", 193, 193, 0, 193),
    "oracle_diagnosis__deepseek-r1__replies_and_judged_steps": ("", 160, 160, 0, 160),
    "oracle_diagnosis__gemini2-ft__replies_and_judged_steps": ("", 160, 0, 0, 160),
    "oracle_diagnosis__o3-mini__accuracy_judge_gpt": ("", 193, 191, 0, 193),
    "oracle_diagnosis__qwen3-14b-thinking__accuracy_judge_gpt": ("", 193, 193, 1, 189),
    "oracle_diagnosis__qwq__replies_and_judged_steps": ("", 160, 0, 0, 148),
    "oracle_treatment__model_replies#o3-mini": ("o3-mini", 50, 50, 0, 50),
    "oracle_treatment__model_replies#deepseek-r1": ("deepseek-r1", 50, 50, 0, 50),
}


@pytest.mark.shared
@pytest.mark.parametrize("name", FILES)
def test_the_published_results_come_apart_for_all_models(shared: Path, name: str) -> None:
    model, count, thinking, empty, answered = FILES[name]
    path = shared / "data" / "medrbench" / "results" / f"{name.split('#', maxsplit=1)[0]}.json"
    replies = [said[0] for said in read_replies(path, model or None).values()]
    assert len(replies) == count
    assert sum(bool(reply.thinking) for reply in replies) == thinking
    assert sum(not reply.text.strip() for reply in replies) == empty
    assert sum("### Answer" in reply.text for reply in replies) == answered
    for reply in replies:
        assert not re.search(r"</?think>|^> Reasoning|^Reasoned for", reply.text, re.MULTILINE)
        if reply.thinking and reply.text:
            assert re.match(r"\s*(```)?\s*### (Resoning|Reasoning|Chain of Thought)", reply.text)


@pytest.mark.shared
def test_answers_stay_word_for_word(shared: Path) -> None:
    folder = shared / "data" / "medrbench" / "results"
    for path in sorted(folder.glob("oracle_diagnosis__*.json")):
        stored = json.loads(path.read_text(encoding="utf-8"))
        if "results" not in next(iter(stored.values())):
            with pytest.raises(UsageError, match="holds no replies"):
                read_replies(path)
            continue
        for case, (reply,) in read_replies(path, path.stem.split("__")[1]).items():
            result = stored[case]["results"]
            assert result["content"].endswith(reply.text)
            assert reply.thinking in result.get("thinking_process", result["content"])


def bundled_parts(model: str) -> dict[str, tuple[Split, Split]]:
    """Case id to the steps of the answer part and of the thinking part."""
    return {
        case: (split(reply.text), split(reply.thinking, "thinking"))
        for case, (reply,) in read_replies(Path("bundled"), model).items()
    }


def test_the_bundled_replies_answer_each_bundled_report() -> None:
    reports = [case.id for path in bundled("reports") for case in load(path)]
    for model in ("careful", "hasty"):
        replies = read_replies(Path("bundled"), model)
        assert list(replies) == reports
        assert all(final_answer(reply.text) and "<think>" not in reply.text for (reply,) in replies.values())


def test_the_bundled_replies_are_named_as_they_are_asked_for() -> None:
    with pytest.raises(UsageError, match=r"replies:bundled#MODEL: careful, hasty"):
        read_replies(Path("bundled"))
    with pytest.raises(UsageError, match="replies bundled does not hold model 'x'; it holds: careful, hasty"):
        read_replies(Path("bundled"), "x")


def test_a_file_called_bundled_is_read_by_its_whole_path(tmp_path: Path) -> None:
    text = '{"case_id": "a", "replies": [{"text": "mine"}]}'
    assert read_replies(written(tmp_path, text, "bundled")) == {"a": (RecordedReply("mine"),)}


def test_the_careful_author_reasons_in_tagged_steps_and_thinks_in_paragraphs() -> None:
    parts = bundled_parts("careful")
    assert {formal.how for formal, _ in parts.values()} == {"tags"}
    assert {len(formal.steps) for formal, _ in parts.values()} == {5, 6, 7}
    thinking = {case: len(thought.steps) for case, (_, thought) in parts.items() if thought.steps}
    assert thinking == dict.fromkeys((f"wr-{n:03}" for n in (1, 2, 3, 5, 6, 8, 11, 14, 16)), 3)
    assert {thought.reason for case, (_, thought) in parts.items() if case not in thinking} == {"no_thinking"}


def test_the_hasty_author_leaves_what_an_evaluator_must_bear() -> None:
    parts = {case: formal for case, (formal, _) in bundled_parts("hasty").items()}
    assert parts["wr-013"] == Split((), reason="no_reasoning")
    assert (parts["wr-010"].how, len(parts["wr-010"].steps)) == ("lines", 1)
    others = [formal for case, formal in parts.items() if case not in ("wr-010", "wr-013")]
    assert {formal.how for formal in others} == {"tags"}
    assert {len(formal.steps) for formal in others} == {5, 6, 7}
    to_the_judge = [case for case, formal in parts.items() if any("count every step" in step for step in formal.steps)]
    assert to_the_judge == ["wr-003"]


# One sentence of each false step, so that whoever corrects the texts sees that they are wrong on purpose.
FALSE = {
    "wr-001": ["inherited in an autosomal dominant manner"],
    "wr-002": ["crash diets are not triggers of porphyria"],
    "wr-003": ["is not an infection with a bacterium"],
    "wr-004": ["are not women below the age of 40"],
    "wr-005": ["Pain and numbness belong to myasthenia", "Acetylcholine receptor antibodies are typical of it"],
    "wr-006": ["cortisol with a high ACTH is not diagnostic"],
    "wr-007": ["is not an indolent B-cell neoplasm"],
    "wr-008": ["does not come from sanding or burning old paint"],
    "wr-009": ["Corkscrew hairs are a sign of leukaemia"],
    "wr-010": ["passed on from person to person by coughing"],
    "wr-011": ["migraine after the age of 60 is not unusual"],
    "wr-012": ["Methotrexate is an option in a ruptured ectopic pregnancy"],
    "wr-014": ["The kidneys do not belong to the classic triad"],
    "wr-015": ["palms, soles and mucous membranes are not spared", "primary syphilis is always very painful"],
    "wr-016": ["is not a disorder from deficiency of thiamine", "glucose should be given before thiamine"],
}


def test_the_false_steps_are_those_that_are_meant_to_be() -> None:
    hasty = {case: formal.steps for case, (formal, _) in bundled_parts("hasty").items()}
    for case, claims in FALSE.items():
        assert [sum(claim in step for step in hasty[case]) for claim in claims] == [1] * len(claims)
    careful = "\n".join(step for formal, _ in bundled_parts("careful").values() for step in formal.steps)
    assert not [claim for claims in FALSE.values() for claim in claims if claim in careful]


@pytest.mark.parametrize(("model", "wrong"), [("careful", []), ("hasty", WRONG)])
def test_the_authors_answers_are_right_or_wrong_as_meant(model: str, wrong: list[str]) -> None:
    truths = {case.id: case.truth for path in bundled("reports") for case in load(path)}
    replies = read_replies(Path("bundled"), model)
    missed = [case for case, (reply,) in replies.items() if not compare(final_answer(reply.text), truths[case]).match]
    assert missed == wrong
