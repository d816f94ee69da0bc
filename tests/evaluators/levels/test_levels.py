"""Levels side by side: normalised accuracy, gaps, pairs of models, facts, and what is said where there is no figure."""

import random
from pathlib import Path

import pytest
from msgspec.structs import replace

from conformance import question_accuracy
from wardround.engine.errors import UsageError
from wardround.evaluators.levels.clinician_sheet import difficulty_ratings
from wardround.evaluators.levels.level_figures import (
    THOUGHT,
    LevelFigure,
    LevelReport,
    LevelRow,
    Stratum,
    disease_of,
    figure,
    gap,
    level_report,
    normalise_by_chance,
    unit_of,
)
from wardround.evaluators.levels.level_page import grids, levels_json, levels_page
from wardround.evaluators.levels.level_plots import level_plots
from wardround.evaluators.report.model_facts import BUNDLED, known_models, plain_id

BLANK = LevelRow(model="m", run="r", level="low", dataset="s", task="choice", unit="1", repeat=1, value=1.0)


def rows(values: list[float | None], **fields: object) -> list[LevelRow]:
    return [replace(BLANK, unit=str(number), value=value, **fields) for number, value in enumerate(values)]


def test_normalised_accuracy_of_every_task_equals_the_published_one() -> None:
    draw = random.Random(5)
    for task, name in (("MCQ", "choice"), ("SV", "statement"), ("AE", "existence")):
        chance = question_accuracy.chance_accuracy(task, 4)  # type: ignore[arg-type]
        by_repeat = [[float(draw.random() < 0.7) for _ in range(40)] for _ in range(5)]
        made = [
            replace(BLANK, task=name, unit=str(unit), repeat=repeat, value=value, chance=chance)
            for repeat, values in enumerate(by_repeat)
            for unit, value in enumerate(values)
        ]
        expected, found = question_accuracy.accuracy(by_repeat, chance), figure(made)
        assert found.mean == pytest.approx(expected.normalised)
        assert found.error == pytest.approx(expected.normalised_error)
        assert found.accuracy == pytest.approx(expected.mean)


@pytest.mark.parametrize("options", [4, 5])
def test_sides_of_a_rectification_are_weighted_by_their_options(options: int) -> None:
    draw = random.Random(options)
    made, by_repeat = [], []
    for repeat in range(3):
        values = []
        for unit in range(30):
            sides = {True: float(draw.random() < 0.9), False: float(draw.random() < 0.3)}
            fields = {"task": "rectification", "level": "middle", "chance": 1 / options, "repeat": repeat}
            made += [replace(BLANK, unit=str(unit), holds=side, value=value, **fields) for side, value in sides.items()]
            values.append(question_accuracy.rectified(bool(sides[True]), bool(sides[False]), options))
        by_repeat.append(values)
    expected, found = question_accuracy.accuracy(by_repeat, 1 / options), figure(made)
    assert found.mean == pytest.approx(expected.normalised)
    assert found.error == pytest.approx(expected.normalised_error)
    lazy = figure([replace(row, value=float(row.holds is True)) for row in made])
    assert lazy.mean == pytest.approx(0), "to call everything correct is guessing"


def test_one_side_alone_has_no_figure() -> None:
    found = figure(rows([1.0] * 9, task="rectification", holds=True, chance=0.2))
    assert found.mean is None
    assert found.missing == {"one_side": 9}
    assert "one side" in found.reason


def test_the_interval_of_rectifications_of_different_questions_stays_between_the_ends_of_the_scale() -> None:
    right = rows([1.0] * 6, task="rectification", holds=True, chance=0.25)
    wrong = [
        replace(row, unit=f"w{row.unit}", holds=False)
        for row in rows([1.0, 1.0, 0.0, 1.0, 1.0, 1.0], task="rectification", chance=0.25)
    ]
    found = figure([*right, *wrong])
    assert found.mean == pytest.approx(5 / 6)
    assert found.ci95 is not None
    assert 0 < found.ci95[0] < found.ci95[1] <= 1.0 + 1e-9
    perfect = figure([*right, *(replace(row, value=1.0) for row in wrong)])
    assert perfect.mean == pytest.approx(1.0)
    assert perfect.ci95 is None
    assert "no spread" in perfect.ci95_reason


def test_tasks_and_sets_weigh_the_same_whatever_their_size() -> None:
    made = [*rows([1.0] * 30, task="statement"), *rows([0.0] * 6, task="existence")]
    assert figure(made).mean == pytest.approx(0.5)


