"""compose.yaml: by the published schema, by Compose itself, and by what it promises."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from image import DOCKER, tool
from ruamel.yaml import YAML

from wardround.runs.settings import read_settings

COMPOSE = DOCKER / "compose.yaml"
PASSWORD = "p$ss/wörd:@1"


def schema(file: Path) -> subprocess.CompletedProcess[str]:
    """The Compose Specification's JSON schema, as check-jsonschema carries it."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(file)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=250)


def resolved(*options: str, folder: Path = DOCKER, **settings: str) -> dict[str, Any]:
    """What Compose makes of the file: `docker compose config`, which needs no daemon."""
    done = compose(*options, "config", "--format", "json", folder=folder, **settings)
    assert done.returncode == 0, done.stderr
    read: dict[str, Any] = json.loads(done.stdout)
    return read


def compose(*arguments: str, folder: Path = DOCKER, **settings: str) -> subprocess.CompletedProcess[str]:
    surroundings = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), **settings}
    command = [tool("docker-compose"), "-f", str(folder / "compose.yaml"), *arguments]
    return subprocess.run(command, env=surroundings, capture_output=True, text=True, check=False, timeout=250)


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    found: dict[str, Any] = resolved("--profile", "*", POSTGRES_PASSWORD=PASSWORD)["services"]
    return found


@pytest.mark.long
def test_it_fits_the_published_schema(tmp_path: Path) -> None:
    done = schema(COMPOSE)
    assert done.returncode == 0, done.stdout
    broken = tmp_path / "compose.yaml"
    broken.write_text(COMPOSE.read_text().replace("stop_grace_period:", "stop_grace_time:"))
    assert schema(broken).returncode == 1, "the schema finds a word that there is not"


def test_the_plugin_of_docker_takes_it_too() -> None:
    docker = shutil.which("docker")
    if docker is None or subprocess.run([docker, "compose", "version"], capture_output=True, check=False).returncode:
        pytest.skip("Docker has no compose plugin here; the same program from PyPI reads the file in the other tests")
    done = subprocess.run(
        [docker, "compose", "-f", str(COMPOSE), "config", "--quiet"],
        env={**os.environ, "POSTGRES_PASSWORD": PASSWORD},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_without_a_password_it_says_what_to_do() -> None:
    done = compose("config")
    assert done.returncode != 0
    assert "set POSTGRES_PASSWORD in docker/.env" in done.stderr


def test_an_engine_a_database_and_no_more_start_by_themselves() -> None:
    assert set(resolved(POSTGRES_PASSWORD=PASSWORD)["services"]) == {"begin", "engine", "postgres"}
    assert set(resolved("--profile", "vllm", POSTGRES_PASSWORD=PASSWORD)["services"]) > {"vllm", "engine"}


def test_the_password_is_in_no_file_and_in_no_address(services: dict[str, Any]) -> None:
    for name in ("begin", "engine", "cli"):
        known = services[name]["environment"]
        assert known["PGPASSWORD"].replace("$$", "$") == PASSWORD
        assert known["WARDROUND_STORE"] == "postgresql://wardround@postgres/wardround"
        assert not re.search(r"://[^/@]*:", known["WARDROUND_STORE"])
    assert services["postgres"]["environment"]["POSTGRES_PASSWORD"].replace("$$", "$") == PASSWORD
    assert re.search(r"(?m)^POSTGRES_PASSWORD=$", (DOCKER / "env.example").read_text()), (
        "the example has none to forget"
    )
    assert {".env", "keys.env"} <= set((DOCKER / ".gitignore").read_text().split())


def test_keys_reach_the_engines_alone(tmp_path: Path) -> None:
    for name in ("compose.yaml", "run.toml"):
        shutil.copy(DOCKER / name, tmp_path)
    (tmp_path / "keys.env").write_text("OPENAI_API_KEY=sk-0123\n")
    found = resolved("--profile", "*", folder=tmp_path, POSTGRES_PASSWORD=PASSWORD)["services"]
    holders = {name for name, service in found.items() if "OPENAI_API_KEY" in service["environment"]}
    assert holders == {"begin", "engine", "cli"}


def test_the_engines_wait_for_the_database_and_it_keeps_its_data(services: dict[str, Any]) -> None:
    for name in ("begin", "engine", "cli"):
        assert services[name]["depends_on"]["postgres"]["condition"] == "service_healthy"
    postgres = services["postgres"]
    assert postgres["healthcheck"]["test"][:2] == ["CMD", "pg_isready"]
    assert [(v["type"], v["source"]) for v in postgres["volumes"]] == [("volume", "postgres")]
    assert "ports" not in postgres, "nobody outside needs it"
    assert re.fullmatch(r"postgres:\d+-[a-z]+", postgres["image"]), "data of one major version is not another's"


def test_several_engines_join_one_run() -> None:
    found = resolved(POSTGRES_PASSWORD=PASSWORD, ENGINES="4", SHARES="5", RUN="trial")["services"]
    assert found["engine"]["deploy"]["replicas"] == 4
    assert "container_name" not in found["engine"], "a name can be had once only"
    assert found["engine"]["command"] == ["trial", "5/5"]
    assert found["begin"]["command"][:2] == ["trial", "1/5"]
    assert found["begin"]["entrypoint"] == found["engine"]["entrypoint"] == ["join-run"]


def test_a_stop_lets_them_finish(services: dict[str, Any]) -> None:
    for name in ("begin", "engine", "cli"):
        assert services[name]["init"] is True
        minutes = re.fullmatch(r"(\d+)m0s", services[name]["stop_grace_period"])
        assert minutes
        assert int(minutes[1]) >= 2, "a call of a slow model takes longer than Docker's 10 s"


def test_the_engines_have_no_rights_that_they_do_not_need(services: dict[str, Any]) -> None:
    for name in ("begin", "engine", "cli"):
        service = services[name]
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert "no-new-privileges:true" in service["security_opt"]
        assert not {"privileged", "user", "ports"} & set(service)


def test_vllm_has_a_gpu_and_keeps_its_models(services: dict[str, Any]) -> None:
    vllm = services["vllm"]
    assert vllm["profiles"] == ["vllm"]
    [gpu] = vllm["deploy"]["resources"]["reservations"]["devices"]
    assert gpu == {"driver": "nvidia", "count": 1, "capabilities": ["gpu"]}
    assert [(v["type"], v["source"]) for v in vllm["volumes"]] == [("volume", "models")]
    assert not vllm["image"].endswith(":latest")
    assert services["begin"]["depends_on"]["vllm"] == {"condition": "service_healthy", "required": False}


def test_the_run_file_is_one() -> None:
    settings = read_settings(DOCKER / "run.toml")
    assert settings.seats["doctor"].spec == "baseline", "it runs without a key"
    told = (DOCKER / "run.toml").read_text()
    served = YAML(typ="safe").load(COMPOSE)["services"]["vllm"]["command"][0]
    assert f"openai/{re.findall(r':-(.*)}', served)[0]}" in told, "what it shows for vLLM is what is served there"


def test_what_the_example_sets_is_what_is_read() -> None:
    read = set(re.findall(r"\$\{([A-Z_]+)", COMPOSE.read_text()))
    example = set(re.findall(r"(?m)^([A-Z_]+)=", (DOCKER / "env.example").read_text()))
    assert example <= read
    assert read - example <= {"WARDROUND_IMAGE", "VLLM_IMAGE", "HF_HUB_OFFLINE", "RUN_FILE"}
