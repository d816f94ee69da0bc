"""Whether a stated treatment plan is the true one: a floor by key terms."""

from wardround.scenarios.case import Truth
from wardround.scenarios.terms.treatment import compare

PLAN = Truth(treatment="Surgical resection followed by adjuvant radiotherapy and imatinib 400 mg daily.")


def test_the_plan_itself_and_one_in_other_order_are_right() -> None:
    assert compare(PLAN.treatment, PLAN).rule == "exact"
    assert compare("Imatinib after radiotherapy; surgical resection first", PLAN).match


def test_another_plan_an_empty_one_and_one_advised_against_are_not() -> None:
    assert not compare("Antibiotics and observation for 400 days", PLAN).match
    assert compare("", PLAN).rule == "empty"
    assert not compare("No surgical resection, without radiotherapy, without imatinib", PLAN).match
    assert not compare("anything", Truth()).match
