"""Whether a stated treatment plan is the true one: a floor by the measures that are given, stopped and avoided."""

import random
import re

import pytest
from examples import first_ones
from hypothesis import given
from hypothesis import strategies as st

from wardround.scenarios.answers.plan_measures import measure_names
from wardround.scenarios.answers.treatment import compare_plan, read_plan
from wardround.scenarios.case import Truth
from wardround.scenarios.loaders.load import bundled, load

PLAN = Truth(treatment="Surgical resection followed by adjuvant radiotherapy and imatinib 400 mg daily.")
EVERYTHING = (
    "meropenem, ceftriaxone, vancomycin, prednisolone, rituximab, cyclophosphamide, heparin, insulin, appendectomy, "
    "laparotomy, radiotherapy, dialysis, plasma exchange, imatinib, splenectomy, transfusion"
)


def test_the_plan_itself_and_one_in_other_order_are_right() -> None:
    assert compare_plan(PLAN.treatment, PLAN).rule == "exact"
    assert compare_plan("Imatinib after radiotherapy; surgical resection first", PLAN).match


def test_another_plan_an_empty_one_and_one_advised_against_are_not() -> None:
    assert not compare_plan("Antibiotics and observation for 400 days", PLAN).match
    assert compare_plan("", PLAN).rule == "empty"
    assert not compare_plan("No surgical resection, without radiotherapy, without imatinib", PLAN).match
    assert not compare_plan("anything", Truth()).match


RIGHT = [
    ("Meropenem", "Avoid ceftriaxone; give meropenem"),
    ("Meropenem", "Do not use ceftriaxone, start meropenem"),
    ("Meropenem", "Stop ceftriaxone and start meropenem"),
    ("Meropenem", "Meropenem rather than ceftriaxone"),
    ("Meropenem", "Meropenem (e.g., 1 g every 8 hours or by infusion)"),
    ("Meropenem and vancomycin", "Give meropenem"),
    ("Meropenem or imipenem", "Meropenem or imipenem"),
    ("Stop methotrexate and give folinic acid", "Discontinue methotrexate; folinic acid rescue"),
    ("Meropenem", "Meropenem, with azithromycin or doxycycline"),
    ("Meropenem", "Meropenem, and screening for hepatitis, which is not yet known in this patient"),
    ("Surgical excision of the branchial cyst", "Complete removal of the branchial cyst"),
    ("Initiate prednisolone (Prelone) orally", "Prednisolone replacement"),
    ("Broad-spectrum antibiotics", "Ceftriaxone 2 g daily"),
    ("Anticoagulation with a beta blocker", "Apixaban; bisoprolol"),
    ("Plasmapheresis", "Therapeutic plasma exchange"),
    ("Gallbladder removal", "Laparoscopic cholecystectomy"),
    ("Physiotherapy", "Structured exercise therapy"),
]
WRONG = [
    ("Ceftriaxone", "Avoid ceftriaxone; give meropenem", "against"),
    ("Rituximab", "Rituximab is contraindicated", "nothing"),
    ("Rituximab", "Rituximab is contraindicated; give prednisolone", "against"),
    ("Rituximab", "Stop rituximab", "against"),
    ("Rituximab", "Hold rituximab, give prednisolone", "against"),
    ("Rituximab", "There is no role for rituximab; observe with prednisolone", "against"),
    ("Rituximab", "Rituximab should be avoided, prednisolone is preferred", "against"),
    ("Rituximab", "Discontinue rituximab, continue prednisolone", "against"),
    ("Rituximab", "Rituximab or cyclophosphamide", "undecided"),
    ("Imatinib", EVERYTHING, "too_many"),
    ("Surgical resection", "Radiotherapy", "none"),
    ("Ceftriaxone", "Antibiotics", "none"),
    ("Ceftriaxone", "Meropenem", "none"),
    ("Prednisolone", "Azathioprine", "none"),
    ("Broad-spectrum antibiotics", "Fluconazole", "none"),
    ("Antibiotics", "Stop ceftriaxone", "against"),
    ("Rituximab", "Rituximab, prednisolone, and screening for hepatitis is wrong", "nothing"),
    ("Rituximab", "Rituximab, prednisolone, and testing for hepatitis can be dismissed", "nothing"),
    ("Rituximab", "Everything else, such as rituximab and screening for hepatitis, does not fit", "nothing"),
]


