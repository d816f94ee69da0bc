"""The figures of a run: denominators, bounds, groups, repeats."""

import json
import random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.engine.records import Score, json_object
from wardround.evaluators.report.intervals import student_t, wilson
from wardround.evaluators.report.score_rows import EpisodeScores
from wardround.evaluators.report.summary import WORD_MATCH, ScoreSummary, summarise

NAME = "diagnosis_accuracy"


def row(case: str, value: float | None, why: str = "", **more: object) -> EpisodeScores:
    """An episode with one score."""
    fields: dict[str, object] = {"cause": "completed", "repeat": 0, "group": "", **more}
    scores = (Score(NAME, value, why),)
    return EpisodeScores(episode=f"{case}@{fields['repeat']}", case=case, scores=scores, **fields)  # type: ignore[arg-type]


def one(*rows: EpisodeScores) -> ScoreSummary:
    """The figures of the one score."""
    [score] = summarise(rows).scores
    return score


def test_a_missing_value_is_counted_typed_and_bounded_but_is_no_zero() -> None:
    score = one(
        row("a", 1.0),
        row("b", 0.0, "no_answer", cause="doctor"),
        row("c", None, "provider/timeout", cause="provider"),
        row("d", None, "parser/unreadable", cause="parser"),
    )
    assert score.mean == 0.5
    assert (score.n, score.scored, score.none, score.no_answer) == (4, 2, 2, 1)
    assert score.reasons == {"parser/unreadable": 1, "provider/timeout": 1}
    assert score.bounds == (0.25, 0.75)


def test_a_figure_that_does_not_exist_widens_no_bounds() -> None:
    some = one(row("a", 1.0), row("b", None, "no_reference"), row("c", None, "judge/timeout"))
    assert (some.n, some.none, some.bounds) == (3, 2, (0.5, 1.0))
    assert one(row("a", None, "no_thinking"), row("b", None, "no_thinking")).bounds is None


def test_nothing_scored_has_no_mean_and_no_interval() -> None:
    score = one(row("a", None, "provider/auth"), row("b", None, "provider/auth"))
    assert (score.mean, score.ci95, score.micro, score.macro) == (None, None, None, None)
    assert score.bounds == (0.0, 1.0)


def test_open_episodes_are_counted_apart() -> None:
    found = summarise([row("a", 1.0), row("b", None, "open", cause=None)])
    assert (found.episodes, found.open) == (1, 1)
    assert found.scores[0].n == 1


def test_a_closed_episode_that_was_not_scored_counts_as_none() -> None:
    bare = EpisodeScores(episode="b@0", case="b", cause="completed")
    score = one(row("a", 1.0), bare)
    assert (score.n, score.none, score.reasons) == (2, 1, {"not_scored": 1})


def test_endings_by_type_put_completed_first() -> None:
    found = summarise([row("z", 1.0), row("b", 0.0, cause="doctor", reason="no_answer"), row("c", 1.0)])
    assert list(found.endings.items()) == [("completed", 2), ("doctor", 1)]
    assert found.reasons == {"doctor/no_answer": 1}


def test_counts_have_no_bounds() -> None:
    rows = [EpisodeScores(episode=c, case=c, cause="completed", scores=(Score("turns", 1.0),)) for c in "ab"]
    assert one(*rows).bounds is None


def test_a_plug_in_score_has_bounds_only_if_it_lies_in_0_to_1() -> None:
    def bounds(value: float) -> object:
        scores = (Score("my_own", value),)
        return one(EpisodeScores(episode="a", case="a", cause="completed", scores=scores)).bounds

    assert bounds(0.4) == (0.4, 0.4)
    assert bounds(4.0) is None


def test_macro_gives_each_group_the_same_weight() -> None:
    score = one(
        row("a1", 1.0, group="A"), row("a2", 1.0, group="A"), row("a3", 1.0, group="A"), row("a4", 1.0, group="A"),
        row("b1", 0.0, group="B"), row("b2", 1.0, group="B"), row("c1", 0.0, group="C"), row("x", 0.0),
    )  # fmt: skip
    assert score.micro == score.mean == pytest.approx(5 / 8)
    assert score.macro == pytest.approx((1 + 0.5 + 0) / 3)
    assert score.ungrouped == 1
    assert [(group.group, group.mean, group.cases) for group in score.groups] == [
        ("A", 1.0, 4),
        ("B", 0.5, 2),
        ("C", 0.0, 1),
    ]


def test_macro_over_singletons_is_not_a_number() -> None:
    """Two groups of two cases are needed; repeats of one case make no second case."""
    one_pair = one(row("a1", 1.0, group="A"), row("a2", 0.0, group="A"), row("b1", 0.0, group="B"))
    assert (one_pair.macro, one_pair.macro_reason) == (None, "1 of 2 groups have one case")
    repeated = one(*(row(c, 1.0, group=c, repeat=r) for c in "AB" for r in (1, 2)))
    assert (repeated.macro, repeated.macro_reason) == (None, "2 of 2 groups have one case")
    ungrouped = one(*(row(c, 1.0) for c in "abcd"))
    assert (ungrouped.macro, ungrouped.macro_reason) == (None, "no case has a group")


