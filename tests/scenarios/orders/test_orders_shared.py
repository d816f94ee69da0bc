"""On real cases, an item's exact own name always finds it: the gold doctor's recall is 1."""

from pathlib import Path

import pytest
from examples import first_ones

from wardround.scenarios.case import Case, case_results
from wardround.scenarios.loaders.load import load
from wardround.scenarios.orders.chart import read_chart
from wardround.scenarios.orders.examiner_lookup import answer


@pytest.mark.long
@pytest.mark.shared
@pytest.mark.parametrize(
    "name", first_ones(["agentclinic/agentclinic_medqa.jsonl", "medrbench/diagnosis_cases.json"], 1)
)
def test_gold_orders_find_every_item(shared: Path, name: str) -> None:
    found = 0
    for case in load(shared / "data" / name):
        assert isinstance(case, Case)
        record = case_results(case)
        names = list(dict.fromkeys(item.name for item in record))
        for everything in (False, True):  # as the examiner and as the patient answers
            given = answer(read_chart(record), names, everything=everything)
            got = {ref for line in given for ref in line.refs}
            assert got == {item.ref for item in record}, case.id
        found += len(got)
    assert found > 500
