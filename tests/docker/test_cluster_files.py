"""The examples for Slurm, Kubernetes and KubeRay: shell that a linter takes, manifests that fit the schemas."""

import io
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from image import DOCKER, ROOT, tool
from ruamel.yaml import YAML

from wardround.runs.settings import RunSettings

SCRIPTS = [DOCKER / "join.sh", DOCKER / "slurm.sh", DOCKER / "vllm.slurm.sh"]
_SECRET = re.compile(r"(?i)password|key|token|secret")


def manifests(name: str) -> list[dict[str, Any]]:
    """Its documents; a key that stands twice is an error."""
    return list(YAML(typ="safe").load_all(DOCKER / name))


def job() -> dict[str, Any]:
    [found] = [one for one in manifests("kubernetes.yaml") if one["kind"] == "Job"]
    return found


def ray() -> dict[str, Any]:
    [found] = manifests("kuberay.yaml")
    return found


def groups() -> Iterator[dict[str, Any]]:
    cluster = ray()["spec"]["rayClusterSpec"]
    yield cluster["headGroupSpec"]
    yield from cluster["workerGroupSpecs"]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_the_scripts_are_shell(script: Path) -> None:
    done = subprocess.run([tool("shellcheck"), str(script)], capture_output=True, text=True, check=False, timeout=250)
    assert done.returncode == 0, done.stdout
    shell = script.read_text().splitlines()[0].rpartition("/")[2]
    assert subprocess.run([shell, "-n", str(script)], check=False, timeout=250).returncode == 0
    assert script.stat().st_mode & 0o111, "it can be run as it is"


def test_the_linter_would_say_it(tmp_path: Path) -> None:
    bad = tmp_path / "bad.sh"
    bad.write_text('#!/bin/sh\nrun=$1\nexec wardround run --resume $run "$2\n')
    assert subprocess.run([tool("shellcheck"), str(bad)], capture_output=True, check=False, timeout=250).returncode == 1


def test_slurm_ends_before_its_time_and_comes_back() -> None:
    options = re.findall(r"(?m)^#SBATCH (--[^\n]+)$", (DOCKER / "slurm.sh").read_text())
    assert "--requeue" in options
    assert any(re.fullmatch(r"--signal=B:TERM@\d+", option) for option in options)
    assert "--array=1-8" in options, "shares are counted from 1"
    lines = (DOCKER / "slurm.sh").read_text().splitlines()
    assert not any(line.startswith("#SBATCH") for line in lines[lines.index("set -eu") :]), "Slurm would not read it"
    assert lines[-1].startswith("exec "), "the signal goes to the script's own process"


def test_the_manifests_fit_the_published_schemas() -> None:
    validate = pytest.importorskip("kubernetes_validate")
    for manifest in manifests("kubernetes.yaml"):
        validate.validate(manifest, validate.latest_version(), strict=True)
    for group in groups():
        # KubeRay's own kinds have no schema among these; what they hold is an ordinary pod.
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": group["template"]["spec"]}
        validate.validate(pod, validate.latest_version(), strict=True)
    wrong = job()
    wrong["spec"]["template"]["spec"]["terminationGraceSeconds"] = 300
    with pytest.raises(Exception, match="terminationGraceSeconds"):
        validate.validate(wrong, validate.latest_version(), strict=True)


def test_every_pod_of_the_job_has_a_number_and_is_replaced() -> None:
    spec = job()["spec"]
    assert spec["completionMode"] == "Indexed"
    container = spec["template"]["spec"]["containers"][0]
    known = {variable["name"]: variable["value"] for variable in container["env"]}
    assert int(known["WORKERS"]) == spec["completions"] == spec["parallelism"]
    assert spec["backoffLimitPerIndex"] > 0
    assert spec["template"]["spec"]["restartPolicy"] == "Never", "a policy for failures takes no other"
    # An eviction must be looked at before the exit code, which then is 130 too.
    assert [rule["action"] for rule in spec["podFailurePolicy"]["rules"]] == ["Ignore", "FailIndex"]
    assert spec["podFailurePolicy"]["rules"][1]["onExitCodes"]["containerName"] == container["name"]
    assert container["args"][0].startswith("exec "), "the signal goes to Wardround"


@pytest.mark.parametrize("name", ["kubernetes.yaml", "kuberay.yaml"])
def test_no_secret_stands_in_a_manifest_and_none_runs_as_root(name: str) -> None:
    pods = (
        [job()["spec"]["template"]["spec"]] if name == "kubernetes.yaml" else [g["template"]["spec"] for g in groups()]
    )
    for pod in pods:
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["runAsUser"] == 1000, "the image's own"
        for container in pod["containers"]:
            assert container["envFrom"] == [{"secretRef": {"name": "wardround"}}]
            assert not [variable["name"] for variable in container["env"] if _SECRET.search(variable["name"])]
            assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert not re.search(r"postgresql://[^/@\s]*:", (DOCKER / name).read_text())


def test_the_config_map_is_a_run_file_and_is_mounted_where_it_is_read() -> None:
    [mapped] = [one for one in manifests("kubernetes.yaml") if one["kind"] == "ConfigMap"]
    RunSettings.model_validate(tomllib.loads(mapped["data"]["run.toml"]))
    for pod in (job()["spec"]["template"]["spec"], next(groups())["template"]["spec"]):
        [volume] = [one for one in pod["volumes"] if "configMap" in one]
        assert volume["configMap"]["name"] == mapped["metadata"]["name"]
        mounts = {mount["name"]: mount["mountPath"] for mount in pod["containers"][0]["volumeMounts"]}
        assert mounts[volume["name"]] == "/etc/wardround"
    for text in (job()["spec"]["template"]["spec"]["containers"][0]["args"][0], ray()["spec"]["entrypoint"]):
        assert "--config /etc/wardround/run.toml" in text


def test_the_ray_job_has_room_for_its_workers() -> None:
    spec = ray()["spec"]
    assert (ray()["apiVersion"], ray()["kind"]) == ("ray.io/v1", "RayJob")
    assert set(spec) == {"entrypoint", "shutdownAfterJobFinishes", "ttlSecondsAfterFinished", "rayClusterSpec"}
    asked = {int(number) for number in re.findall(r"--workers (\d+)", spec["entrypoint"])}
    [group] = spec["rayClusterSpec"]["workerGroupSpecs"]
    assert {"groupName", "replicas", "minReplicas", "maxReplicas", "rayStartParams", "template"} == set(group)
    [container] = group["template"]["spec"]["containers"]
    assert asked == {group["replicas"] * int(container["resources"]["requests"]["cpu"])}
    assert all(isinstance(value, str) for group in groups() for value in group["rayStartParams"].values())
    assert subprocess.run(["sh", "-nc", spec["entrypoint"]], check=False, timeout=250).returncode == 0


@pytest.mark.long
def test_anchors_and_all_it_is_plain_yaml() -> None:
    """kubectl reads YAML 1.1: what is written here means the same there."""
    yaml = YAML(typ="safe")
    yaml.version = (1, 1)
    for name in ("kubernetes.yaml", "kuberay.yaml", "compose.yaml"):
        assert list(yaml.load_all(io.StringIO((DOCKER / name).read_text()))) == manifests(name)


def test_the_page_names_every_file() -> None:
    told = (ROOT / "docs" / "deploy.md").read_text()
    files = [path.name for path in DOCKER.iterdir() if path.name not in (".gitignore", ".env", "keys.env")]
    assert [name for name in files if f"docker/{name}" not in told] == []
