"""Images of cases and questions: read beside their file, by reference in the log, whole on the wire."""

import base64
import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from serving import serving
from shell import Shell

from wardround.engine.records import Json, Message
from wardround.scenarios.case import image_reference
from wardround.scenarios.loaders.load import bundled, load, problems
from wardround.testing.loopback import Loopback
from wardround.testing.wire import Reply

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
URL = "data:image/png;base64," + base64.b64encode(PIXEL).decode()
STRIP = {"name": "Rhythm strip", "text": "Broad complexes at 34/min.", "images": ["pictures/strip.png"]}
CASE: dict[str, Json] = {
    "id": "one", "opening": "He fainted.", "truth": {"diagnosis": "Complete heart block"}, "data_class": "public",
    "provenance": {"source": "here"}, "investigations": [STRIP, {"name": "Sodium", "text": "138"}],
}  # fmt: skip
QUESTION = {
    "id": "q", "form": "choice", "question": "What is shown?", "options": ["A dot", "A line"], "images": ["dot.png"],
    "truth": {"option": 0}, "provenance": {"source": "here"}, "data_class": "public",
}  # fmt: skip
TEXTS = ("ORDER: Rhythm strip", "ORDER: Sodium", "DIAGNOSIS READY: Complete heart block")


@pytest.fixture(autouse=True)
def _own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def written(folder: Path, record: Json, image: bytes | None = PIXEL) -> Path:
    """A file of one record, with the images that it names."""
    path = folder / "items.jsonl"
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    (folder / "pictures").mkdir(exist_ok=True)
    if image is not None:
        (folder / "pictures" / "strip.png").write_bytes(image)
        (folder / "dot.png").write_bytes(image)
    return path


def images_sent(server: Loopback) -> list[list[str]]:
    """The images of each request, as the model gets them."""
    return [
        [
            part["image_url"]["url"]
            for message in asked.json()["messages"]
            if isinstance(message["content"], list)
            for part in message["content"]
            if part["type"] == "image_url"
        ]
        for asked in server.asked
    ]


def answer(messages: Sequence[Message], model: str) -> str:
    """The next act of a consultation, in its own text, as a call of a tool if tools are offered."""
    del model
    place = sum(message.role == "assistant" for message in messages)
    return TEXTS[min(place, len(TEXTS) - 1)]


def called(messages: Sequence[Message], model: str) -> Mapping[str, Json]:
    """The same acts as calls of tools."""
    del model
    place = sum(message.role == "assistant" for message in messages)
    acts = (("order", {"kind": "any", "items": ["Rhythm strip"]}), ("conclude", {"diagnosis": "Complete heart block"}))
    name, arguments = acts[min(place, 1)]
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"role": "assistant", "content": "", "tool_calls": [{"id": "c", "type": "function", "function": function}]}


def played(shell: Shell, cases: Path, scenario: str, server: Loopback, *words: str) -> int:
    """Play the file once with a model doctor at the server; returns the exit code."""
    with serving(server) as url:
        asked = ("--cases", str(cases), "--scenario", scenario, "--doctor", "openai/m", "--base-url", url)
        return shell("run", *asked, "--repeats", "1", *words)


@pytest.mark.parametrize(("interface", "reply"), [("text", answer), ("json", answer), ("tools", called)])
def test_a_result_that_is_ordered_brings_its_image_and_no_other_does(
    interface: str, reply: Reply, shell: Shell, tmp_path: Path
) -> None:
    other = "https://example.org/film.png"
    film = {"name": "Chest film", "text": "Clear.", "images": [other]}
    cases = written(tmp_path, {**CASE, "investigations": [*CASE["investigations"], film]})
    server = Loopback(reply)
    words = ("--interface", interface, "--set", "images=shown", "--name", "seen")
    assert played(shell, cases, "consultation", server, *words) == 0, shell.err
    sent = [images for images in images_sent(server) if images]
    assert sent, "a model is sent the image"
    assert all(images == [URL] for images in sent), "once each time, and the film was not ordered"
    shown = json.dumps(shell.json("show", "seen", "one@1"))
    assert URL not in shown
    assert other not in shown
    assert image_reference(URL) in shown
    assert shell("replay", "seen") == 0, shell.out