def test_groups_without_a_value_come_last_and_leave_macro_alone() -> None:
    rows = [row(f"{g}{i}", None if g == "B" else 1.0, "x", group=g) for g in "ABC" for i in (1, 2)]
    score = one(*rows)
    assert score.macro == 1.0
    assert [(group.group, group.scored) for group in score.groups] == [("A", 2), ("C", 2), ("B", 0)]


def test_repeats_have_a_standard_error() -> None:
    values = {1: (1.0, 1.0), 2: (1.0, 0.0), 3: (0.0, 0.0)}
    score = one(
        *(row(case, value, repeat=r) for r, pair in values.items() for case, value in zip("ab", pair, strict=True))
    )
    assert score.repeats.means == (1.0, 0.5, 0.0)
    assert score.repeats.mean == pytest.approx(0.5)
    assert score.repeats.se == pytest.approx(0.5 / 3**0.5)
    assert (score.ci95, score.ci95_reason) == (None, "fewer than 5 cases")


def test_macro_has_its_own_standard_error() -> None:
    """Micro stays the same from repeat to repeat, macro does not (as in multicog_metrics)."""
    first = [row("a1", 1.0, group="A"), row("a2", 1.0, group="A"), row("a3", 0.0, group="A"), row("b1", 0.0, group="B")]
    second = [row("a1", 1.0, group="A", repeat=1), row("a2", 0.0, group="A", repeat=1)]
    second += [row("a3", 0.0, group="A", repeat=1), row("b1", 1.0, group="B", repeat=1)]
    extra = [row("b2", 0.0, group="B"), row("b2", 0.0, group="B", repeat=1)]
    score = one(*first, *second, *extra)
    assert score.repeats.se == 0
    # repeat 0: (2/3 + 0) / 2; repeat 1: (1/3 + 1/2) / 2
    assert score.macro_se == pytest.approx((5 / 12 - 1 / 3) / 2)


def test_one_repeat_has_no_standard_error() -> None:
    score = one(row("a", 1.0), row("b", 0.0))
    assert score.repeats.se is None


def test_recall_over_types_is_the_mean_of_the_types_means() -> None:
    """Paper 000, table 5: the first case has no imaging, so the mean of means is not the mean over cases."""

    def exam(case: str, lab: float, imaging: float | None) -> EpisodeScores:
        known = [value for value in (lab, imaging) if value is not None]
        scores = (
            Score("exam_recall", sum(known) / len(known)),
            Score("exam_recall_pooled", 0.9),
            Score("exam_recall_lab", lab),
            Score("exam_recall_imaging", imaging, "" if imaging is not None else "nothing_recorded"),
        )
        return EpisodeScores(episode=case, case=case, cause="completed", scores=scores)

    found = summarise([exam("a", 1.0, None), exam("b", 0.0, 0.5)]).score("exam_recall")
    assert found is not None
    assert found.mean == pytest.approx(0.625)
    assert found.over_types == pytest.approx(0.5)


def test_a_summary_is_json() -> None:
    found = json.loads(json.dumps(json_object(summarise([row("a", 1.0), row("b", None, "open", cause=None)]))))
    assert {"name", "mean", "n", "none", "bounds", "ci95"} <= set(found["scores"][0])
    assert found["scores"][0]["ci95"] is None


def test_no_episode_is_no_error() -> None:
    found = summarise([])
    assert (found.episodes, found.scores) == (0, [])


VALUES = st.lists(st.one_of(st.none(), st.floats(0, 1)), min_size=1, max_size=15)


@given(VALUES)
def test_bounds_hold_the_mean(values: list[float | None]) -> None:
    score = one(*(row(f"c{i}", value, "x") for i, value in enumerate(values)))
    assert score.bounds is not None
    assert score.scored + score.none == score.n == len(values)
    assert sum(score.reasons.values()) == score.none
    if score.mean is not None:
        assert score.bounds[0] - 1e-9 <= score.mean <= score.bounds[1] + 1e-9


