"""What the SQLite store writes in one commit: events, endings, accounts, cached answers and scores of many episodes."""

import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime

from wardround.engine.clock import Clock
from wardround.engine.errors import WardroundError
from wardround.engine.records import Ending
from wardround.engine.spending import Spending
from wardround.engine.stores.work import Append, Failures, Judged, Keep, Work, no_episode, refusal

# The number of events and the holder stand in the condition: a row that does not move is one that must not be written.
_MOVE = (
    "UPDATE episodes SET events = coalesce(?, events), at = coalesce(?, at){more}"
    " WHERE id = ? AND events = coalesce(?, events) AND (? IS NULL OR holder = ?)"
)
_GO_ON = _MOVE.format(more="")
_CLOSE = _MOVE.format(more=", cause = ?, reason = ?, holder = NULL")
_REOPEN = _MOVE.format(more=", cause = ?, reason = ?")
_BOOK = """
    INSERT INTO spending (run, seat, day, session, calls, failed, recalled, prompt, completion, cost, unpriced)
    SELECT id, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM runs WHERE name = ?
    ON CONFLICT (run, seat, day, session) DO UPDATE SET
        calls = calls + excluded.calls, failed = failed + excluded.failed, recalled = recalled + excluded.recalled,
        prompt = prompt + excluded.prompt, completion = completion + excluded.completion,
        cost = cost + excluded.cost, unpriced = unpriced + excluded.unpriced
"""


class Group:
    """Writes groups of works; `ids` are the rows of the episodes being played, so that none is looked up twice."""

    def __init__(self, path: str, clock: Clock) -> None:
        self._path, self._clock = path, clock
        self.ids: dict[tuple[str, str], int] = {}

    def write(self, connection: sqlite3.Connection, works: Sequence[Work]) -> Failures:
        """Write what may be written, inside the caller's transaction."""
        now = self._clock()
        failures: dict[int, WardroundError] = {}
        spent: dict[tuple[str, str, int], Spending] = {}
        for place, work in enumerate(works):
            failure = self._write(connection, work, now)
            if failure is not None:
                failures[place] = failure
            elif isinstance(work, Append) and work.spent:
                for seat, more in work.spent.items():
                    account = (work.run, seat, work.holder or 0)
                    before = spent.get(account)
                    spent[account] = more if before is None else before + more
        day = datetime.fromtimestamp(now, UTC).date().isoformat()
        for (run, seat, session), s in spent.items():
            values = (s.calls, s.failed, s.recalled, s.prompt, s.completion, s.cost, s.unpriced)
            connection.execute(_BOOK, (seat, day, session, *values, run))
        return failures

    def _write(self, connection: sqlite3.Connection, work: Work, now: float) -> WardroundError | None:
        match work:
            case Append():
                return self._append(connection, work, now) if work else None
            case Judged():
                return self._judge(connection, work)
            case Keep():
                connection.execute("INSERT OR IGNORE INTO calls (key, body) VALUES (?, ?)", work)
        return None

    def _append(self, connection: sqlite3.Connection, work: Append, now: float) -> WardroundError | None:
        run, episode, rows, ending, _, holder = work
        key = self._id(connection, run, episode)
        if key is None:
            return no_episode(self._path, work)
        first, after, at = (rows[0].seq, rows[0].seq + len(rows), now) if rows else (None, None, None)
        statement, closing = _closing(ending)
        moved = connection.execute(statement, (after, at, *closing, key, first, holder, holder)).rowcount
        if not moved:
            self.ids.pop((run, episode), None)
            return _refusal(connection, work, key)
        connection.executemany(
            "INSERT INTO events (episode, seq, hash, body) VALUES (?, ?, ?, ?)",
            [(key, row.seq, row.hash, row.body) for row in rows],
        )
        if ending is not None:
            self.ids.pop((run, episode), None)
        elif holder is not None:  # it is being played, and its ending will take it out again
            self.ids[run, episode] = key
        return None

    def _judge(self, connection: sqlite3.Connection, work: Judged) -> WardroundError | None:
        key = self._id(connection, work.run, work.episode)
        if key is None:
            return no_episode(self._path, work)
        connection.execute("DELETE FROM scores WHERE episode = ? AND evaluator = ?", (key, work.evaluator))
        values = [(key, work.evaluator, *row) for row in work.rows()]
        connection.executemany("INSERT INTO scores VALUES (?, ?, ?, ?, ?, ?, ?)", values)
        return None

    def _id(self, connection: sqlite3.Connection, run: str, episode: str) -> int | None:
        """The key of an episode's row, None if there is no such episode."""
        key = self.ids.get((run, episode))
        if key is not None:
            return key
        query = "SELECT e.id FROM episodes e JOIN runs r ON r.id = e.run WHERE r.name = ? AND e.name = ?"
        row = connection.execute(query, (run, episode)).fetchone()
        return None if row is None else int(row[0])


def _closing(ending: Ending | None) -> tuple[str, tuple[str | None, ...]]:
    if ending is None:
        return _GO_ON, ()
    if ending.cause == "open":
        return _REOPEN, (None, ending.reason)
    return _CLOSE, (ending.cause, ending.reason)


def _refusal(connection: sqlite3.Connection, work: Append, key: int) -> WardroundError:
    """Why nothing of it was written."""
    holder, events = connection.execute("SELECT holder, events FROM episodes WHERE id = ?", (key,)).fetchone()
    return refusal(work, holder, events)
