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
    "Okay, {truth}.",
    "My money is on {truth}.",
    "All WHO criteria for {truth} are satisfied.",
    "This patient meets the revised criteria for {truth}.",
    "Though {other} was an early idea, it is {truth}.",
    "{other} does not fit and migraine explains little, which leaves us with {truth}.",
    "With {other} ruled out and migraine excluded, {truth} remains.",
    "What is left is {truth}.",
    "After exclusion of {other} and migraine, {truth}.",
    "Step 1: rash. Step 2: raised CRP. Step 3: {truth}.",
    "Not {other}\n- not migraine\n- {truth}",
    "{truth}. Against {other}: a normal film. Against migraine: no aura.",
    "{truth}. {other}: does not fit. Migraine: no aura.",
    "{truth} against a background of asthma and migraine.",
    "{truth}. Coexisting conditions: asthma, migraine.",
    "{truth} (second choice {other})",
    "{truth} [cannot entirely exclude {other}]",
    "<think>{other}? No.</think>{truth}",
    "(A) {other} (B) {truth} (C) migraine\nMy answer: B",
    "Two weeks of cough, night sweats and fatigue - {truth}",
    "Rash and malaise => {truth}",
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
    "My money is on {other}. {truth}.",
    "Not all criteria for {truth} are satisfied.",
    "The criteria for {truth} are not met.",
    "This patient hardly meets the criteria for {truth}.",
    "This patient meets the criteria for {other}. {truth}.",
    "Though {truth} was an early idea, it is {other}.",
    "{truth} does not fit and migraine explains little, which leaves us with {other}.",
    "With {truth} excluded, {other} remains.",
    "What is left is {other}; {truth}.",
    "After exclusion of {truth}, {other}.",
    "Step 1: {other}. Step 2: migraine. Step 3: {truth}.",
    "Not {truth}\n- not migraine\n- {other}",
    "{other}. Against {truth}: a normal film.",
    "{other}. {truth}: no fever.",
    "{other} against a background of {truth} and migraine.",
    "{other}. Coexisting conditions: {truth}, migraine.",
    "{other} (second choice {truth})",
    "<think>{truth}</think>{other}",
    "(A) {other} (B) {truth} (C) migraine\nMy answer: A",
    "(A) {other} (B) {truth} (C) migraine",
    "Two weeks of {other}, night sweats and lymph nodes - {truth}",
    "{other} = {truth}",
    "{other} → {truth}",
)


@pytest.mark.parametrize(("truth", "other"), [("Sarcoidosis", "tuberculosis"), ("Malaria", "dengue fever")])
@pytest.mark.parametrize("form", HONEST)
def test_a_remark_hides_no_diagnosis(form: str, truth: str, other: str) -> None:
    assert compare(form.format(truth=truth, other=other), Truth(diagnosis=truth)).match


@pytest.mark.parametrize(("truth", "other"), [("Sarcoidosis", "tuberculosis"), ("Malaria", "dengue fever")])
@pytest.mark.parametrize("form", GAMED)
def test_no_remark_makes_a_second_diagnosis_right(form: str, truth: str, other: str) -> None:
    assert not compare(form.format(truth=truth, other=other), Truth(diagnosis=truth)).match
