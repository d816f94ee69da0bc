"""models.yaml and its companions: servers of open models, one profile each, on this machine only."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from image import DOCKER, tool
from ruamel.yaml import YAML

from wardround.engine.models.chat import SESSION_HEADER

MODELS = DOCKER / "models.yaml"
PROFILES = ("vllm", "sglang", "llamacpp", "ollama", "litellm")


def services(profile: str, **settings: str) -> dict[str, Any]:
    words = [tool("docker-compose"), "-f", str(MODELS), "--profile", profile, "config", "--format", "json"]
    known = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), **settings}
    done = subprocess.run(words, env=known, capture_output=True, text=True, check=False, timeout=250)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)["services"]
    return found


@pytest.mark.long
def test_it_fits_the_published_schema() -> None:
    words = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(MODELS)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=250)
    assert done.returncode == 0, done.stdout


@pytest.mark.long
@pytest.mark.parametrize("profile", PROFILES)
def test_each_profile_is_one_address_on_this_machine(profile: str) -> None:
    found = services(profile, MODEL="some/model")
    ports = [port for service in found.values() for port in service.get("ports", ())]
    assert [(port["host_ip"], port["published"]) for port in ports] == [("127.0.0.1", "8000")]
    assert all(":" in service["image"] and not service["image"].endswith(":latest") for service in found.values())
    if profile in ("vllm", "sglang"):
        assert sum("some/model" in str(service["command"]) for service in found.values()) >= 2


def test_the_router_reads_the_header_that_is_sent() -> None:
    command = services("vllm")["vllm-router"]["command"]
    assert f"--session-key={SESSION_HEADER.lower()}" in command
    assert "--routing-logic=session" in command


def test_the_proxy_repeats_nothing_and_holds_no_key() -> None:
    read = YAML(typ="safe").load((DOCKER / "litellm.yaml").read_text())
    assert read["litellm_settings"]["num_retries"] == 0
    assert all(
        one["litellm_params"].get("api_key", "os.environ/").startswith("os.environ/") for one in read["model_list"]
    )


def test_ray_serve_keeps_prefixes_together() -> None:
    [application] = YAML(typ="safe").load((DOCKER / "ray-serve-llm.yaml").read_text())["applications"]
    [model] = application["args"]["llm_configs"]
    assert model["deployment_config"]["request_router_config"]["request_router_class"].endswith("AffinityRouter")