def test_repeats_need_two_for_a_standard_error() -> None:
    assert figure(rows([1.0, 0.0, 1.0])).error is None
    both = [*rows([1.0, 0.0]), *rows([1.0, 1.0], repeat=2)]
    assert figure(both).error == pytest.approx(0.25)


def test_an_answer_without_a_score_is_counted_and_left_out() -> None:
    found = figure([*rows([1.0, None, 0.0]), replace(BLANK, unit="9", value=None, reason="provider/timeout")])
    assert found.mean == pytest.approx(0.5)
    assert found.missing == {"not_scored": 1, "provider/timeout": 1}


@pytest.mark.long
def test_a_gap_is_paired_by_question_and_its_interval_holds_no_spread_between_questions() -> None:
    draw = random.Random(2)
    easy = [float(draw.random() < 0.5) for _ in range(200)]
    low = rows(list(easy))
    middle = [replace(row, level="middle", task="statement", value=row.value) for row in low]
    middle[0] = replace(middle[0], value=1 - easy[0])
    paired = gap(low, middle, unit_of)
    apart = gap(low, [replace(row, unit=f"x{row.unit}") for row in middle], unit_of)
    assert (paired.by, paired.pairs, apart.by, apart.pairs) == ("question", 200, "nothing", 0)
    assert paired.difference == pytest.approx(apart.difference)
    assert paired.ci95 is not None
    assert apart.ci95 is not None
    assert paired.ci95[1] - paired.ci95[0] < 0.25 * (apart.ci95[1] - apart.ci95[0])


def test_a_gap_over_shared_diseases_leaves_the_others_out() -> None:
    low = [replace(row, disease=f"D{number % 8}") for number, row in enumerate(rows([1.0] * 40))]
    high = [
        replace(BLANK, level="high", task="encounter", unit=f"c{n}", disease=f"d{n % 12}", value=float(n < 6))
        for n in range(12)
    ]
    found = gap(low, high, disease_of)
    assert (found.by, found.pairs) == ("disease", 8)
    assert found.difference == pytest.approx(6 / 8 - 1)
    several = level_report([*low, *high], known_models()).gaps
    assert {(one.over, one.by) for one in several} == {("all", "nothing"), ("shared", "disease")}


def test_a_medical_model_is_paired_with_its_backbone_and_a_thinking_one_with_its_sibling() -> None:
    pairs = {
        "m42-health/med42-70b": [1.0] * 9 + [0.0],
        "meta-llama/Llama-2-70b-chat-hf": [0.0] + [1.0] * 5 + [0.0] * 4,
        "openai/gpt-4o-mini": [0.0, 1.0] * 5,
        "openai/o3-mini": [1.0] * 10,
    }
    made = [replace(row, model=model) for model, values in pairs.items() for row in rows(list(values))]
    made += [replace(row, model=f"openai/gpt-4o-mini{THOUGHT}") for row in rows([1.0] * 10)]
    found = level_report(made, known_models())
    assert [(one.second, one.first) for one in found.backbones] == [
        ("m42-health/med42-70b", "meta-llama/Llama-2-70b-chat-hf")
    ]
    assert found.backbones[0].difference == pytest.approx(0.4)
    assert {(one.second, one.first) for one in found.siblings} == {
        ("openai/o3-mini", "openai/gpt-4o-mini"),
        (f"openai/gpt-4o-mini{THOUGHT}", "openai/gpt-4o-mini"),
    }


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ([], []),
        (
            rows([None] * 4),
            ["no figure at the low level: no answer has a score", "no figure at the high level: nothing was played"],
        ),
        (rows([1.0]), ["the low level is one question or case"]),
    ],
)
def test_nothing_one_and_none_are_sentences(made: list[LevelRow], said: list[str]) -> None:
    found = level_report(made, known_models())
    told = " ".join(levels_json(found)["notes"])
    assert all(one in told for one in said)
    page = levels_page(found)
    assert "nan" not in page.casefold().replace("financ", "")
    assert "No model has a figure" in page or made
    assert bool(grids(found)) is bool(made)


@pytest.mark.long
def test_the_order_of_the_rows_changes_nothing() -> None:
    draw = random.Random(3)
    made = [
        replace(row, repeat=repeat, task=task)
        for repeat in (1, 2)
        for task in ("statement", "existence")
        for row in rows([float(draw.random() < 0.6) for _ in range(25)])
    ]
    mixed = list(made)
    draw.shuffle(mixed)
    assert level_report(made, known_models()) == level_report(mixed, known_models())
    assert levels_page(level_report(made, known_models())) == levels_page(level_report(mixed, known_models()))


