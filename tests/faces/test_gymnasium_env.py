"""The Gymnasium face: its own checker passes, seeds are honoured, episodes step together, none is not 0.0."""

import asyncio
import gc
import math
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from clinic import WORKUP, case
from examples import first_ones

from wardround.engine.errors import ProviderError, UsageError
from wardround.engine.events import Opened
from wardround.engine.records import Action, View
from wardround.runs.stored_run import open_store

gymnasium = pytest.importorskip("gymnasium", reason="the extra `gymnasium` is not installed")
from gymnasium.utils.env_checker import check_env  # noqa: E402

from wardround.faces.gymnasium_env import WardroundEnv, WardroundVectorEnv  # noqa: E402


@pytest.fixture
def cases(tmp_path: Path) -> str:
    path = tmp_path / "c.jsonl"
    path.write_text("\n".join(case(number).model_dump_json() for number in (1, 2, 3)) + "\n")
    return str(path)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:.*render.*", "ignore:.*not within the observation space.*")
def test_gymnasium_s_own_checker_passes(cases: str) -> None:
    env = WardroundEnv(cases)
    check_env(env, skip_render_check=True)
    env.close()


def played(env: WardroundEnv, **reset: Any) -> tuple[list[str], float, bool, bool, dict[str, Any]]:
    seen, info = env.reset(**reset)
    texts, reward, over, cut = [seen], 0.0, False, False
    for line in WORKUP:
        seen, reward, over, cut, info = env.step(line)
        texts.append(seen)
    return texts, reward, over, cut, info


def test_an_episode_ends_with_its_reward_and_every_component(cases: str) -> None:
    env = WardroundEnv(cases)
    texts, reward, over, cut, info = played(env, seed=5, options={"case": "case-001"})
    assert (reward, over, cut) == (1.0, True, False)
    assert info["rewards"]["diagnosis_accuracy"] == 1.0
    assert {name for name, value in info["rewards"].items() if value is None} == set(info["missing"])
    assert "belly pain for 1 hours" in texts[0]
    with pytest.raises(UsageError, match="it ended by completed"):
        env.step("PE")
    env.close()


def test_the_same_seed_draws_the_same_case_and_another_seed_another(cases: str) -> None:
    env = WardroundEnv(cases)
    drawn = [env.reset(seed=seed)[1]["case"] for seed in (1, 1, 2, 3, 4, 5)]
    env.close()
    assert drawn[0] == drawn[1]
    assert len(set(drawn)) > 1


def test_a_kept_environment_is_a_run_and_a_reset_in_mid_episode_leaves_it(cases: str, tmp_path: Path) -> None:
    env = WardroundEnv(cases, store=tmp_path / "g.db")
    env.reset()
    env.step(WORKUP[0])
    played(env)
    env.reset()
    name = env.run.run.name
    env.close()

    async def endings() -> list[tuple[str | None, str]]:
        store = open_store(tmp_path / "g.db")
        rows = [(row.cause, row.reason) async for row in store.episodes(name)]
        await store.aclose()
        return rows

    assert asyncio.run(endings()) == [("doctor", "left"), ("completed", ""), ("doctor", "left")]


class Unreachable:
    """An examiner whose own code fails."""

    async def act(self, view: View) -> Action:
        raise ProviderError("server", "no answer")


def test_a_reward_that_is_not_to_be_had_is_nan_and_never_0(cases: str) -> None:
    env = WardroundEnv(cases, seats={"examiner": Unreachable})
    env.reset(seed=1)
    _, reward, over, cut, info = env.step("Action: PE")
    env.close()
    assert math.isnan(reward)
    assert (over, cut) == (False, True)
    assert info["rewards"]["diagnosis_accuracy"] is None
    assert info["missing"]["diagnosis_accuracy"]


def test_an_unknown_reward_is_named_with_those_that_there_are(cases: str) -> None:
    env = WardroundEnv(cases, reward="happiness")
    env.reset(seed=1)
    with pytest.raises(UsageError, match=r"no score 'happiness' .*diagnosis_accuracy"):
        env.step("Diagnosis: gout")
    env.close()


def test_episodes_step_together_each_its_own(cases: str) -> None:
    env = WardroundVectorEnv(3, cases)
    seen, infos = env.reset(seed=1, options={"cases": ["case-001", "case-001", "case-003"]})
    assert ["for 1 hours" in seen[0], "for 1 hours" in seen[1], "for 3 hours" in seen[2]] == [True] * 3
    for number, line in enumerate(WORKUP):
        middle = "Diagnosis: gout" if number == 0 else line
        seen, rewards, over, cut, infos = env.step((line, middle, line))
        if number == 0:
            assert over.tolist() == [False, True, False]
            assert rewards[1] == 0.0
        if number == 1:
            assert seen[1]
            assert not over[1]  # it began anew
    assert over.tolist()[::2] == [True, True]
    assert infos["rewards"][0]["diagnosis_accuracy"] == 1.0
    assert not cut.any()
    env.close()


