"""What an episode took: turns, calls, tokens, money, time. These are facts, so failed episodes have them too."""

from collections.abc import Sequence

from wardround.engine.records import Score
from wardround.engine.seat import Seat
from wardround.engine.trajectory import Trajectory
from wardround.scenarios.case import Case


class Usage:
    """`turns`, `calls`, `failed_calls`, `tokens`, `tokens_prompt`, `tokens_completion`, `cost_usd`, `model_seconds`,
    `episode_seconds`.

    `cost_usd` is None, reason `unknown_price`, if one call has no known price. `model_seconds` adds up the latencies of
    all answered calls; `episode_seconds` runs from the first event to the last, a pause before a resume included.
    An open episode has none of them, reason `open`.
    """

    name = "usage"

    async def score(self, case: Case, trajectory: Trajectory, seat: Seat | None = None) -> Sequence[Score]:
        """Nine scores."""
        del case, seat
        return usage_scores(trajectory)


def usage_scores(trajectory: Trajectory) -> list[Score]:
    """The scores of `Usage`."""
    used = trajectory.usage()
    calls = list(trajectory.called())
    values: dict[str, float | None] = {
        "turns": _turns(trajectory),
        "calls": len(calls),
        "failed_calls": sum(call.error is not None for call in calls),
        "tokens": used.prompt + used.completion,
        "tokens_prompt": used.prompt,
        "tokens_completion": used.completion,
        "cost_usd": used.cost,
        "model_seconds": sum(call.reply.latency for call in calls if call.reply),
        "episode_seconds": trajectory.events[-1].at - trajectory.events[0].at,
    }
    if trajectory.ending is None:
        return [Score(name, None, "open") for name in values]
    return [
        Score(name, None, "unknown_price") if value is None else Score(name, float(value))
        for name, value in values.items()
    ]


def _turns(trajectory: Trajectory) -> int:
    """As the rules counted them; if a failure outside the rules ended the episode, the doctor's actions."""
    ending = trajectory.ending
    counted = ending.facts.get("turns") if ending else None
    return counted if isinstance(counted, int) else sum(1 for _ in trajectory.acted("doctor"))
