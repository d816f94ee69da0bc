"""A preset lies below the run file and the options; AgentClinic's lets one model play three seats."""

import tomllib
from pathlib import Path
from typing import Any

from shell import Shell


def printed(shell: Shell, *arguments: object) -> dict[str, Any]:
    assert shell("run", "--print-config", *arguments) == 0, shell.err
    return tomllib.loads(shell.out)


def test_agentclinic_has_three_seats_of_one_model_and_20_turns(shell: Shell) -> None:
    config = printed(shell, "--preset", "agentclinic", "--doctor", "openai/gpt-4o", "--base-url", "http://here:1/v1")
    assert config["scenario"] == "consultation"
    assert config["set"] == {"max_turns": 20, "policy": "normal-default"}
    seat = {"spec": "openai/gpt-4o", "base_url": "http://here:1/v1", "temperature": 0.05}
    assert config["seats"] == {"doctor": seat, "patient": seat, "examiner": seat}


def test_what_the_user_writes_goes_before_the_preset(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text('[set]\nmax_turns = 7\n[seats.examiner]\nspec = "record"\n')
    more = ("--patient", "openai/other", "--temperature", "0.7", "--patient-bias", "recency", "--set", "answers=3")
    config = printed(shell, "--preset", "agentclinic", "--config", path, "--doctor", "openai/gpt-4o", *more)
    assert config["set"] == {"max_turns": 7, "answers": "3", "policy": "normal-default"}
    assert config["seats"]["doctor"]["temperature"] == 0.7
    assert config["seats"]["examiner"] == {"spec": "record"}
    patient = {"spec": "openai/other", "options": {"bias": "recency"}, "temperature": 0.05}
    assert config["seats"]["patient"] == patient


def test_a_bias_alone_does_not_name_the_patient(shell: Shell) -> None:
    config = printed(shell, "--preset", "agentclinic", "--doctor", "openai/gpt-4o", "--patient-bias", "recency")
    assert config["seats"]["patient"]["spec"] == "openai/gpt-4o"
    assert config["seats"]["patient"]["options"] == {"bias": "recency"}


def test_a_doctor_without_a_model_keeps_the_record_and_a_wrong_name_is_said(shell: Shell) -> None:
    config = printed(shell, "--preset", "agentclinic", "--doctor", "gold")
    assert config["seats"] == {"doctor": {"spec": "gold"}}
    assert shell("run", "--preset", "agentclinik") == 2
    assert "did you mean agentclinic?" in shell.err