async def test_it_works_where_a_loop_is_running_already(cases: str) -> None:
    env = WardroundEnv(cases)
    _, reward, *_ = played(env, options={"case": "case-001"})
    env.close()
    assert reward == 1.0


@pytest.mark.parametrize(
    "wrong", first_ones([None, 5, b"PE", ["PE"], {"verb": "order"}, "a\ud800b", "x" * 2_000_001], 2)
)
def test_an_action_that_is_no_text_changes_nothing(cases: str, tmp_path: Path, wrong: Any) -> None:
    for store in (None, tmp_path / "k.db"):
        env = WardroundEnv(cases, store=store, settings={"limit": 1})
        env.reset()
        with pytest.raises(UsageError, match=r"an action|the action"):
            env.step(wrong)
        reward = [env.step(line)[1] for line in WORKUP][-1]
        env.close()
        assert reward == 1.0


def test_a_text_of_numpy_is_a_text(cases: str) -> None:
    env = WardroundEnv(cases)
    env.reset(options={"case": "case-001"})
    assert [env.step(np.str_(line))[1] for line in WORKUP][-1] == 1.0
    env.close()


def test_a_step_of_several_is_taken_by_all_or_by_none(cases: str) -> None:
    env = WardroundVectorEnv(2, cases)
    with pytest.raises(UsageError, match="reset"):
        env.step(["PE", "PE"])
    env.reset(options={"cases": ["case-001", "case-001"]})
    for wrong in (["PE"], ["PE"] * 3, ["PE", None]):
        with pytest.raises(UsageError, match="action"):
            env.step(wrong)  # type: ignore[arg-type]
    rewards = [env.step([line, line])[1] for line in WORKUP][-1]
    env.close()
    assert rewards.tolist() == [1.0, 1.0]


def test_what_nobody_reads_is_an_error(cases: str) -> None:
    with pytest.raises(UsageError, match="'rewrd', did you mean reward"):
        WardroundEnv(cases, rewrd="diagnosis_accuracy")  # type: ignore[call-arg]
    env, several = WardroundEnv(cases), WardroundVectorEnv(2, cases)
    with pytest.raises(UsageError, match="'caes', did you mean case"):
        env.reset(options={"caes": "case-001"})
    wrong: list[dict[str, Any]] = [
        {"options": {"case": "case-001"}},
        {"seed": [1]},
        {"options": {"cases": ["case-001"]}},
        {"options": {"cases": ["case-001", "none"]}},
    ]
    for more in wrong:
        with pytest.raises(UsageError, match=r"did you mean cases|one seed for each|one case for each|no case 'none'"):
            several.reset(**more)
    for made in (env, several):
        made.close()
        made.close()
        with pytest.raises(UsageError, match="is closed"):
            made.reset()


def test_episodes_that_begin_anew_have_seeds_of_their_own(cases: str) -> None:
    def seeds(seed: int) -> list[int]:
        env = WardroundVectorEnv(1, cases)
        env.reset(seed=seed)
        drawn = []
        for _ in range(6):
            env.step(["Diagnosis: gout"])
            log = env._episodes[0].log
            assert log is not None
            opened = log.events[0]
            assert isinstance(opened, Opened)
            drawn.append(opened.seed)
        env.close()
        return drawn

    assert seeds(1) == seeds(1)
    assert len(set(seeds(1))) > 2


@pytest.mark.long
@pytest.mark.parametrize("more", first_ones(("", "; del e; import gc; gc.collect()", "; e.step(None)"), 1))
def test_one_that_is_not_closed_ends_without_a_word(more: str, cases: str) -> None:
    text = f"from wardround.faces.gymnasium_env import WardroundEnv as E; e = E({cases!r}); e.reset(); e.step('PE')"
    done = subprocess.run([sys.executable, "-c", text + more], capture_output=True, text=True, check=False)
    assert "pending" not in done.stderr
    assert done.returncode == (1 if "None" in more else 0), done.stderr


def test_what_cannot_begin_leaves_nothing_open(cases: str, tmp_path: Path) -> None:
    wrong: list[Callable[[], Any]] = [
        lambda: WardroundEnv(cases, "werkup"),
        lambda: WardroundEnv(cases, store=tmp_path / "g.db", seat="nurse"),
        lambda: WardroundEnv(cases, settings={"repeats": -1}),
        lambda: WardroundEnv(cases, store="unknown://here"),
        lambda: WardroundVectorEnv(2.5, cases),  # type: ignore[arg-type]
    ]
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        for make in wrong:
            with pytest.raises((UsageError, TypeError)):
                make()
        gc.collect()
    assert [str(one.message) for one in shown] == []
    assert [path.name for path in tmp_path.glob("g.db*")] in ([], ["g.db"]), "an open store has files beside it"


def test_images_of_what_is_shown_come_with_it() -> None:
    env = WardroundEnv("bundled:stations", "consultation", settings={"set": {"images": "shown"}})
    _, info = env.reset(options={"case": "ws-007"})
    assert "images" not in info
    _, _, _, _, info = env.step("Order: rhythm strip")
    env.close()
    assert [image[:22] for image in info["images"]] == ["data:image/png;base64,"]