def test_bundled_facts_name_each_other_and_leave_the_unknown_open() -> None:
    known = known_models()
    for one in known.by_name.values():
        assert not one.backbone or one.backbone in known.by_name
        assert not one.plain or one.plain in known.by_name
    found = known.find("gpt-4o-mini")
    assert found is not None
    assert found.parameters is None
    assert known.find("someone/else") is None
    assert BUNDLED.is_file()


def test_people_have_a_mean_and_a_median_over_their_runs() -> None:
    shares = {"ann": [1.0] * 4, "ben": [1.0, 0.0, 0.0, 0.0], "cem": [0.0] * 4}
    made = [replace(row, model="human", run=run) for run, values in shares.items() for row in rows(list(values))]
    (found,) = level_report(made, known_models()).people
    assert (found.people, found.median) == (3, 0.25)
    assert found.mean == pytest.approx(5 / 12)
    assert level_report(rows([1.0]), known_models()).people == []


def test_the_sheet_of_clinicians_has_levels_before_tasks_and_their_difficulty() -> None:
    made = [
        *rows([1.0, 1.0, 0.0, 1.0], model="human", run="ann", difficulty=2.0),
        *rows([0.0, 0.0], model="human", run="ann", level="middle", task="statement", difficulty=5.0),
        *rows([1.0, 0.0], model="human", run="ben", level="middle", task="existence", difficulty=8.0),
        *rows([1.0], model="human", run="ben", level="high", task="workup"),
    ]
    people = level_report(made, known_models()).people
    assert [(one.level, one.task, one.people, one.mean) for one in people] == [
        ("low", "choice", 1, 0.75),
        ("middle", "all", 2, 0.25),
        ("middle", "existence", 1, 0.5),
        ("middle", "statement", 1, 0.0),
        ("high", "workup", 1, 1.0),
    ]
    ratings = [(one.rated, one.difficulty_mean, one.difficulty_median) for one in people]
    assert ratings == [(4, 2.0, 2.0), (4, 6.5, 6.5), (2, 8.0, 8.0), (2, 5.0, 5.0), (0, None, None)]
    (sheet,) = [grid for grid in grids(level_report(made, known_models())) if grid.title == "People"]
    assert sheet.rows[0][5:] == ("2.0", "2.0", "4")
    assert sheet.rows[-1][5:] == ("–", "–", "0")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("run,item,difficulty\nann,q1,11\n", "row 2, difficulty: is '11'"),
        ("run,item,difficulty\nann,q1,hard\n", "row 2, difficulty: is 'hard'"),
        ("run,item,difficulty\nann,,3\n", "row 2, item: is missing"),
        ("run,item\nann,q1\n", "needs the columns run and item and difficulty; it has run, item"),
        ("run,item,difficulty\nann,q1,3\nann,q1,4\n", "row 3: ann already rates q1; give one rating for each item"),
    ],
)
def test_a_rating_that_cannot_be_read_is_named_by_row_and_field(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "d.csv"
    path.write_text(text)
    with pytest.raises(UsageError, match=said):
        difficulty_ratings(path)
    path.write_text("run,item,difficulty\nann,q1,3.5\n")
    assert difficulty_ratings(path) == {("ann", "q1"): 3.5}


@pytest.mark.parametrize("name", ["org/X-70B-Chat", "x-70b", "X-70B-Instruct", "x-70b-2024-08-06", "X 70B"])
def test_a_model_is_found_by_its_served_names(name: str) -> None:
    assert plain_id(name) == "x-70b"


def test_a_users_file_adds_and_replaces(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        '[[model]]\nname = "Mine"\nids = ["lab/mine-v1"]\nparameters = 3\n[[model]]\nname = "GPT-4o"\nfamily = "Own"'
    )
    known = known_models(path)
    mine, replaced = known.find("lab/mine-v1"), known.by_name["GPT-4o"]
    assert mine is not None
    assert (mine.parameters, mine.open) == (3, None)
    assert (replaced.family, replaced.release) == ("Own", "")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[[model]]\nname = 3", "Expected `str`"),
        ("[[model]]\nname = 'a'\nsize = 3", "size"),
        ("[[model", "is not TOML"),
        ("[[model]]\nname = 'a'\n[[model]]\nname = 'a'", "two models called 'a'"),
    ],
)
def test_a_wrong_file_of_facts_is_refused_by_name(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=f"mine.toml.*{why}"):
        known_models(path)
    with pytest.raises(UsageError, match="cannot be read"):
        known_models(tmp_path / "none.toml")


