"""The image: what its Dockerfile names is there, nothing else gets in, and it makes a package that runs."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from image import DOCKER, ROOT, Ignored, Step, copied, steps, tool
from packaging.specifiers import SpecifierSet

DOCKERFILE = DOCKER / "Dockerfile"
IGNORED = Ignored(ROOT / ".dockerignore")
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def of(word: str) -> list[Step]:
    return [step for step in steps(DOCKERFILE) if step.word == word]


def sources() -> list[tuple[str, str]]:
    """(source, target) of each COPY from the project."""
    return [(source, step.parts[-1]) for step in of("COPY") if "--from" not in step.rest for source in step.parts[:-1]]


def defaults() -> dict[str, str]:
    pairs = [step.rest.partition("=") for step in of("ARG")]
    return {name: value for name, equals, value in pairs if equals}


def lint(file: Path) -> subprocess.CompletedProcess[str]:
    command = [tool("hadolint"), "--no-color", "--failure-threshold", "style", str(file)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=250)


def test_the_linter_has_nothing_to_say() -> None:
    done = lint(DOCKERFILE)
    assert done.returncode == 0, done.stdout


def test_the_linter_would_say_it(tmp_path: Path) -> None:
    bad = tmp_path / "Dockerfile"
    bad.write_text("FROM python:latest\nRUN cd /x && pip install uv\nUSER ward\nCMD wardround run\n")
    done = lint(bad)
    assert done.returncode == 1
    assert {"DL3007", "DL3013", "DL3025"} <= set(re.findall(r"DL\d+", done.stdout))


def test_what_is_copied_is_there_and_not_ignored() -> None:
    assert sources()
    for source, _ in sources():
        assert (ROOT / source).exists(), source
        assert source not in IGNORED, f"{source} is copied and ignored"


def test_every_folder_that_the_package_links_to_is_copied() -> None:
    links = {os.readlink(path).removeprefix("../") for path in (ROOT / "wardround").iterdir() if path.is_symlink()}
    assert links
    assert links <= {source for source, _ in sources()}


@pytest.mark.parametrize(
    "path",
    [
        ".git/HEAD",
        ".venv/bin/python",
        "docker/.env",
        "docker/keys.env",
        "docker/compose.yaml",
        "out/report.html",
        "wardround.db",
        "engine/wardround.db-wal",
        "tests/conftest.py",
        "engine/__pycache__/batch.cpython-312.pyc",
        "scenarios/loaders/__pycache__/x.pyc",
        "cases.jsonl",
    ],
)
def test_no_run_no_key_and_no_case_is_sent_to_the_builder(path: str) -> None:
    assert path in IGNORED


@pytest.mark.parametrize(
    "path", ["pyproject.toml", "wardround/py.typed", "engine/batch.py", "scenarios/data/cases/x.jsonl"]
)
def test_the_package_is_sent_to_the_builder(path: str) -> None:
    assert path not in IGNORED


def test_python_is_pinned_to_one_that_the_project_takes() -> None:
    found = re.fullmatch(r"python:(3\.\d+)-slim-[a-z]+", defaults()["BASE"])
    assert found, "a Python and a Debian by name, slim"
    assert SpecifierSet(PROJECT["requires-python"]).contains(f"{found[1]}.0")
    assert {step.parts[0] for step in of("FROM")} == {"${BASE}"}, "the stages must have the same Python"


def test_the_extras_exist() -> None:
    extras = set(defaults()["EXTRAS"].split(","))
    assert {"postgres", "litellm"} <= extras
    assert extras <= set(PROJECT["optional-dependencies"])


def test_it_is_not_root_and_hears_the_signal() -> None:
    last = [step.word for step in steps(DOCKERFILE)]
    after_last_stage = steps(DOCKERFILE)[len(last) - 1 - last[::-1].index("FROM") :]
    said = {step.word: step.rest for step in after_last_stage}
    assert said["USER"] == "1000:1000", "by number: a cluster refuses a name where it must see that it is not root"
    assert json.loads(said["ENTRYPOINT"]) == ["wardround"], "a shell in between would keep SIGTERM to itself"
    assert said["STOPSIGNAL"] == "SIGTERM"
    assert of("HEALTHCHECK") == [], "a run ends by itself: nothing serves"


def shipped(folder: Path) -> Path:
    """The working folder of the first stage, with what COPY puts into it."""
    for source, target in sources():
        if target in (".", "./"):
            copied(ROOT / source, folder / Path(source).name, IGNORED)
        elif not target.startswith("/"):
            copied(ROOT / source, folder / target, IGNORED)
    return folder


def test_the_links_survive_the_copy(tmp_path: Path) -> None:
    folder = shipped(tmp_path)
    assert (folder / "wardround" / "engine").is_symlink()
    assert (folder / "wardround" / "engine" / "batch.py").samefile(folder / "engine" / "batch.py")
    assert not [path for path in folder.rglob("*") if path.suffix in (".pyc", ".db", ".env")]
    for wanted in (PROJECT["readme"], *PROJECT["license-files"]):
        assert (folder / wanted).is_file(), f"{wanted} is needed to build the package"


def build_line() -> str:
    [run] = [step.rest for step in of("RUN") if "pip install --python" in step.rest]
    return re.sub(r"^(--mount=\S+ )+", "", run)


@pytest.mark.packaging
@pytest.mark.timeout(3600)
def test_the_build_stage_makes_a_package_that_runs(tmp_path: Path) -> None:
    """The stage's own command, on exactly the files that it is given, into another folder."""
    folder, made = shipped(tmp_path / "src"), tmp_path / "made"
    line = build_line().replace("/opt/wardround", str(made)).replace("/usr/local/bin/python3", sys.executable)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    surroundings = {**os.environ, "PATH": path, "EXTRAS": defaults()["EXTRAS"]}
    done = subprocess.run(
        ["sh", "-euc", line], cwd=folder, env=surroundings, capture_output=True, text=True, check=False, timeout=2500
    )
    assert done.returncode == 0, done.stderr
    assert "does not have an extra" not in done.stderr
    played = subprocess.run(
        [made / "bin" / "wardround", "run", "--doctor", "gold", "--limit", "2", "--json"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert played.returncode == 0, played.stderr
    assert json.loads(played.stdout)["endings"] == {"completed": 2}


@pytest.mark.packaging
@pytest.mark.timeout(900)
@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_every_dependency_has_a_wheel_for_the_image(machine: str, tmp_path: Path) -> None:
    """No compiler is in the slim image, so nothing may need one."""
    python = defaults()["BASE"].partition(":")[2].partition("-")[0]
    extras = [word for name in defaults()["EXTRAS"].split(",") for word in ("--extra", name)]
    options = ["--python-version", python, "--python-platform", f"{machine}-manylinux_2_28", "--only-binary", ":all:"]
    done = subprocess.run(
        [sys.executable, "-m", "uv", "pip", "compile", "-q", "pyproject.toml", *extras, *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=800,
    )
    assert done.returncode == 0, done.stderr
    assert "pydantic==" in done.stdout
