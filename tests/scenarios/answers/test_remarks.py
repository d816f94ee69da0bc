"""What an answer says round its diagnosis neither hides it nor asserts anything else."""

import pytest

from wardround.scenarios.answers.diagnosis import compare
from wardround.scenarios.case import Truth

HONEST = (
    "Thanks for the case. {truth}.",
    "Good question. {truth}.",
    "Dear colleague, the diagnosis is {truth}. Kind regards, Dr Smith",
    "Q: What is the diagnosis? A: {truth}",
    "Is it {truth}? Yes, I think so.",
    "He meets criteria for {truth}.",
    "Not {other}: it is {truth}.",
    "Neither {other} nor migraine: this is {truth}.",
    "{truth} (main differential {other}).",
    "{truth}; give steroids, fluids and analgesia.",
    "{truth} - needs urgent referral",
    "{truth} requires admission.",
    "{truth}. PMH: hypertension, diabetes, asthma.",
    "Pain, fever, raised CRP: {truth}",
    "Fever, pain, rash → {truth}",
    "Findings: pain, fever. Impression: {truth}",
    "A platelet count of 12,000 and the course leave no doubt: {truth}.",
)
GAMED = (
    "Thanks for the case. It is {other}. {truth}.",
    "Is it {other}? Yes. Is it {truth}? Yes.",
    "{other} requires admission. {truth} requires admission.",
    "Not possible: {truth}",
    "Is it {other} or {truth}? Yes.",
    "He does not meet criteria for {truth}.",
    "Not {truth}: it is {other}.",
    "{other} (main differential {truth}).",
    "{other}. PMH: {truth}.",
    "Pain, {other}, fever: {truth}",
)


@pytest.mark.parametrize(("truth", "other"), [("Sarcoidosis", "tuberculosis"), ("Malaria", "dengue fever")])
@pytest.mark.parametrize("form", HONEST)
def test_a_remark_hides_no_diagnosis(form: str, truth: str, other: str) -> None:
    assert compare(form.format(truth=truth, other=other), Truth(diagnosis=truth)).match


@pytest.mark.parametrize(("truth", "other"), [("Sarcoidosis", "tuberculosis"), ("Malaria", "dengue fever")])
@pytest.mark.parametrize("form", GAMED)
def test_no_remark_makes_a_second_diagnosis_right(form: str, truth: str, other: str) -> None:
    assert not compare(form.format(truth=truth, other=other), Truth(diagnosis=truth)).match
