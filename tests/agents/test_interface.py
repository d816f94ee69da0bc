"""A model doctor acts in text, by tools or as JSON: the same readings, the same log, faults asked for again, replay."""

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from examples import first_ones
from interfaces import ACTS, as_tool, as_tools, reply_of
from seats import a_seat
from serving import serving
from shell import Shell

from wardround.agents.dialogue import shape_of
from wardround.agents.doctor import LLMDoctor
from wardround.engine.errors import UsageError
from wardround.engine.models.reply import fits_schema
from wardround.engine.models.scripted import Reply, Scripted
from wardround.engine.records import Action, Completion, Json, Message, Said, View
from wardround.scenarios.parsers.moves import verb_schemas
from wardround.testing.loopback import Loopback

SCHEMAS = verb_schemas("diagnosis", ("ask", "order", "conclude"))


@pytest.fixture(autouse=True)
def _own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def a_turn(heard: Sequence[Said] = ()) -> View:
    return View("doctor", "The brief.", heard, ("reply", "ask", "order", "conclude"), schemas=SCHEMAS)


async def act(interface: str, replies: Sequence[Reply], view: View | None = None) -> tuple[Action, Scripted]:
    model = Scripted(replies)
    doctor = LLMDoctor(a_seat(model, options={"interface": interface}))
    return await doctor.act(view or a_turn()), model


@pytest.mark.parametrize("scenario", first_ones(sorted(set(ACTS) - {"orders", "nothing", "blank"}, reverse=True)))
def test_the_three_interfaces_are_read_alike_and_replay_equal(scenario: str, shell: Shell) -> None:
    plays: dict[str, list[object]] = {}
    for interface in ("text", "tools", "json"):
        spec = f"scripted/interfaces:{scenario.replace('-', '_')}_{interface}"
        words = ("--scenario", scenario, "--doctor", spec, "--interface", interface, "--limit", "2", "--repeats", "1")
        assert shell("run", *words, "--name", interface) == 0, shell.err
        assert shell("replay", interface) == 0, shell.out
        scored = shell.json("score", interface)["scores"]
        plays[interface + " scores"] = [one for one in scored if not one["name"].endswith("_seconds")]
        shown = [shell.json("show", interface, str(row)) for row in range(2)]
        plays[interface] = [
            ([(event["kind"], event.get("seat")) for event in one["events"]], one["events"][-1]["ending"])
            for one in shown
        ]
    assert plays["text"] == plays["tools"] == plays["json"]
    assert plays["text scores"] == plays["tools scores"] == plays["json scores"]


async def test_tools_are_offered_and_a_call_is_an_action() -> None:
    action, model = await act("tools", [as_tool("order", {"kind": "lab", "items": ["CBC"]})])
    assert (action.verb, action.args) == ("order", {"kind": "lab", "items": ["CBC"]})
    messages, _, options = model.calls[0]
    assert [tool["function"]["name"] for tool in options["tools"]] == ["ask", "order", "conclude"]
    assert "calling tools" in messages[0].content


async def test_a_question_by_a_tool_is_the_text_of_the_action() -> None:
    action, _ = await act("tools", [as_tool("ask", {"text": "Any pain?"})])
    assert (action.verb, action.text, action.args) == ("ask", "Any pain?", {})


async def test_json_has_the_shape_that_is_asked_for() -> None:
    said = {"verb": "conclude", "text": "", "kind": "", "items": [], "diagnosis": "Gout"}
    action, model = await act("json", [f"```json\n{json.dumps(said)}\n```"])
    assert (action.verb, action.args) == ("conclude", {"diagnosis": "Gout"})
    shape = model.calls[0][2]["shape"]
    assert shape == shape_of(SCHEMAS)
    assert fits_schema(said, shape)
    assert not fits_schema({"verb": "dance"}, shape)


