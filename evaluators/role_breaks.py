"""How often each seat fell out of its role: counts by seat, with the kinds that were met as the reason."""

from collections.abc import Iterator, Mapping, Sequence

from wardround.engine.events import Acted, Called, effective
from wardround.engine.records import Json, Score
from wardround.engine.seat import Seat
from wardround.engine.trajectory import Trajectory
from wardround.scenarios.case import Case
from wardround.scenarios.parsers.roles import KINDS, Kind, Passages, breaks

SEATS = ("doctor", "patient", "examiner")


class RoleBreaks:
    """`role_breaks_doctor`, `role_breaks_patient`, `role_breaks_examiner`: actions in which a seat broke its role.

    It wrote the words of another seat (`plays_other`), repeated its instructions (`recites`), spoke of itself as a
    model (`self_as_model`), or said nothing but a placeholder (`template`); scenarios/parsers/roles.py. The reason
    names the kinds, the evidence the actions. A seat that the scenario does not have has no score; an open episode
    None, reason
    `open`.
    """

    name = "role_breaks"

    async def score(self, case: Case, trajectory: Trajectory, seat: Seat | None = None) -> Sequence[Score]:
        """One score for each seat."""
        del seat
        return role_break_scores(case, trajectory)


def role_break_scores(case: Case, trajectory: Trajectory) -> list[Score]:
    """The scores of `RoleBreaks`."""
    seats = [seat for seat in SEATS if seat in trajectory.header.get("seats", ())]
    if trajectory.ending is None:
        return [Score(f"role_breaks_{seat}", None, "open") for seat in seats]
    met: Mapping[str, dict[int, list[Kind]]] = {seat: {} for seat in seats}
    for event, kinds in _broken(case, trajectory):
        if event.seat in met:
            met[event.seat][event.seq] = kinds
    return [_score(seat, met[seat]) for seat in seats]


def _score(seat: str, met: Mapping[int, Sequence[Kind]]) -> Score:
    kinds = [kind for kind in KINDS if any(kind in found for found in met.values())]
    return Score(f"role_breaks_{seat}", float(len(met)), ", ".join(kinds), tuple(met))


def _broken(case: Case, trajectory: Trajectory) -> Iterator[tuple[Acted, list[Kind]]]:
    """The actions that break a role, with how."""
    told = Passages(_texts(case.model_dump(mode="json")))
    sent: dict[str, str] = {}
    said: list[tuple[str, str]] = []
    for event in effective(trajectory.events):
        if isinstance(event, Called):
            messages = trajectory.messages(event)
            sent[event.seat] = "\n".join(message.content for message in messages if message.role != "assistant")
        elif isinstance(event, Acted):
            text = event.action.text
            others = [words for seat, words in said if seat != event.seat]
            if text.strip() and (kinds := breaks(text, event.seat, sent.get(event.seat, ""), told, others)):
                yield event, kinds
            said.append((event.seat, text))


def _texts(value: Json) -> Iterator[str]:
    """Every text in a case."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part)
