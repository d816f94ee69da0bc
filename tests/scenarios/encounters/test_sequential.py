"""Sequential diagnosis: visits and tests cost dollars, an unknown price is named, a budget holds."""

import csv
from pathlib import Path

import pytest
from clinic import case, case_file
from game import Game
from shell import Shell

from wardround.engine.errors import UsageError
from wardround.engine.records import Action, Json, View
from wardround.runs.plan import cases_of
from wardround.runs.settings import RunSettings, load_prompts
from wardround.scenarios.case import Case, Investigation, case_results
from wardround.scenarios.encounters.sequential import Sequential, SequentialSettings
from wardround.scenarios.orders.catalogue import catalogue
from wardround.scenarios.orders.tariff import Tariff, read_test_prices, standard_prices
from wardround.scenarios.terms.wording import table_rows

TABLE = Path(__file__).resolve().parents[3] / "scenarios" / "terms" / "data" / "prices.csv"
LIST = Tariff({}, catalogue())


def charges(*asked: str, kind: str = "any") -> dict[str, float | None]:
    return {line.asked: line.usd for line in LIST.bill(list(asked), kind)}


def bill(game: Game) -> Json:
    assert game.ending is not None
    return game.ending.facts["bill"]


def game(**settings: Json) -> Game:
    return Game(Sequential(SequentialSettings(**settings), load_prompts()), case(1))


def order(*names: str) -> Action:
    return Action("order", args={"kind": "any", "items": list(names)})


def results(*asked: str) -> Action:
    rows = [
        {"asked": name, "kind": "lab", "state": "not_performed", "refs": [], "text": f"{name}: no"} for name in asked
    ]
    return Action("answer", "no result", {"answers": rows})


DONE = Action("conclude", args={"diagnosis": "Acute appendicitis"})
ASK = Action("ask", text="Since when?")
SAID = Action("answer", "Since noon.", {"topics": []})


def test_questions_that_follow_each_other_are_one_visit_and_tests_end_it() -> None:
    played = game()
    for action in (ASK, SAID, ASK, SAID, order("abdominal exam"), results("abdominal exam")):
        played.act(action)
    played.act(order("CBC", "CT head"))
    assert "$" not in played.view("examiner").brief
    played.act(results("CBC", "CT head"))
    told = played.view("doctor").heard[-1].text
    assert "Cost of this turn: $360 (CBC $10; CT head $350). Spent so far: $660." in told
    for action in (ASK, SAID, DONE):
        played.act(action)
    assert bill(played) == {"tests_usd": 360.0, "visits": 2, "visits_usd": 600.0, "unpriced": [], "refused": 0}


def test_what_is_not_in_the_record_costs_too_and_an_unknown_price_is_named() -> None:
    played = game()
    played.act(order("MRI brain", "quantum resonance panel"))
    played.act(results("MRI brain", "quantum resonance panel"))
    told = played.view("doctor").heard[-1].text
    assert "price not known: quantum resonance panel" in told
    assert "Spent so far: $900, without quantum resonance panel" in told
    played.act(DONE)
    assert bill(played)["unpriced"] == ["quantum resonance panel"]
    assert bill(played)["tests_usd"] == 900.0


def test_a_budget_refuses_what_is_over_it_or_cannot_be_priced() -> None:
    played = game(budget=700)
    assert "$700 in all" in played.view("doctor").brief
    played.act(ASK)
    played.act(SAID)
    played.act(order("MRI brain"))
    assert played.turn == "doctor"
    said = played.view("doctor").heard[-1]
    assert (said.seat, said.verb) == ("desk", "refusal")
    assert "it would cost $900, and $400 are left" in said.text
    played.act(order("quantum resonance panel"))
    assert "no price is known for quantum resonance panel" in played.view("doctor").heard[-1].text
    played.act(order("CT head"))
    assert played.turn == "examiner"
    played.act(results("CT head"))
    played.act(DONE)
    assert bill(played) == {"tests_usd": 350.0, "visits": 1, "visits_usd": 300.0, "unpriced": [], "refused": 2}


def test_refusals_use_up_turns_so_that_an_episode_ends() -> None:
    played = game(budget=1, max_turns=4)
    for _ in range(3):
        played.act(order("MRI brain"))
    assert played.view("doctor").verbs == ("reply", "conclude")
    played.act(DONE)
    assert played.ending is not None
    assert played.ending.cause == "completed"