BROKEN: dict[str, tuple[str, Reply]] = {
    "arguments cut off": ("tools", as_tool("order", '{"kind": "lab", "items": ["CB')),
    "arguments that are a list": ("tools", as_tool("order", "[1]")),
    "a tool that is not there": ("tools", as_tool("dance", {})),
    "nothing": ("tools", ""),
    "JSON cut off": ("json", '{"verb": "order", "items": ["CB'),
    "a verb that is not there": ("json", '{"verb": "dance"}'),
    "no verb": ("json", '{"kind": "lab"}'),
    "a verb that is a list": ("json", '{"verb": ["order"]}'),
    "a key that stands twice": ("json", '{"verb": "conclude", "diagnosis": "Lupus", "diagnosis": "Gout"}'),
    "two actions": ("json", '{"verb": "conclude", "diagnosis": "Lupus"}\n{"verb": "conclude", "diagnosis": "Gout"}'),
    "an answer among the arguments of another verb": ("json", '{"verb": "think", "diagnosis": "Gout"}'),
    "arguments with a key that stands twice": ("tools", as_tool("conclude", '{"diagnosis": "A", "diagnosis": "B"}')),
    "two calls that answer otherwise": ("tools", as_tools(*(("conclude", {"diagnosis": one}) for one in "AB"))),
    "an answer in the arguments of another tool": ("tools", as_tool("think", "DIAGNOSIS: Gout")),
}


@pytest.mark.parametrize(
    ("interface", "reply"),
    [
        ("json", 'It is clear now. {"verb": "conclude", "diagnosis": "Gout"}'),
        ("json", 'So:\n```json\n{"verb": "conclude", "diagnosis": "Gout"}\n```\nThat is all.'),
        ("json", '[{"verb": "conclude", "diagnosis": "Gout"}]'),
        ("json", '{"verb": "conclude", "arguments": {"diagnosis": "Gout"}}'),
        ("json", '{"verb": "conclude", "diagnosis": "Gout", "confidence": 0.3, "alternatives": ["Lupus"]}'),
        ("tools", as_tool("conclude", json.dumps(json.dumps({"diagnosis": "Gout"})))),
        ("tools", as_tools(*[("conclude", {"diagnosis": "Gout"})] * 2)),
    ],
)
async def test_an_action_that_is_said_once_is_found_in_whatever_is_around_it(interface: str, reply: Reply) -> None:
    action, model = await act(interface, [reply])
    assert (action.verb, action.args, model.count) == ("conclude", {"diagnosis": "Gout"}, 1)


@pytest.mark.parametrize("place", first_ones(["order", "ask", "think"], 1))
def test_an_answer_among_the_arguments_of_another_verb_is_no_answer(place: str, shell: Shell) -> None:
    spec = f"scripted/interfaces:hides_in_{place}"
    for number, scenario in enumerate(("workup", "consultation", "sequential")):
        words = ("--scenario", scenario, "--cases", "bundled:admissions", "--limit", "1", "--name", f"r{number}")
        shell("run", *words, "--doctor", spec, "--interface", "json")
        ending = shell.json("show", f"r{number}", "0")["events"][-1]["ending"]
        assert ending["cause"] != "completed"


@pytest.mark.parametrize("name", BROKEN)
async def test_a_reply_that_is_no_action_is_asked_for_once_more(name: str) -> None:
    interface, broken = BROKEN[name]
    right = reply_of("consultation", interface, "conclude", {"diagnosis": "Gout"})
    action, model = await act(interface, [broken, right])
    assert (action.verb, action.args) == ("conclude", {"diagnosis": "Gout"})
    assert [purpose for _, purpose, _ in model.calls] == ["act", "repair"]
    first, second = (messages for messages, _, _ in model.calls)
    assert second[: len(first)] == first
    if isinstance(broken, Completion):
        assert second[-1].more == {"tool_call_id": "c1"}


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        ('{"kind": "lab"}', '"verb" is missing, and must be one of: '),
        ('{"verb": null}', '"verb" is missing, and must be one of: '),
        ('{"verb": "dance"}', "\"verb\" is 'dance', and must be one of: "),
    ],
)
async def test_json_without_a_verb_of_the_game_is_told_what_is_wrong_with_it(broken: str, told: str) -> None:
    _, model = await act("json", [broken, '{"verb": "conclude", "diagnosis": "Gout"}'])
    assert told in model.calls[1][0][-1].content