def test_parts_of_normalised_rows_keep_their_units() -> None:
    assert {part.unit for part in normalise_by_chance(rows([1.0, 0.0, None]))} == {"0", "1"}


def test_a_stratum_below_guessing_is_drawn_beside_its_name_and_not_on_it() -> None:
    """An axis that began at 0 had the marks of negative figures over the names of the diseases."""
    plots = {}
    for mean in (0.4, -0.25):
        strata = [Stratum(model="m", by="disease", name="Scurvy", figure=LevelFigure(mean=mean, units=1))]
        report = LevelReport(models=[], gaps=[], backbones=[], siblings=[], strata=strata, people=[], notes=[])
        [plot] = [plot for plot in level_plots(report) if plot.heading == "High level by disease"]
        plots[mean] = str(plot.drawing)
    assert "normalised accuracy" not in plots[0.4]
    assert "normalised accuracy" in plots[-0.25]
    assert "\u221220" in plots[-0.25] or "-20" in plots[-0.25]


def test_no_interval_is_a_point_however_the_two_sides_are_resampled() -> None:
    low, high = rows([1.0] * 9), rows([0.0] * 9, level="high", task="workup")
    apart = gap(low, [replace(row, unit=f"x{row.unit}") for row in high], unit_of)
    assert (apart.by, apart.difference, apart.ci95) == ("nothing", -1.0, None)
    assert "no spread" in apart.reason


def test_a_set_of_one_question_lends_no_interval_to_the_mean_over_sets() -> None:
    many = rows([0.0] * 9, level="high", task="workup")
    one = [
        replace(BLANK, dataset="t", level="high", unit="v", repeat=repeat, value=float(repeat == 1), chance=0.2)
        for repeat in range(1, 6)
    ]
    found = figure([*many, *one])
    assert found.mean == pytest.approx(0)
    assert found.ci95 is None
    assert "one question" in found.ci95_reason


def encounters(model: str, right: dict[str, list[float]]) -> list[LevelRow]:
    fields = {"model": model, "level": "high", "task": "workup", "value": 0.0}
    return [
        replace(BLANK, **fields, unit=f"{disease}{number}", disease=disease, end_point=value)
        for disease, values in right.items()
        for number, value in enumerate(values)
    ]


def test_curves_by_disease_are_means_over_the_models_of_a_size_best_disease_first(tmp_path: Path) -> None:
    facts = tmp_path / "m.toml"
    sizes = {"small": 7, "other-small": 8, "large": 70}
    facts.write_text(
        "\n".join(f'[[model]]\nname = "{name}"\nids = ["{name}"]\nparameters = {size}' for name, size in sizes.items())
    )
    made = [
        *encounters("small", {"Scurvy": [1.0, 0.0], "Gout": [0.0], "Lupus": [0.0]}),
        *encounters("other-small", {"Scurvy": [1.0], "Gout": [1.0]}),
        *encounters("large", {"Scurvy": [1.0], "Gout": [1.0], "Lupus": [1.0]}),
        *encounters("whose-size-nobody-knows", {"Gout": [0.0]}),
    ]
    found = level_report(made, known_models(facts)).curves
    assert list(found.diseases) == ["Scurvy", "Gout", "Lupus"], "means 5/6, 1/2, 1/2"
    assert dict(found.cases) == {"Scurvy": 2, "Gout": 1, "Lupus": 1}
    assert [(one.size, list(one.models), dict(one.accuracy)) for one in found.curves] == [
        ("under 10 billion", ["small", "other-small"], {"Scurvy": 0.75, "Gout": 0.5, "Lupus": 0.0}),
        ("50 billion and more", ["large"], {"Scurvy": 1.0, "Gout": 1.0, "Lupus": 1.0}),
        ("size unknown", ["whose-size-nobody-knows"], {"Gout": 0.0}),
    ]
    report = level_report(made, known_models(facts))
    drawn = next(plot for plot in level_plots(report) if plot.heading == "Diagnosis by disease and size")
    assert drawn.drawing is not None
    assert "under 10 billion, 2 models" in drawn.drawing


def test_curves_need_two_diseases_with_a_scored_diagnosis() -> None:
    made = [replace(row, end_point=None) for row in encounters("m", {"Scurvy": [1.0], "Gout": [0.0]})]
    drawn = level_plots(level_report(made, known_models()))[-1]
    assert drawn.drawing is None
    assert "two diseases" in drawn.note


