"""The script that moves modules: it follows names and paths, and touches nothing else of the same spelling."""

from collections.abc import Iterator

import pytest

from scripts.merging import merged
from scripts.rewriting import Edit, Moves, Rewriting

MOVES = Moves(
    modules={
        "wardround.a.one": "wardround.a.both",
        "wardround.a.two": "wardround.a.both",
        "wardround.a.use": "wardround.b.use",
    },
    names={("wardround.a.one", "told"): "summary"},
    sources={("wardround.a.two", "told"): ("wardround.a.one", "told")},
)


def in_text(text: str) -> Iterator[Edit]:
    at = text.find("wardround.a.one")
    if at >= 0:
        yield Edit(at, at + len("wardround.a.one"), "wardround.a.both")


def rewritten(text: str, module: str = "") -> str:
    rewriting = Rewriting(module, text, MOVES, in_text)
    found = rewriting.run()
    assert rewriting.trouble == []
    return found


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from wardround.a.one import told\ntold()\n", "from wardround.a.both import summary\nsummary()\n"),
        ("from wardround.a.one import told as t\nt()\n", "from wardround.a.both import summary as t\nt()\n"),
        ("from wardround.a.two import told\ntold()\n", "from wardround.a.both import summary\nsummary()\n"),
        ("from wardround.a import one\none.told()\n", "from wardround.a import both\nboth.summary()\n"),
        ("from wardround.a import two\ntwo.x(told=1)\n", "from wardround.a import both\nboth.x(told=1)\n"),
        (
            "from wardround.a.one import told\ndef f(told):\n    return told\n",
            "from wardround.a.both import summary\ndef f(told):\n    return told\n",
        ),
        (
            "from wardround.a.one import told\ndef f(summary):\n    return told(summary)\n",
            "from wardround.a.both import summary as told\ndef f(summary):\n    return told(summary)\n",
        ),
        (
            "from wardround.a.one import told\nx = [told for told in 'ab' if told]\ny = f'{told()!r} told'\n",
            "from wardround.a.both import summary\nx = [told for told in 'ab' if told]\ny = f'{summary()!r} told'\n",
        ),
        ("x = 'wardround.a.one:Class'  # told\n", "x = 'wardround.a.both:Class'  # told\n"),
    ],
)
def test_names_follow_their_module(before: str, after: str) -> None:
    assert rewritten(before) == after


def test_members_of_one_file_see_each_other_without_an_import() -> None:
    one = rewritten('"""One."""\n\ndef told():\n    return 1\n', "wardround.a.one")
    two = rewritten('"""Two."""\nfrom wardround.a.one import told\n\nX = told()\n', "wardround.a.two")
    text, trouble = merged([one, two], "Both.")
    assert trouble == []
    found: dict[str, object] = {}
    exec(text, found)
    assert (found["__doc__"], found["X"]) == ("Both.", 1)
    assert "import" not in text


def test_a_local_that_hides_the_name_of_another_member_is_said() -> None:
    text = "from wardround.a import one\ndef f(summary):\n    return one.told(summary)\n"
    rewriting = Rewriting("wardround.a.two", text, MOVES, in_text)
    rewriting.run()
    assert rewriting.trouble == ["wardround.a.two:3: one becomes summary, which is bound here"]


def test_names_that_meet_in_one_file_are_said() -> None:
    assert merged(["X = 1\n", "X = 2\n"], "")[1] == ["X meets"]
    assert merged(["X = 1\n", "from y import X\n"], "")[1] == ["X meets"]
    assert merged(["import re\nX = 1\n", "import re\nX = 1\n"], "All.") == (
        '"""All."""\n\nimport re\n\nX = 1\n\n\n',
        [],
    )