def test_the_tests_of_a_panel_cost_no_more_than_the_panel() -> None:
    parts = charges("sodium", "potassium", "chloride", "bicarbonate", "urea", "creatinine", "glucose")
    assert sum(usd or 0 for usd in parts.values()) == standard_prices()["Basic metabolic panel"]
    assert charges("sodium")["sodium"] == standard_prices()["Sodium"]


def test_a_query_back_costs_nothing_and_a_study_by_modality_its_usual_price() -> None:
    assert charges("imaging") == {"imaging": None}
    assert LIST.bill(["imaging"], "any")[0].charge == "nothing"
    assert charges("serum zorbulin antibodies") == {"serum zorbulin antibodies": 60}
    assert charges("MRI of the left knee")["MRI of the left knee"] == standard_prices()["MRI"]
    assert sum(line.usd or 0 for line in LIST.bill(["blood tests"], "any")) == 10 + 12 + 12


def test_every_test_of_the_catalogue_has_a_price_of_a_named_class() -> None:
    with TABLE.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    named = {row["test"] for row in rows}
    assert len(named) == len(rows)
    assert [
        test.name for test in catalogue().tests.values() if test.kind != "examination" and test.name not in named
    ] == []
    assert {row["source"] for row in rows} == {"laboratory", "imaging", "procedure"}
    assert all(float(row["usd"]) > 0 for row in rows)
    assert all(not row["code"] or row["code"].startswith("LOINC ") for row in rows)