@pytest.mark.parametrize("name", [name for name in BROKEN if name != "nothing"])
async def test_a_reply_that_stays_broken_is_left_to_the_scenario(name: str) -> None:
    interface, broken = BROKEN[name]
    action, _ = await act(interface, [broken, broken])
    assert action.verb == "reply"
    assert action.text.startswith("{" if name == "no verb" else "<tool_call>")


@pytest.mark.parametrize("interface", ["tools", "json"])
async def test_a_verb_that_is_not_possible_now_is_asked_for_again_and_ends_nothing(
    interface: str, shell: Shell
) -> None:
    late = reply_of("consultation", interface, "order", {"kind": "lab", "items": ["CBC"]})
    last = View("doctor", "The brief.", (), ("reply", "conclude"), schemas=SCHEMAS)
    action, model = await act(interface, [late, late], last)
    assert action.verb == "reply"
    assert "not possible now; possible: conclude" in model.calls[1][0][-1].content


@pytest.mark.parametrize("interface", first_ones(["tools", "json"], 1))
def test_one_who_only_orders_is_warned_in_the_last_turn(interface: str, shell: Shell) -> None:
    spec = f"scripted/interfaces:orders_{interface}"
    words = ("--scenario", "consultation", "--set", "max_turns=2", "--doctor", spec, "--interface", interface)
    assert shell("run", *words, "--limit", "1", "--name", "r") == 3, shell.err
    ending = shell.json("show", "r", "0")["events"][-1]["ending"]
    assert ending["cause"] in ("doctor", "parser")
    assert ending["facts"]["unusable"] == 4


async def test_text_without_a_call_or_json_is_read_by_the_scenario() -> None:
    for interface in ("tools", "json"):
        action, _ = await act(interface, ["ORDER: CBC"])
        assert (action.verb, action.text) == ("reply", "ORDER: CBC")


async def test_arguments_of_any_kind_reach_the_scenario() -> None:
    for arguments in ({"kind": 3, "items": {"a": 1}}, {"kind": "lab"}, {}):
        action, _ = await act("tools", [as_tool("order", arguments)])
        assert (action.verb, action.args) == ("order", arguments)


@pytest.mark.parametrize(
    ("interface", "said"),
    [("text", "begins with ASK:"), ("tools", "calling one of the tools"), ("json", "one JSON object")],
)
async def test_a_correction_of_the_desk_speaks_of_the_interface(interface: str, said: str) -> None:
    line = "Write one line that begins with ASK:, ORDER: or DIAGNOSIS:."
    heard = [
        Said(1, "doctor", "ask", "why?"),
        Said(2, "desk", "warning", line, {"reason": "empty", "why": "ask without a question"}),
    ]
    _, model = await act(interface, ["ORDER: CBC"], a_turn(heard))
    correction = model.calls[0][0][-1].content
    assert said in correction
    assert ("ASK:" in correction) == (interface == "text")
    assert ("ask without a question" in correction) == (interface != "text")
    demand = Said(2, "desk", "demand", "This is your last turn.\n\nDIAGNOSIS: (the disease)")
    _, model = await act(interface, ["ORDER: CBC"], a_turn([heard[0], demand]))
    last = model.calls[0][0][-1].content
    assert "This is your last turn." in last
    assert ("Whatever form of reply is described above" in last) == (interface != "text")


@pytest.mark.parametrize("interface", first_ones(["tools", "json"], 1))
@pytest.mark.parametrize("scenario", first_ones(["consultation", "sequential", "workup", "free-turn", "questions"], 2))
def test_a_whole_run_is_corrected_in_the_words_of_the_interface(scenario: str, interface: str, shell: Shell) -> None:
    spec = f"scripted/interfaces:{'blank' if scenario == 'questions' else 'nothing'}_{interface}"
    cases = ("--cases", "bundled:questions" if scenario == "questions" else "bundled")
    words = ("--scenario", scenario, *cases, "--doctor", spec, "--interface", interface, "--limit", "1")
    assert shell("run", *words, "--repeats", "1", "--name", "r") == 3, shell.err
    events = shell.json("show", "r", "0")["events"]
    calls = [event for event in events if event["kind"] == "called" and event["seat"] == "doctor"]
    sent = [message for call in calls[1:] for message in call["new"]]  # a role, a text, and more
    corrections = [text for role, text, *_ in sent if role != "assistant"]
    assert corrections
    assert all("Your last turn could not be used: " in one for one in corrections)
    assert not any(form in one for one in corrections for form in ("ASK:", "Action:", "###", "Answer:"))
    assert shell("replay", "r") == 0, shell.out