def test_without_the_setting_no_image_is_sent(shell: Shell, tmp_path: Path) -> None:
    server = Loopback(answer)
    assert played(shell, written(tmp_path, CASE), "consultation", server) == 0, shell.err
    assert server.total > 1
    assert not any(images_sent(server))


def test_an_image_in_place_of_its_report(shell: Shell, tmp_path: Path) -> None:
    server = Loopback(answer)
    assert played(shell, written(tmp_path, CASE), "consultation", server, "--set", "images=alone") == 0, shell.err
    bodies = " ".join(asked.body.decode() for asked in server.asked)
    assert "Broad complexes" not in bodies
    assert "Electrocardiogram: see the image." in bodies
    assert "138" in bodies, "a result without an image keeps its report"


def test_oracle_shows_the_images_of_the_whole_report(shell: Shell, tmp_path: Path) -> None:
    server = Loopback(lambda messages, model: "### Answer\nComplete heart block")
    assert played(shell, written(tmp_path, CASE), "oracle", server, "--set", "images=shown") == 0, shell.err
    assert [URL] in images_sent(server)


def test_a_question_with_an_image_is_played_only_if_asked(shell: Shell, tmp_path: Path) -> None:
    cases = written(tmp_path, QUESTION)
    server = Loopback(lambda messages, model: "A")
    assert played(shell, cases, "questions", server) != 0
    assert "it has images: play it with --set images=shown" in shell.err
    assert played(shell, cases, "questions", server, "--set", "images=shown", "--name", "q") == 0, shell.err
    assert [URL] in images_sent(server)
    assert shell("replay", "q") == 0, shell.out


@pytest.mark.parametrize(
    ("image", "content", "said"),
    [
        ("pictures/none.png", None, "cannot be read: No such file or directory"),
        ("pictures/strip.png", b"%PDF-1.7", "is no PNG, JPEG, GIF or WebP image"),
        ("../other.png", PIXEL, "does not lie beside the file"),
        ("/etc/hostname", PIXEL, "does not lie beside the file"),
    ],
)
def test_an_image_that_cannot_be_used_is_named(image: str, content: bytes | None, said: str, tmp_path: Path) -> None:
    path = written(tmp_path, {**CASE, "investigations": [{**STRIP, "images": [image]}]}, content)
    [problem] = problems(path)
    assert (problem.line, problem.case, problem.field) == (1, "one", "investigations[0].images[0]")
    assert said in problem.message


def test_an_export_has_the_images_that_the_model_got(shell: Shell, tmp_path: Path) -> None:
    server = Loopback(lambda messages, model: "Answer: A")
    words = ("--set", "images=shown", "--name", "q")
    assert played(shell, written(tmp_path, QUESTION), "questions", server, *words) == 0, shell.err
    assert shell("export", "q", "--to", "chat", "--out", tmp_path / "q.chat") == 0, shell.err
    [line] = (tmp_path / "q.chat").read_text().splitlines()
    [image] = [part for part in json.loads(line)["messages"][1]["content"] if part["type"] == "image_url"]
    assert image["image_url"]["url"] == URL
    assert shell("export", "q", "--to", "inspect", "--out", tmp_path / "q.eval") == 0, shell.err
    with zipfile.ZipFile(tmp_path / "q.eval") as log:
        [sample] = [json.loads(log.read(name)) for name in log.namelist() if name.startswith("samples/")]
    assert sample["messages"][1]["content"][1] == {"type": "image", "image": URL, "detail": "auto"}


def test_two_bundled_cases_have_an_image() -> None:
    cases = {case.id: case for case in load(bundled("stations")[0])}
    found = {name: sum(len(part.images) for part in case.investigations) for name, case in cases.items()}
    assert {name: number for name, number in found.items() if number} == {"ws-005": 1, "ws-007": 1}
    strip = cases["ws-007"].investigations[-1].images[0]
    assert strip.startswith("data:image/png;base64,")
