"""Times of an order: which words tell them, and what the record answers."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.scenarios.case import Case, Investigation, Lab, Provenance, Truth, case_results
from wardround.scenarios.orders.catalogue import catalogue
from wardround.scenarios.orders.chart import read_chart
from wardround.scenarios.orders.examiner_lookup import answer
from wardround.scenarios.orders.order_times import When, names_tests, timed_requests
from wardround.scenarios.orders.stated_days import StatedDay, stated_days
from wardround.scenarios.terms.wording import tokens


def timed(text: str) -> tuple[tuple[str, When | None], ...]:
    return timed_requests(text, lambda item: names_tests(item, catalogue()))


TESTS = st.sampled_from(("sodium", "creatinine", "CRP", "haemoglobin", "blood culture"))
TIMES = st.sampled_from(
    (
        "on day 3", "yesterday", "at 14:00", "on admission", "at discharge", "before surgery", "on 3 March",
        "from day 2 to day 4", "in the first 48 hours", "over time", "post-op", "this morning", "since 4 May",
    )
)  # fmt: skip


@given(
    st.dates(date(2100, 1, 1), date(2199, 12, 31)), st.sampled_from(("%Y-%m-%d", "%d %B %Y", "%B %d, %Y", "%b %d %Y"))
)
def test_a_written_date_is_read_as_the_day_that_it_is(day: date, form: str) -> None:
    ((_, _, read),) = stated_days(f"sodium on {day.strftime(form)}")
    assert read.dates(day, day, day) == [day]


@given(
    TESTS,
    st.integers(0, 23),
    st.integers(0, 59),
    st.sampled_from(("at {:02}:{:02}", "at {:02}{:02}", "at {:02}:{:02} h")),
)
def test_a_clock_time_is_the_middle_of_what_it_means(test: str, hour: int, minute: int, form: str) -> None:
    ((text, when),) = timed(f"{test} {form.format(hour, minute)}")
    assert text == test
    assert when is not None
    assert when.clock is not None
    assert sum(when.clock) // 2 == hour * 60 + minute


@given(
    st.lists(st.tuples(TESTS, st.none() | TIMES), min_size=1, max_size=5), st.sampled_from((", ", " and ", "; ", "\n"))
)
def test_every_word_of_an_order_is_in_a_part_or_in_its_time(items: list[tuple[str, str | None]], joint: str) -> None:
    text = joint.join(f"{test} {time}" if time else test for test, time in items)
    parts = timed(text)
    kept = set(tokens(" ".join(f"{part} {when.said if when else ''}" for part, when in parts)))
    assert set(tokens(text)) <= kept | {"and"}


@given(st.text(max_size=60))
def test_any_text_is_read(text: str) -> None:
    assert timed(text)


@pytest.mark.parametrize(
    "text",
    [
        "discharge swab", "ANA 1:40", "peak expiratory flow", "first void urine", "all labs", "second heart sound",
        "CBC, repeat troponin in 3 hours", "minimum inhibitory concentration", "FSH on day 3", "24 hour urine protein",
        "examine all joints", "morning cortisol", "last troponin", "vancomycin trough before the 4th dose",
        "PSA -- but not today", "U&E (sent at 08:00), CRP", "plts have halved on day 7",
    ],
)  # fmt: skip
def test_words_that_are_no_time_of_a_result_stay(text: str) -> None:
    assert timed(text) == ((text, None),)


def test_the_time_of_a_list_is_that_of_its_items() -> None:
    fourth, first = (When(said=f"on day {day}", days=(StatedDay(stay=day),)) for day in (4, 1))
    assert timed("Na, K and creatinine on day 4") == (("Na, K and creatinine", fourth),)
    assert timed("CRP, Na on day 4") == (("CRP", None), ("Na", fourth))
    assert timed("Na on day 1 and on day 4") == (("Na", first), ("Na", fourth))


BEGIN = date(2150, 1, 2)
HOURS = (6, 14, 30, 54, 78)
CASE = Case(
    id="one",
    opening="Weakness.",
    labs=tuple(
        Lab(name=name, value=str(130 + place), time=f"{BEGIN + timedelta(days=hour // 24)}T{hour % 24:02}:00:00")
        for name in ("Sodium", "Creatinine")
        for place, hour in enumerate(HOURS)
    ),
    investigations=(
        Investigation(name="C-reactive protein", text="40 mg/L."),
        Investigation(name="Albumin before surgery", text="30 g/L."),
    ),
    truth=Truth(diagnosis="Hyponatremia"),
    provenance=Provenance(source="tests"),
    data_class="public",
)


def answered(asked: str | list[str], reported: tuple[str, ...] = ()) -> tuple[list[str], str]:
    lines = answer(read_chart(case_results(CASE)), asked, reported=reported)
    return [ref for line in lines for ref in line.refs], "\n".join(line.text for line in lines)


@pytest.mark.parametrize(
    ("asked", "cited"),
    [
        ("first and last sodium", [0, 4]),
        ("all values of the sodium", [0, 1, 2, 3, 4]),
        ("sodium at 14:00", [1]),
        ("discharge sodium", [4]),
        ("sodium on admission and at discharge", [0, 4]),
        (["sodium on day 2", "creatinine on day 3"], [2, 8]),
        ("sodium on 3 January", [2]),
        ("second sodium", [1]),
        ("sodium from day 2 to day 3", [2, 3]),
        ("sodium in the first 24 hours", [0, 1, 2]),
        ("tomorrow's sodium", [2]),
        ("latest creatinine and sodium on day 2", [9, 2]),
        ("sodium, 3/1", [2]),
        ("sodium on the second day", [2]),
        ("sodium on January 2nd, afternoon", [1]),
    ],
)
def test_a_time_is_answered_by_the_results_of_that_time(asked: str | list[str], cited: list[int]) -> None:
    assert answered(asked)[0] == [f"labs[{place}]" for place in cited]


@pytest.mark.parametrize(
    ("asked", "cited", "says"),
    [
        ("yesterday's sodium", [], "Sodium: not performed yesterday, there is no result. The record has Sodium at"),
        ("sodium at 20:00", [], "not performed at 20:00"),
        ("sodium on day 7", [], "not performed on day 7"),
        (
            "sodium before surgery",
            ["labs[0]"],
            "(the record does not say when the surgery was; this is the first value)",
        ),
        (
            "sodium post-dialysis",
            ["labs[4]"],
            "(the record does not say when the dialysis was; this is the last value)",
        ),
        ("sodium before and after surgery", ["labs[0]", "labs[4]"], "these are the first and the last value)"),
        ("CRP last week", ["investigations[0]"], "(the record does not say when this was taken)"),
        ("CRP on 3 March", ["investigations[0]"], "40 mg/L. (the record does not say when this was taken)"),
        ("albumin before surgery", ["investigations[1]"], "Albumin before surgery: 30 g/L."),
    ],
)
def test_what_the_record_does_not_tell_is_said(asked: str, cited: list[str], says: str) -> None:
    refs, text = answered(asked)
    assert refs == cited
    assert says in text


def test_today_is_the_day_of_the_latest_result_that_was_told() -> None:
    assert answered("yesterday's sodium", ("labs[3]",))[0] == ["labs[2]"]
    assert answered("CRP")[1] == "C-reactive protein: 40 mg/L."


@pytest.mark.parametrize(
    "text",
    [
        "On day 3: sodium, potassium",
        "Day 3 labs: sodium, potassium",
        "For hospital day 3 please check a sodium",
        "Sodium (day 3)",
        "Repeat the labs of day 3 (sodium, potassium)",
    ],
)
def test_a_day_that_heads_an_order_or_stands_in_brackets_is_that_of_all(text: str) -> None:
    whens = [when for _, when in timed(text)]
    assert [[day.stay for day in when.days if day is not None] if when else None for when in whens] == [[3]]