def talk(turns: int) -> list[Said]:
    heard: list[Said] = []
    for turn in range(turns):
        seq = 3 * turn
        own: dict[str, Json] = {"kind": "lab", "items": [f"test {turn}"]}
        heard.append(Said(seq, "doctor", "order", "", own) if turn % 2 else Said(seq, "doctor", "ask", f"why {turn}?"))
        heard.append(Said(seq + 1, "patient", "answer", f"answer {turn}"))
        if turn % 3 == 0:
            heard.append(Said(seq + 2, "desk", "demand", "go on"))
    return heard


@pytest.mark.parametrize("interface", ["text", "tools", "json"])
async def test_each_turn_begins_with_the_messages_of_the_turn_before(interface: str) -> None:
    sent: list[tuple[Message, ...]] = []
    options = []
    for turns in range(6):
        _, model = await act(interface, ["ORDER: CBC"], a_turn(talk(turns)))
        sent.append(model.calls[0][0])
        options.append(model.calls[0][2])
    for before, after in pairwise(sent):
        assert after[: len(before)] == before
    assert all(one == options[0] for one in options)


async def test_every_call_of_a_tool_has_its_result() -> None:
    own: dict[str, Json] = {"kind": "lab", "items": ["CBC"]}
    heard = [Said(1, "doctor", "order", "", own), Said(2, "doctor", "order", "", own)]
    _, model = await act("tools", ["ORDER: CBC"], a_turn(heard))
    messages = model.calls[0][0]
    assert [message.role for message in messages] == ["system", "user", "assistant", "tool", "assistant", "tool"]
    calls = [
        message.more["tool_calls"][0]["id"] for message in messages if message.more and "tool_calls" in message.more
    ]
    results = [message.more["tool_call_id"] for message in messages if message.role == "tool" and message.more]
    assert calls == results == ["call_1", "call_2"]


async def test_a_scenario_without_verbs_says_so() -> None:
    with pytest.raises(UsageError, match="use --interface text"):
        await act("tools", ["x"], View("doctor", "brief", (), ("reply",)))


def test_an_unknown_interface_is_named(shell: Shell) -> None:
    assert shell("run", "--doctor", "scripted/x", "--interface", "morse") == 2
    assert "morse" in shell.err


def test_a_doctor_without_a_model_takes_no_interface(shell: Shell) -> None:
    assert shell("run", "--doctor", "gold", "--interface", "tools") == 2
    assert "takes no option 'interface'" in shell.err


def test_tools_over_the_wire(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    call = {"id": "x", "type": "function", "function": {"name": "conclude", "arguments": '{"diagnosis": "Gout"}'}}
    server = Loopback(lambda messages, model: {"content": None, "tool_calls": [call], "finish_reason": "tool_calls"})
    with serving(server) as url:
        words = ("--doctor", "openai/any", "--base-url", url, "--interface", "tools", "--limit", "1", "--repeats", "1")
        assert shell("run", *words, "--name", "t") == 0, shell.err
    asked = server.asked[-1].json()
    assert [tool["function"]["name"] for tool in asked["tools"]] == ["order", "conclude"]
    assert shell("replay", "t") == 0, shell.out


@pytest.mark.parametrize("shapes", first_ones(["refused", "ignored", "taken"], 1))
def test_json_works_whatever_an_endpoint_does_with_schemas(shapes: Any, shell: Shell) -> None:
    act = json.dumps({"verb": "conclude", "kind": "", "items": [], "diagnosis": "Gout"})
    server = Loopback(lambda messages, model: act, shapes=shapes)
    with serving(server) as url:
        words = ("--doctor", "openai/any", "--base-url", url, "--interface", "json", "--limit", "1", "--repeats", "1")
        assert shell("run", *words, "--name", "j") == 0, shell.err
    assert shell.json("show", "j", "0")["events"][-1]["ending"]["facts"]["answer"] == {"diagnosis": "Gout"}
    assert shell("replay", "j") == 0, shell.out
