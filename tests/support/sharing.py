"""Real processes that share a store and its run."""

import json
import subprocess
import sys

from timed import planned

from wardround.engine.protocols import Store

WORKER = """
import asyncio, json, os, sys
from wardround.runs.stored_run import open_store
from wardround.engine.events import Row, chain
from wardround.engine.records import Ending
from wardround.engine.budget import Spending

async def main(where):
    store = open_store(where)
    session, mine = await store.begin("r", host="h", pid=os.getpid()), []
    print("ready", flush=True)
    sys.stdin.readline()
    while taken := await session.take(3):
        for row in taken:
            body = str(os.getpid()).encode()
            spent = {"x": Spending(calls=1)}
            await session.append(row.id, [Row(0, chain(b"", body), body)], spent=spent)
            await session.append(row.id, [], ending=Ending("completed"))
            mine.append(row.id)
    await session.end()
    await store.aclose()
    print(json.dumps(mine))

asyncio.run(main(sys.argv[1]))
"""


def worked(where: str, processes: int) -> list[list[str]]:
    """What each of so many real processes played that work on the run `r` at the same time."""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, where], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(processes)
    ]
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in started:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    said = [process.communicate(timeout=250)[0] for process in started]
    assert [process.returncode for process in started] == [0] * processes
    return [json.loads(line) for line in said]


async def check_sharing(store: Store, where: str) -> None:
    """Three processes play a run of `store`, which each opens at `where`: every episode once, nothing lost."""
    names = [f"e{number:03}" for number in range(120)]
    await store.create_run("r", {}, planned(*names))
    played = worked(where, 3)
    assert sorted(name for mine in played for name in mine) == names
    assert await store.endings("r") == {"completed": 120}
    assert [row.spent.calls for row in await store.spending("r")] == [120]
    assert [row.ended is not None for row in await store.sessions("r")] == [True] * 3
