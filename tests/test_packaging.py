"""The wheel beside a package that is also called `agents`: both must be importable, and nothing of ours may leak."""

import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def sh(*command: str, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, timeout=1700)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    sh(sys.executable, "-m", "build", "--wheel", "--outdir", str(out), cwd=ROOT)
    [built] = out.glob("wardround-*.whl")
    return built


@pytest.mark.packaging
@pytest.mark.timeout(3600)
def test_the_wheel_holds_one_package_with_its_data(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    beside = {name for name in names if ".dist-info" not in name and not name.startswith("wardround/")}
    assert beside == {"wardround_encounters/__init__.py"}, "verifiers loads environments by a name without a dot"
    for wanted in (
        "wardround/py.typed",
        "wardround/engine/episode.py",
        "wardround/scenarios/data/cases/admissions.jsonl",
        "wardround/scenarios/prompts/workup/start.md",
        "wardround/agents/prompts/doctor/system.md",
    ):
        assert wanted in names, f"{wanted} is missing from the wheel"


@pytest.mark.packaging
@pytest.mark.timeout(3600)
def test_it_lives_beside_a_distribution_named_agents(wheel: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / "agents").mkdir(parents=True)
    (other / "agents" / "__init__.py").write_text("WHOSE = 'theirs'\n")
    (other / "pyproject.toml").write_text(
        textwrap.dedent("""
        [build-system]
        requires = ["setuptools>=77"]
        build-backend = "setuptools.build_meta"
        [project]
        name = "agents"
        version = "1"
        [tool.setuptools]
        packages = ["agents"]
        """)
    )
    python = tmp_path / "venv" / "bin" / "python"
    sh(sys.executable, "-m", "venv", str(tmp_path / "venv"), cwd=tmp_path)
    sh(
        sys.executable,
        "-m",
        "uv",
        "pip",
        "install",
        "-q",
        "--python",
        str(python),
        str(other),
        str(wheel),
        cwd=tmp_path,
    )
    told = sh(
        str(python),
        "-c",
        "import agents, wardround as w, wardround.agents as o; print(agents.WHOSE, o.__name__, callable(w.run))",
        cwd=tmp_path,
    )
    assert told.split() == ["theirs", "wardround.agents", "True"]
    shown = sh(str(python), "-m", "wardround", "run", "--doctor", "gold", "--limit", "2", "--json", cwd=tmp_path)
    assert '"completed": 2' in shown