def test_facts_are_asked_for_of_models_only() -> None:
    made = [
        replace(row, model=name) for name in ("gold", "openai/unheard-of", "replies:f#other") for row in rows([1.0])
    ]
    asked = [note.split(":")[0] for note in level_report(made, known_models()).notes if "no facts" in note]
    assert asked == ["openai/unheard-of", "replies"]


def test_the_page_begins_with_the_figures_and_their_number_of_questions() -> None:
    page = levels_page(level_report(rows([1.0, 0.0, 1.0]), known_models()), ["A note."])
    table, note, plot = (page.index(part) for part in ("Normalised accuracy by level", "A note.", "<svg"))
    assert table < note < plot
    assert "n = 3" in page


def test_a_disease_with_one_case_is_no_mean_and_no_mark() -> None:
    sizes = {"Scurvy": 1, "Gout": 1, "Lead poisoning": 4}
    strata = [
        Stratum(model="m", by="disease", name=name, figure=LevelFigure(mean=0.5, units=units))
        for name, units in sizes.items()
    ]
    report = LevelReport(models=[], gaps=[], backbones=[], siblings=[], strata=strata, people=[], notes=[])
    [plot] = [plot for plot in level_plots(report) if plot.heading == "High level by disease"]
    assert (plot.drawing, plot.note) == (None, "Not drawn: 2 of 3 have one case.")
    [grid] = [grid for grid in grids(report) if "disease" in grid.title]
    assert grid.notes == ("No mean over them: 2 of 3 have one case.",)


def test_a_task_that_two_levels_have_is_shown_at_each() -> None:
    made = [*rows([1.0] * 3), *rows([0.0] * 2, level="high")]
    report = level_report(made, known_models())
    [tasks] = [grid for grid in grids(report) if grid.title == "By task (%)"]
    assert [(row[1], row[2], row[5]) for row in tasks.rows] == [("low", "choice", "100.00"), ("high", "choice", "0.00")]


@pytest.mark.long
def test_many_models_stand_in_parts_beside_each_other_and_their_plot_says_how_many_it_shows() -> None:
    names = [f"lab/a-model-with-a-long-name-{number}" for number in range(13)]
    made = [row for name in names for row in encounters(name, {"Scurvy": [1.0, 0.0], "Gout": [0.0, 1.0]})]
    report = level_report(made, known_models())
    parts = [grid for grid in grids(report) if grid.title.startswith("High level by disease")]
    assert [grid.title.rpartition(", ")[2] for grid in parts] == [
        "models 1 to 5 of 13",
        "models 6 to 10 of 13",
        "models 11 to 13 of 13",
    ]
    assert [name for grid in parts for name in grid.head[2:]] == names
    [plot] = [plot for plot in level_plots(report) if plot.heading == "High level by disease"]
    assert plot.note.endswith("The first 12 of 13 models.")
    assert names[12] not in str(plot.drawing)
    assert "What 13 models know" in levels_page(report)


@pytest.mark.long
def test_sizes_that_would_be_printed_over_each_other_are_labelled_once(tmp_path: Path) -> None:
    facts, sizes = tmp_path / "m.toml", (2, 13, 14, 70, 72)
    facts.write_text(
        "".join(f'[[model]]\nname = "m{size}"\nids = ["m{size}"]\nparameters = {size}\n' for size in sizes)
    )
    made = [replace(row, model=f"m{size}") for size in sizes for row in rows([1.0, 0.0])]
    [plot] = [plot for plot in level_plots(level_report(made, known_models(facts))) if plot.heading == "By size"]
    labels = [size for size in sizes if f">{size}<" in str(plot.drawing)]
    assert labels == [2, 13, 70]


def test_no_figure_is_minus_zero() -> None:
    made = [*rows([0.25 - 1e-9] * 3, chance=0.25), *rows([0.25 - 2e-9] * 3, chance=0.25, level="middle")]
    report = level_report(made, known_models())
    assert "\u22120.00" not in str(grids(report))
    assert "0.00" in str(grids(report))


@pytest.mark.long
def test_a_plot_counts_the_cases_of_the_model_that_played_most() -> None:
    made = [*encounters("all", {"Scurvy": [1.0] * 6, "Gout": [0.0] * 6}), *encounters("one", {"Scurvy": [1.0]})]
    [plot] = [
        plot for plot in level_plots(level_report(made, known_models())) if plot.heading == "High level by disease"
    ]
    assert "Scurvy (6)" in str(plot.drawing)
