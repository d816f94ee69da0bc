"""The scispaCy linker, for real, in an environment of its own (it holds numpy below 2; make test-all)."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
NEEDED = ("scispacy==0.6.2", "spacy>=3.8,<3.9", "numpy<2")
SCRIPT = """
import json, sys
from wardround.scenarios.diseases.linker import Concept
from wardround.scenarios.diseases.knowledge import OWN, Knowledge, conditions
from wardround.scenarios.diseases.scispacy_linker import ScispacyLinker

concepts = (*conditions()[0], Concept("X:1", "Lobular capillary hemangioma"))
knowledge = Knowledge(concepts, (OWN,) * len(concepts), {})
summary = {}
for name, linker in (("exact", ScispacyLinker(knowledge)), ("hnsw", ScispacyLinker(knowledge, hnsw=True))):
    links = {said: linker.link(said) for said in json.loads(sys.argv[1])}
    text = "Lobular capillary hemangioma (LCH) was seen. All in all the LCH bled; type 2 diabetes and COPD."
    summary[name] = {
        "links": {said: [one.concept.name, one.rule, one.score] if one else None for said, one in links.items()},
        "mentions": [[one.text, one.concept.name, text[one.start : one.end]] for one in linker.mentions(text)],
        "candidates": [one.concept.name for one in linker.candidates("rheumatoid artritis", 3)],
        "others": [other.name for other in linker.link("DM").others],
        "empty": [linker.link(""), list(linker.mentions(""))],
    }
print(json.dumps(summary))
"""
SAID = {
    "heart attack": "Myocardial infarction",
    "MI": "Myocardial infarction",
    "type 2 diabetes mellitus": "Type 2 diabetes mellitus",
    "rheumatoid artritis": "Rheumatoid arthritis",
    "apendicitis": "Appendicitis",
    "ulcerative collitis": "Ulcerative colitis",
    "aspirin": None,
}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What both indexes say, from an environment made for it."""
    uv = shutil.which("uv") or str(Path(sys.executable).with_name("uv"))
    if not Path(uv).exists():
        pytest.skip("uv is not installed: `pip install uv`")
    python = str(tmp_path_factory.mktemp("scispacy") / "env" / "bin" / "python")
    run(uv, "venv", "--python", sys.executable, str(Path(python).parents[1]))
    run(uv, "pip", "install", "--python", python, *NEEDED, str(ROOT))
    out = run(python, "-W", "ignore", "-c", SCRIPT, json.dumps(list(SAID)))
    found: dict[str, Any] = json.loads(out)
    return found


def run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=3500, cwd="/")
    assert done.returncode == 0, f"{' '.join(command[:6])}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout


@pytest.mark.scispacy
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("index", ["exact", "hnsw"])
def test_it_links_what_the_default_links(told: dict[str, Any], index: str) -> None:
    links = told[index]["links"]
    assert {said: one and one[0] for said, one in links.items()} == SAID
    assert links["MI"][1] == "exact"
    assert links["apendicitis"][1] == "cosine"
    assert 0.7 <= links["apendicitis"][2] < 1
    assert told[index]["candidates"][0] == "Rheumatoid arthritis"
    assert told[index]["others"] == ["Dermatomyositis"]
    assert told[index]["empty"] == [None, []]


@pytest.mark.scispacy
@pytest.mark.timeout(7200)
def test_it_finds_names_and_the_text_s_own_abbreviations(told: dict[str, Any]) -> None:
    mentions = told["exact"]["mentions"]
    assert all(text == placed for text, _, placed in mentions)
    assert [(text, name) for text, name, _ in mentions] == [
        ("Lobular capillary hemangioma", "Lobular capillary hemangioma"),
        ("LCH", "Lobular capillary hemangioma"),
        ("LCH", "Lobular capillary hemangioma"),
        ("type 2 diabetes", "Type 2 diabetes mellitus"),
        ("COPD", "Chronic obstructive pulmonary disease"),
    ]
