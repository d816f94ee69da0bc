"""Two denials assert: of a disease, and of a measure of a plan. One denial, or three, do not."""

import pytest

from wardround.scenarios.answers import diagnosis, treatment
from wardround.scenarios.answers.treatment import read_plan
from wardround.scenarios.case import Truth

ASSERTED = [
    "There is no evidence of anything other than {}",
    "No evidence of anything other than {}.",
    "Nothing points to any diagnosis other than {}",
    "This cannot be anything but {}",
    "I see no other diagnosis than {}",
    "It is unlikely to be anything other than {}",
    "It would be a mistake to call this anything other than {}",
    "The findings are not explained by any other disease than {}",
    "Everything except {} has been ruled out",
    "All other diagnoses than {} were excluded",
    "I do not doubt that this is {}",
    "{} is beyond any doubt",
    "Nobody would deny that this is {}",
    "{} cannot be denied",
]
DENIED = [
    "Anything other than {}",
    "This is anything but {}",
    "It may be anything except {}",
    "There is no evidence of {}",
    "It is not true that there is no evidence of anything other than {}",
    "I doubt that this is {}",
    "Everything except {} fits",
    "There is not any doubt that this is not {}",
]


@pytest.mark.parametrize("words", ASSERTED)
@pytest.mark.parametrize("name", ["gout", "pulmonary embolism"])
def test_two_denials_assert_a_disease(words: str, name: str) -> None:
    verdict = diagnosis.compare(words.format(name), Truth(diagnosis=name))
    assert verdict.match, verdict


@pytest.mark.parametrize("words", DENIED)
def test_one_denial_or_three_do_not(words: str) -> None:
    assert not diagnosis.compare(words.format("gout"), Truth(diagnosis="gout")).match


def test_what_stands_before_the_denial_counts_as_well() -> None:
    verdict = diagnosis.compare("Scurvy, with no evidence of anything other than gout", Truth(diagnosis="gout"))
    assert not verdict.match


GIVEN = [
    "Do not stop methotrexate",
    "Methotrexate should not be discontinued",
    "Methotrexate must not be withheld",
    "Never omit methotrexate",
    "There is no reason to withhold methotrexate",
    "Do not hesitate to give methotrexate",
    "No treatment other than methotrexate is needed",
    "Without interrupting methotrexate, add folinic acid",
    "Nothing other than methotrexate",
]
NOT_GIVEN = [
    "Do not give methotrexate",
    "Methotrexate should be discontinued",
    "Methotrexate must be withheld",
    "There is every reason to withhold methotrexate",
    "Anything other than methotrexate",
    "Methotrexate was not given",
]


@pytest.mark.parametrize("words", GIVEN)
def test_what_a_plan_does_not_stop_is_given(words: str) -> None:
    plan = read_plan(words)
    assert any("methotrexat" in measure.words for measure in plan.started), plan
    assert treatment.compare_plan(words, Truth(treatment="Methotrexate")).match


@pytest.mark.parametrize("words", NOT_GIVEN)
def test_what_a_plan_stops_is_not_given(words: str) -> None:
    assert not treatment.compare_plan(words, Truth(treatment="Methotrexate")).match