@pytest.mark.parametrize(("truth", "answer"), RIGHT)
def test_what_is_given_counts(truth: str, answer: str) -> None:
    verdict = compare_plan(answer, Truth(treatment=truth))
    assert verdict.match, verdict


@pytest.mark.parametrize(("truth", "answer", "rule"), WRONG)
def test_what_is_stopped_avoided_left_open_or_one_of_everything_does_not(truth: str, answer: str, rule: str) -> None:
    verdict = compare_plan(answer, Truth(treatment=truth))
    assert not verdict.match
    assert verdict.rule in (rule, "nothing")


def test_the_reasons_of_a_zero() -> None:
    assert compare_plan("Rituximab or cyclophosphamide", Truth(treatment="Rituximab")).reason == "several_answers"
    assert compare_plan(EVERYTHING, Truth(treatment="Imatinib")).reason == "too_many_measures"
    assert compare_plan("Avoid surgery.", Truth(treatment="Imatinib")).reason == "no_treatment_asserted"
    assert compare_plan("Rituximab", Truth(treatment="Imatinib")).reason == ""


@pytest.mark.parametrize(
    "words",
    ["Anything but {}", "{} is wrong", "I would never call this {}", "{} was considered, but it is seasickness"],
)
def test_a_denied_plan_that_stops_something_asserts_nothing(words: str) -> None:
    """A stop at the end of the true plan made the denial of the whole a plan that a judge was shown."""
    case = next(case for case in load(bundled("stations")[0]) if case.id == "ws-002")
    plan = re.sub(r"[.;] +", ", ", case.truth.treatment).rstrip(". ")
    assert plan.count("stopped") == 1
    assert compare_plan(words.format(plan), case.truth).reason == "no_treatment_asserted"
    assert compare_plan("Stop nintedanib", Truth(treatment="nintedanib is stopped, platelets are watched")).reason == ""


@given(st.text(max_size=400))
def test_any_plan_is_read_and_is_its_own_answer(text: str) -> None:
    read_plan(text)
    verdict = compare_plan(text, Truth(treatment=text))
    assert verdict.match or verdict.rule == "empty"


