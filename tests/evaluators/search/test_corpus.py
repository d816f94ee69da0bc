"""The offline corpus: what it reads, finds and keeps."""

import gzip
import json
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from wardround.engine.errors import UsageError
from wardround.evaluators.search.corpus import Corpus
from wardround.evaluators.search.documents import Fields, cut_pieces

ROWS: list[dict[str, object]] = [
    {"focus": "Reye syndrome", "answer": "Aspirin is not given to children with a fever.", "url": "http://a.test/1"},
    {"focus": "Gout", "answer": "Attacks of gout are treated with colchicine.", "url": "http://a.test/2", "year": 2019},
    {"focus": "Scurvy", "answer": "Vitamin C cures scurvy; the gums bleed.", "url": "http://a.test/3"},
]


def written(folder: Path, rows: list[dict[str, object]], name: str = "set.jsonl") -> Path:
    """A file of JSON lines."""
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


async def test_it_finds_the_passage_with_its_place_and_source(tmp_path: Path) -> None:
    corpus = await Corpus.open(written(tmp_path, ROWS))
    found = await corpus.find("how is an attack of gout treated?")
    assert [one.url for one in found] == ["http://a.test/2"]
    assert (found[0].title, found[0].date, found[0].start, found[0].end) == ("Gout", "2019", 0, len(found[0].text))
    assert corpus.host == ""
    assert await corpus.find("of the and ?") == []
    assert await corpus.find("") == []
    assert await corpus.find("zebra") == []
    assert len(await corpus.find("gums gout fever", most=2)) == 2
    await corpus.aclose()


@pytest.mark.parametrize(
    "query", ['"', "AND OR NOT", "NEAR(a b)", "title:gout*", "gout) OR (", "-gout ^x", "'; --", "\0", "☃"]
)
async def test_nothing_in_a_query_is_an_operator(tmp_path: Path, query: str) -> None:
    corpus = await Corpus.open(written(tmp_path, ROWS))
    assert all("out" in one.text for one in await corpus.find(query))
    await corpus.aclose()


@pytest.mark.long
async def test_a_long_query_and_many_at_once(tmp_path: Path) -> None:
    corpus = await Corpus.open(written(tmp_path, ROWS))
    answers: list[str] = []

    async def ask() -> None:
        answers.append((await corpus.find("scurvy " + " ".join(f"word{at}" for at in range(20_000))))[0].url)

    async with anyio.create_task_group() as group:
        for _ in range(50):
            group.start_soon(ask)
    assert answers == ["http://a.test/3"] * 50
    await corpus.aclose()


async def test_the_index_is_built_once_and_named_by_content(tmp_path: Path) -> None:
    source, cache = written(tmp_path, ROWS), tmp_path / "cache"
    first = await Corpus.open(source, cache=cache)
    stamp = first.path.stat().st_mtime_ns
    again = await Corpus.open(source, cache=cache)
    assert (again.path, again.name, again.path.stat().st_mtime_ns) == (first.path, first.name, stamp)
    written(tmp_path, [*ROWS, {"answer": "Mumps swell the glands."}])
    changed = await Corpus.open(source, cache=cache)
    assert changed.name != first.name
    assert [one.url for one in await changed.find("mumps")] == ["set.jsonl:4"]
    assert await first.find("mumps") == []
    for corpus in (first, again, changed):
        await corpus.aclose()
    assert len([one async for one in anyio.Path(cache).iterdir()]) == 2, "no half-built file is left"


async def test_a_spoilt_index_is_built_anew(tmp_path: Path) -> None:
    source = written(tmp_path, ROWS)
    first = await Corpus.open(source)
    await first.aclose()
    first.path.write_bytes(first.path.read_bytes()[:5000])
    second = await Corpus.open(source)
    assert len(await second.find("gout")) == 1
    await second.aclose()