def test_the_codes_are_loinc_numbers_with_their_check_digit() -> None:
    codes = [row["code"].removeprefix("LOINC ") for row in table_rows("prices.csv") if row["code"]]
    assert len(codes) == len(set(codes)) >= 60
    for number, digit in (code.split("-") for code in codes):
        doubled = [int(figure) * (2 - place % 2) for place, figure in enumerate(reversed(number))]
        assert (sum(value // 10 + value % 10 for value in doubled) + int(digit)) % 10 == 0, number


def test_nearly_every_recorded_result_of_the_bundled_cases_has_a_price() -> None:
    every = [(c, item) for c in cases_of(RunSettings()) if isinstance(c, Case) for item in case_results(c)]
    tests = [item.name for _, item in every if item.kind != "examination"]
    lines = [LIST.bill([name], "any", frozenset([name]))[0] for name in tests]
    unknown = [line.asked for line in lines if line.charge == "unpriced"]
    assert len(unknown) <= 0.005 * len(tests), sorted(set(unknown))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("CT head", "line 1"),
        ("test,usd\nCT head,dear", "line 2"),
        ("CT head,-1", "line 1"),
        ("a,1\na,2", "twice"),
        ("", "no price"),
    ],
)
def test_a_wrong_list_of_prices_is_refused_with_its_line(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "prices.csv"
    path.write_text(text)
    with pytest.raises(UsageError, match=told):
        read_test_prices(path)


def test_ones_own_prices_go_before_the_table() -> None:
    own = Tariff({"brain MRI": 1.5, "quantum resonance panel": 7}, catalogue())
    lines = [line.usd for line in own.bill(["MRI brain", "Quantum Resonance Panel", "CBC"], "any")]
    assert lines == [1.5, 7, 10]


@pytest.mark.parametrize("wording", ["CBC {}", "previous {}", "{} report", "inspection {}", "physical examination {}"])
@pytest.mark.parametrize("name", ["MR cholangiopancreatography", "Respiratory viral PCR panel", "Renal biopsy"])
def test_words_beside_a_name_of_the_record_make_it_no_cheaper(name: str, wording: str) -> None:
    recorded = frozenset((name, "Troponin"))
    plain = sum(line.usd or 0 for line in LIST.bill([name], "any", recorded))
    worded = LIST.bill([wording.format(name)], "any", recorded)
    assert sum(line.usd or 0 for line in worded) >= plain > 0


def recording(result: Investigation) -> Case:
    """A case whose record has this result and no other."""
    return case(1).model_copy(update={"labs": (), "imaging": (), "investigations": (result,)})


@pytest.mark.parametrize(
    "wording",
    ["CT abdomen", "exam for {}", "physical examination including {}", "result of {}", "look at {}", "ct of abdomen"],
)
def test_a_result_costs_no_less_under_another_name(wording: str) -> None:
    name = "CT of abdomen and pelvis"
    study = Investigation(name=name, text="No stone.")
    played = Game(Sequential(SequentialSettings(), load_prompts()), recording(study))
    played.act(order(wording.format(name)))
    played.act(results(wording.format(name)))
    played.act(DONE)
    paid = bill(played)
    assert isinstance(paid, dict)
    assert paid["tests_usd"] == charges(name)[name]
    assert paid["unpriced"] == []


def test_a_panel_that_answers_for_its_tests_is_paid_for_once() -> None:
    panel = Investigation(name="Basic metabolic panel", text="Sodium 121 mEq/L, potassium 3.6 mEq/L.")
    played = Game(Sequential(SequentialSettings(), load_prompts()), recording(panel))
    played.act(order("sodium", "potassium", "creatinine"))
    played.act(results("sodium", "potassium", "creatinine"))
    played.act(DONE)
    paid = bill(played)
    assert isinstance(paid, dict)
    assert paid["tests_usd"] == standard_prices()["Basic metabolic panel"]


def test_a_budget_holds_against_a_cheaper_name() -> None:
    study = Investigation(name="CT of abdomen and pelvis", text="No stone.")
    played = Game(Sequential(SequentialSettings(budget=500), load_prompts()), recording(study))
    played.act(order("CT abdomen"))
    assert played.turn == "doctor"
    assert "it would cost $600" in played.view("doctor").heard[-1].text


@pytest.mark.parametrize("beside", ["history", "palpation"])
def test_what_a_visit_is_made_of_is_no_test_without_a_price(beside: str) -> None:
    assert [line.charge for line in LIST.bill([beside, "CBC"], "any")] == ["visit", "test"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[object, ...]:
    monkeypatch.chdir(tmp_path)
    return ("run", "--cases", case_file(tmp_path / "cases.jsonl", 3), "--scenario", "sequential")


def scored(shell: Shell, name: str) -> dict[str, Json]:
    assert shell("score", name) == 0, shell.err
    scores = shell.json("report", name)["runs"][0]["scores"]
    return {score["name"]: score for score in scores} if isinstance(scores, list) else scores


def test_gold_is_right_and_silence_is_not(shell: Shell, here: tuple[object, ...]) -> None:
    assert shell(*here, "--doctor", "gold", "--name", "gold") == 0, shell.err
    assert scored(shell, "gold")["diagnosis_accuracy"]["mean"] == 1.0
    assert shell(*here, "--doctor", "silent", "--name", "silent") == 3, shell.err
    silent = scored(shell, "silent")
    assert silent["diagnosis_accuracy"]["mean"] == 0.0
    assert silent["case_cost_usd"]["mean"] == 0.0
    assert shell("replay", "gold") == 0, shell.out


class Everything:
    """Orders much of what can be ordered, then says what it says without."""

    async def act(self, view: View) -> Action:
        names = [test.name for test in catalogue().tests.values() if test.kind != "examination"][::10]
        return DONE if view.memo else Action("order", args={"kind": "any", "items": names}, memo=True)


class Nothing:
    """The same answer without a test."""

    async def act(self, view: View) -> Action:
        return DONE


def test_who_orders_everything_pays_for_it(
    shell: Shell, here: tuple[object, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    costs, right = [], []
    for name in ("Everything", "Nothing"):
        assert shell(*here, "--doctor", f"test_sequential:{name}", "--name", name) == 0, shell.err
        scores = scored(shell, name)
        costs.append(scores["case_cost_usd"]["mean"])
        right.append(scores["diagnosis_accuracy"]["mean"])
    assert right[0] == right[1]
    assert costs[0] > 10_000
    assert costs[1] == 0.0


@pytest.mark.long
def test_prices_of_ones_own_stay_with_the_run(shell: Shell, here: tuple[object, ...]) -> None:
    Path("own.csv").write_text("test,usd\nLipase,1000\n")
    assert shell(*here, "--doctor", "gold", "--test-prices", "own.csv", "--name", "dear") == 0, shell.err
    Path("own.csv").unlink()
    assert shell("replay", "dear") == 0, shell.out
    assert scored(shell, "dear")["tests_cost_usd"]["mean"] > 1000
    assert shell(*here, "--test-prices", "nowhere.csv") == 2
    assert "nowhere.csv" in shell.err