@pytest.mark.parametrize(
    "part", first_ones(["(", "?", "a", "avoid ", "gout, ", "0 % ", "to ", "or ", "not, ", "stop x, start y; "])
)
def test_a_long_plan_is_read(part: str) -> None:
    """Ends at all: quadratic work would outlast the time limit of a test."""
    plan = read_plan(part * (200_000 // len(part)))
    assert bool(plan.started) == (part in ("a", "gout, "))


@pytest.mark.parametrize(
    "words",
    [
        "Anything but {}",
        "This is not {}",
        "There is no evidence of {}",
        "I would never call this {}",
        "Seasickness rather than {}",
        "Seasickness mimicking {}",
        "After excluding {}, seasickness remains",
        "{} was considered, but it is seasickness",
        "Seasickness <!-- {} -->",
        "~~{}~~ seasickness",
        "Seasickness; if need be, {}",
    ],
)
def test_a_plan_that_is_denied_is_shown_to_no_judge(words: str) -> None:
    """Also where the denied plan goes on with verbs behind commas, as plans do."""
    truth = "resection of the cyst, start imatinib, then give rituximab"
    found = compare_plan(words.format(truth), Truth(treatment=truth))
    assert not found.match
    assert found.reason == "no_treatment_asserted" or found.committed
    assert not {"resection", "imatinib", "rituximab"} & set(found.committed.replace(",", " ").split())


def test_what_a_plan_gives_is_shown_as_it_is_written() -> None:
    truth = Truth(treatment="Meropenem")
    assert compare_plan("Give meropenem 1 g and, later, vancomycin", truth).committed == ""
    assert compare_plan("Give meropenem 1 g while stopping aspirin; avoid ceftriaxone", truth).committed == (
        "Give meropenem 1 g while; stopping aspirin"
    )
    whole = "Give meropenem; avoid ceftriaxone"
    assert compare_plan(whole, Truth(treatment=whole)).committed == "", "the truth itself is shown whole"
    assert compare_plan("Never give aspirin, start meropenem", truth).match


def test_a_plan_of_everything_has_too_many_measures_whatever_the_truth() -> None:
    """Before any judge is asked, also where it stops what the truth gives or nothing can be read from the truth."""
    assert compare_plan(f"{EVERYTHING}; stop imatinib", PLAN).reason == "too_many_measures"
    assert compare_plan(EVERYTHING, Truth(treatment="Observation")).reason == "too_many_measures"


@pytest.mark.parametrize(
    ("text", "kept", "ended"),
    [
        ("hydrochlorothiazide and loperamide stopped", (), ("hydrochlorothiazide", "loperamide")),
        ("Digoxin, verapamil and ibuprofen discontinued.", (), ("Digoxin", "verapamil", "ibuprofen")),
        ("Fluids given, digoxin and loperamide stopped", ("Fluids",), ("digoxin", "loperamide")),
        ("Metformin held and insulin started", ("insulin",), ("Metformin",)),
        ("Give fluids, loperamide stopped", ("Give fluids",), ("loperamide",)),
        ("Surgery performed and warfarin suspended", ("Surgery",), ("warfarin",)),
    ],
)
def test_a_verb_behind_its_measures_takes_all_of_them(text: str, kept: tuple[str, ...], ended: tuple[str, ...]) -> None:
    plan = read_plan(text)
    assert tuple(one.text for one in plan.started) == kept
    assert tuple(one.text for one in plan.stopped) == ended


JOINERS = (" ", "-", "/", " → ", " v ", " & ", " | ", " of ", ") (", "; ", ", ", " zzz ")


@pytest.mark.parametrize("joiner", JOINERS)
@pytest.mark.parametrize("count", first_ones([8, 20, 60], 1))
def test_naming_many_measures_is_no_plan_whatever_stands_between_them(joiner: str, count: int) -> None:
    """One constant text is right for at most a tenth of the short truths, as a list of as many as are allowed is."""
    truths = sorted(set(measure_names().named.values()))
    drawn = joiner.join(random.Random(count).sample(truths, count))
    right = [truth for truth in truths if compare_plan(drawn, Truth(treatment=truth.capitalize())).match]
    assert len(right) <= len(truths) / 10


@pytest.mark.parametrize(
    ("truth", "answer"),
    [
        ("Left nephrectomy", "Right nephrectomy"),
        ("Increase levothyroxine", "Decrease levothyroxine"),
        ("Fluid restriction", "Intravenous fluids"),
        ("Start warfarin", "Monitor the warfarin level"),
        ("Liver transplantation", "Kidney transplantation"),
        ("Oral iron supplementation", "Oral vitamin supplementation"),
        ("Surgical resection of the tumor", "Surgical biopsy of the tumor"),
        ("Warfarin", "Warfarin: discontinue"),
        ("Thrombolysis", "Thrombolysis would be dangerous"),
        ("Surgery", "Surgery only if conservative treatment fails"),
        ("Steroids", "Steroids in case of relapse"),
        ("Steroids", "The patient refuses steroids"),
        ("Steroids", "Steroids were given last year"),
        ("Steroids", "A steroid-sparing agent"),
        ("Steroids", "Wean off steroids"),
        ("Colchicine", "antibiotics otherwise colchicine"),
    ],
)
def test_a_measure_turned_round_kept_for_later_or_of_the_past_is_not_given(truth: str, answer: str) -> None:
    assert not compare_plan(answer, Truth(treatment=truth)).match


@pytest.mark.parametrize(
    ("truth", "answer"),
    [
        ("Cholecystectomy", "Remove the gallbladder"),
        ("Appendectomy and intravenous antibiotics", "Take the appendix out under antibiotic cover"),
        ("Hydrocortisone and intravenous saline", "100 mg hydrocortisone i.v., 1 l 0.9% NaCl. Do not use potassium."),
        ("Right nephrectomy", "Nephrectomy"),
        ("Increase levothyroxine", "Levothyroxine 150 mcg daily"),
        ("Kidney transplantation", "Renal transplantation"),
        ("Amoxicillin-clavulanate", "Amoxicillin/clavulanate 1 g twice daily for ten days"),
        ("Steroids", "Steroids, and rituximab if they fail"),
        ("Active cooling", "Cooling measures at once"),
    ],
)
def test_a_measure_in_other_words_is_given(truth: str, answer: str) -> None:
    assert compare_plan(answer, Truth(treatment=truth)).match
