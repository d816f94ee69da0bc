"""How far an agent that plays a list has got."""

from wardround.engine.records import Json, View


def turns_taken(view: View) -> int:
    """How many turns this seat has had: by its memo, or, where another agent had the seat before, by its own words."""
    if isinstance(view.memo, dict):
        taken = view.memo.get("next")
        if isinstance(taken, int) and taken >= 0:
            return taken
    return sum(said.seat == view.seat for said in view.heard)


def turn_taken(view: View) -> Json:
    """The memo of the turn that is being taken."""
    return {"next": turns_taken(view) + 1}