@given(VALUES, st.randoms(use_true_random=False))
def test_order_changes_nothing(values: list[float | None], dice: random.Random) -> None:
    rows = [row(f"c{i % 4}", value, "x", repeat=i // 4, group="AB"[i % 2]) for i, value in enumerate(values)]
    shuffled = list(rows)
    dice.shuffle(shuffled)
    assert summarise(rows) == summarise(shuffled)


def test_a_share_has_wilson_s_interval_within_the_scale_and_student_s_apart() -> None:
    values = [float(number % 10 > 0) for number in range(30)]
    score = one(*(row(f"c{number}", value) for number, value in enumerate(values)))
    assert (score.ci95, score.ci95_method) == (wilson(27, 30), "wilson")
    assert score.ci95_published == student_t(values)
    assert (score.cases, score.n, score.effective) == (30, 30, 30)


def test_a_count_has_a_bootstrap_that_is_never_below_zero() -> None:
    rows = [
        EpisodeScores(episode=case, case=case, cause="completed", scores=(Score("turns", count),))
        for case, count in zip("abcdef", (0.0, 0.0, 0.0, 0.0, 0.0, 9.0), strict=True)
    ]
    score = one(*rows)
    assert score.ci95 is not None
    assert score.ci95_method == "bootstrap"
    assert score.ci95[0] >= 0


def test_those_who_answered_stand_beside_the_mean() -> None:
    score = one(
        row("a", 1.0),
        row("b", 0.0),
        row("c", 0.0, "no_answer", cause="doctor"),
        row("d", None, "provider/timeout", cause="provider"),
    )
    assert score.mean == pytest.approx(1 / 3)
    assert (score.answered, score.of_answered) == (2, 0.5)
    assert (score.zeros, score.no_answer) == ({"no_answer": 1}, 1)


@pytest.mark.parametrize("reason", ["refusal", "no_diagnosis_asserted", "no_treatment_asserted"])
def test_who_abstains_in_words_has_not_answered(reason: str) -> None:
    """Whether a scenario reads a refusal or the answer's own words do: the doctor answered nothing."""
    score = one(row("a", 1.0), row("b", 0.0, reason))
    assert (score.mean, score.answered, score.of_answered) == (0.5, 1, 1.0)


def test_where_nobody_answered_there_is_no_figure_of_those_who_did() -> None:
    score = one(row("a", 0.0, "no_answer"), row("b", 0.0, "no_answer"))
    assert (score.mean, score.answered, score.of_answered) == (0.0, 0, None)


def test_a_sentence_stands_in_place_of_a_figure_that_is_not_there() -> None:
    assert summarise([]).instead == "No episode has ended, so there is no figure."
    assert summarise([row("a", 1.0)]).instead == ""
    assert one(row("a", None, "x"), row("b", None, "x")).instead == "none of 2 closed episodes has a value"
    assert one(row("a", 1.0)).instead == ""
    assert one(row("a", 1.0)).ci95_reason == "fewer than 5 cases"


def test_equal_shares_get_no_interval_of_no_width() -> None:
    same = one(*(row(f"c{number}", 0.25) for number in range(9)))
    assert (same.ci95, same.ci95_reason) == (None, "all 9 cases have the same mean, which shows no spread")
    right = one(*(row(f"c{number}", 1.0) for number in range(9)))
    assert right.ci95 is not None
    assert right.ci95[0] < 0.8


def test_a_run_scored_half_under_other_rules_has_a_sentence_and_no_figure() -> None:
    mixed = one(*(row(case, None, "mixed_rules") for case in "abcdef"))
    assert (mixed.mean, mixed.ci95, mixed.bounds, mixed.of_answered) == (None, None, None, None)
    assert mixed.instead == mixed.ci95_reason
    assert mixed.instead.startswith("no figure: the episodes were scored under rules of different versions")


def test_the_method_says_who_found_an_answer_right() -> None:
    plain = [row(f"c{number}", 1.0) for number in range(3)]
    judged = [msgspec.structs.replace(one, scores=(*one.scores, Score("lexical_match", 0.0))) for one in plain]

    def methods(rows: list[EpisodeScores], *judges: str) -> dict[str, str]:
        return {score.name: score.method for score in summarise(rows, 0, judges).scores}

    assert methods(plain) == {NAME: WORD_MATCH}
    assert methods(judged, "lexical") == {NAME: WORD_MATCH, "lexical_match": WORD_MATCH}
    assert methods(judged, "maker/a", "maker/b") == {NAME: "judged by maker/a, maker/b", "lexical_match": WORD_MATCH}
    turns = EpisodeScores(episode="t", case="t", cause="completed", scores=(Score("turns", 1.0),))
    assert methods([turns]) == {"turns": ""}


def test_a_full_path_of_an_old_store_has_no_bounds_where_nothing_could_be_ordered() -> None:
    def stored(case: str, reason: str) -> EpisodeScores:
        scores = (Score("full_path", None, reason), Score("exam_recall", None, "not_ordered_here"))
        return EpisodeScores(episode=case, case=case, cause="completed", scores=scores)

    found = summarise([stored("a", "not_ordered_here"), stored("b", "provider/timeout")]).score("full_path")
    assert found is not None
    assert (found.bounds, found.reasons) == (None, {"not_ordered_here": 2})


@given(st.lists(st.sampled_from([0.0, 1.0, 0.5, None]), min_size=1, max_size=30), st.integers(1, 4))
def test_an_interval_holds_its_mean_and_stays_within_the_scale(values: list[float | None], repeats: int) -> None:
    score = one(*(row(f"c{i // repeats}", value, "x", repeat=i % repeats) for i, value in enumerate(values)))
    assert (score.ci95 is None) == bool(score.ci95_reason)
    if score.ci95 is not None:
        assert score.mean is not None
        assert 0 <= score.ci95[0] <= score.mean <= score.ci95[1] <= 1
        assert score.ci95[0] < score.ci95[1]
