"""Memory stays flat, however many episodes a process plays."""

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from soaking import SAMPLES, Soak, soaked

SMOKE, LONG = 400, int(os.environ.get("WARDROUND_SOAK", "100000"))
# What may be added over the second half of a run: a part for each episode, far below the smallest leak there can be
# (an object of 200 bytes is one block), and a part for what is under way when a sample is taken.
BYTES, BLOCKS = 100, 0.4
BYTES_NOISE, BLOCKS_NOISE = 3 * 2**20, 15_000


@contextmanager
def alone() -> Iterator[None]:
    """What other tests left behind is not read at each sample: the collector takes seconds for it."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


async def flat(folder: Path, episodes: int) -> None:
    """Play, and hold what was added against what may be."""
    with alone():
        played, soak = await soaked(folder, episodes)
    try:
        assert await played.endings() == {"completed": episodes}
    finally:
        await played.store.aclose()
    assert len(soak.closed) >= SAMPLES // 2
    half = episodes / 2
    assert soak.growth(soak.blocks) < BLOCKS_NOISE + BLOCKS * half, soak.blocks
    assert soak.growth(soak.resident) < BYTES_NOISE + BYTES * half, soak.resident


def test_one_kept_object_an_episode_would_be_noticed() -> None:
    soak, kept = Soak(), []
    with alone():
        for episode in range(0, LONG, LONG // SAMPLES):
            kept += [bytes(200) for _ in range(LONG // SAMPLES)]
            soak.sample(episode)
    assert soak.growth(soak.blocks) > BLOCKS_NOISE + BLOCKS * LONG / 2
    del kept


@pytest.mark.long
async def test_some_hundred_episodes_leave_nothing_behind(tmp_path: Path) -> None:
    await flat(tmp_path, SMOKE)


@pytest.mark.soak
@pytest.mark.timeout(7200)
async def test_a_hundred_thousand_episodes_leave_nothing_behind(tmp_path: Path) -> None:
    await flat(tmp_path, LONG)