async def test_a_folder_of_texts_in_any_order_gives_the_same_passages(tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    (folder / "deep").mkdir(parents=True)
    long = "\n\n".join(f"Paragraph {at} speaks of measles and of spots number {at}." for at in range(200))
    (folder / "deep" / "measles.txt").write_text(long, encoding="utf-8")
    (folder / "gout.md").write_text("Colchicine for gout.", encoding="utf-8")
    (folder / "picture.png").write_bytes(b"\x89PNG")
    with gzip.open(folder / "more.jsonl.gz", "wt") as lines:
        lines.write(json.dumps({"text": ["Rickets bend the bones.", "Light helps."], "id": 7}) + "\n\n")
    corpus = await Corpus.open(folder, size=400)
    found = (await corpus.find("spots number 150"))[0]
    assert (found.title, found.url) == ("measles", "deep/measles.txt")
    assert long[found.start : found.end] == found.text
    assert "number 150." in found.text
    assert len(found.text) <= 400
    assert [one.url for one in await corpus.find("rickets light")] == ["7"]
    assert len(await corpus.find("measles spots", most=3)) == 1, "one passage a document"
    await corpus.aclose()


async def test_files_that_are_not_read_are_said_once(tmp_path: Path) -> None:
    folder = tmp_path / "guide"
    folder.mkdir()
    (folder / "a.txt").write_text("Fever is a sign of malaria.")
    for name in ("b.pdf", "c.pdf", "d.docx", ".hidden.pdf"):
        (folder / name).write_text("x")
    for said in ([("docx", 1), ("pdf", 2)], []):
        with capture_logs() as logs:
            await (await Corpus.open(folder)).aclose()
        assert [(entry["kind"].strip("."), entry["count"]) for entry in logs] == said


async def test_scripts_without_spaces_are_found(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [{"text": "阿司匹林不用于发烧的儿童。"}, {"text": "痛风发作用秋水仙碱治疗。"}]
    corpus = await Corpus.open(written(tmp_path, rows))
    assert [one.text for one in await corpus.find("痛风治疗")] == ["痛风发作用秋水仙碱治疗。"]
    await corpus.aclose()


async def test_a_common_word_ranks_but_does_not_choose_where_a_rare_one_does(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [{"text": f"The treatment of number{at} is rest."} for at in range(60)]
    rows += [{"text": "Beriberi is known."}, {"text": "The treatment of beriberi is thiamine, and that is that."}]
    corpus = await Corpus.open(written(tmp_path, rows))
    found = await corpus.find("treatment of beriberi")
    assert {one.url for one in found} == {"set.jsonl:61", "set.jsonl:62"}
    assert len(await corpus.find("treatment rest")) == 3
    await corpus.aclose()


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ('{"text": "a"}\nnot json\n', "set.jsonl:2"),
        ("[1]\n", "object"),
        ('{"other": "a"}\n', "it has other"),
        ('{"text": "  "}\n', "empty"),
        ("", "empty"),
    ],
)
async def test_what_cannot_be_read_is_told_with_its_place(tmp_path: Path, lines: str, told: str) -> None:
    path = tmp_path / "set.jsonl"
    path.write_text(lines, encoding="utf-8")
    with pytest.raises(UsageError, match=told):
        await Corpus.open(path)
    assert [one async for one in anyio.Path(tmp_path).iterdir()] == [anyio.Path(path)]


async def test_other_bad_sources(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no text to search"):
        await Corpus.open(tmp_path / "nowhere")
    (tmp_path / "a.txt").write_bytes(b"\xff\xfe\x00\xd8")
    with pytest.raises(UsageError, match="UTF-8"):
        await Corpus.open(tmp_path)
    with pytest.raises(UsageError, match="none of the fields"):
        await Corpus.open(written(tmp_path, ROWS), fields=Fields(text=["story"]))


@given(st.text(alphabet="ab. \n。é", max_size=400), st.integers(min_value=4, max_value=60))
def test_cutting_leaves_out_white_space_only(text: str, size: int) -> None:
    pieces = list(cut_pieces(text, size))
    assert all(0 < end - start <= size for start, end in pieces)
    assert all(text[start:end] == text[start:end].strip() for start, end in pieces)
    places = [0, *(place for piece in pieces for place in piece), len(text)]
    assert places == sorted(places)
    assert all(not text[start:end].strip() for start, end in zip(places[::2], places[1::2], strict=True))
