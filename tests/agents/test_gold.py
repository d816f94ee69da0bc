"""Gold orders everything once, then plays the truth."""

import pytest
from seats import a_seat, a_view

from wardround.agents.gold import Gold
from wardround.scenarios.case import Case, Finding, Lab, Provenance, Truth


def a_case(**truth: str) -> Case:
    return Case(
        id="c",
        opening="o",
        examination=(Finding(section="Abdomen", text="soft"),),
        labs=(
            Lab(name="Lipase", value="900"),
            Lab(name="Lipase", value="300"),
            Lab(name="Bilirubin, Total", value="1"),
        ),
        truth=Truth.model_validate(truth),
        provenance=Provenance(source="test"),
        data_class="public",
    )


async def test_it_orders_every_name_once_then_concludes() -> None:
    gold = Gold(a_seat(knowledge=a_case(diagnosis="pancreatitis", treatment="fluids")))
    verbs = ("reply", "order", "conclude")
    first = await gold.act(a_view(verbs=verbs))
    assert (first.verb, first.args) == ("order", {"kind": "any", "items": ["Abdomen", "Lipase", "Bilirubin, Total"]})
    second = await gold.act(a_view([("doctor", "")], memo=first.memo, verbs=verbs))
    assert (second.verb, second.args) == ("conclude", {"diagnosis": "pancreatitis", "treatment": "fluids"})


async def test_it_concludes_at_once_where_nothing_can_be_ordered_or_is_recorded() -> None:
    gold = Gold(a_seat(knowledge=a_case(treatment="fluids")))
    assert (await gold.act(a_view(verbs=("reply", "conclude")))).args == {"treatment": "fluids"}
    bare = a_case(diagnosis="gout").model_copy(update={"labs": (), "examination": ()})
    assert (await Gold(a_seat(knowledge=bare)).act(a_view(verbs=("reply", "order", "conclude")))).verb == "conclude"


def test_it_must_be_told_the_case() -> None:
    with pytest.raises(TypeError, match="gold must know the case"):
        Gold(a_seat())
