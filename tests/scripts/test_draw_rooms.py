"""The drawing of the rooms, of a small tree."""

from pathlib import Path

from scripts.draw_rooms import drawing, graph
from scripts.measure_house import modules


def test_rooms_arrows_floors_and_circles(tmp_path: Path) -> None:
    for name, text in (
        ("engine/low.py", ""),
        ("engine/stores/kept.py", "from wardround.engine.low import Thing\n"),
        ("agents/one.py", "from wardround.evaluators import two\nfrom wardround.engine.stores.kept import Thing\n"),
        ("evaluators/two.py", "from wardround.agents.one import Thing\n"),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    drawn = graph(modules(tmp_path))
    assert sorted(drawn.edges) == [
        ("agents", "engine.stores"),
        ("agents", "evaluators"),
        ("engine.stores", "engine"),
        ("evaluators", "agents"),
    ]
    text = drawing(drawn)
    assert "agents + evaluators<br/>2 files, 3 lines" in text
    assert "4 rooms, 4 arrows between rooms, 3 floors, 1 circles." in text
    assert text.endswith("Circle: agents, evaluators.")
