"""Reading articles: JATS, JSON lines, folders, and everything that can be wrong with a file."""

import gzip
import json
from datetime import date
from pathlib import Path

import pytest
from curating import CASE, LICENCE, OUTCOME, jats

from wardround.engine.errors import UsageError
from wardround.scenarios.reports.article import Article, UnreadArticle
from wardround.scenarios.reports.article_files import articles, short_licence, title_and_sections

BOMB = '<?xml version="1.0"?><!DOCTYPE article [<!ENTITY a "aaaaaaaaaa">{more}]><article><body>&j;</body></article>'


def write(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def one(path: Path, **more: str) -> Article:
    [found] = articles([path], **more)
    assert isinstance(found, Article), found
    return found


def unread(path: Path) -> UnreadArticle:
    [found] = articles([path])
    assert isinstance(found, UnreadArticle), found
    return found


def test_a_jats_article_is_read_without_its_figures_and_references(tmp_path: Path) -> None:
    found = one(write(tmp_path, "a.nxml", jats(77)))
    assert (found.id, found.kind, found.language) == ("PMC77", "case-report", "en")
    assert found.title == "A gardener with nodules of the forearm: a case report"
    assert found.abstract == "A thorn, then nodules: how the diagnosis was made. Report 77."
    assert found.published == date(2024, 8, 3)
    assert [part.heading for part in found.sections] == ["Case presentation", "Outcome and follow-up", "Discussion"]
    assert "He had no fever and took no medicines." in found.sections[0].text
    assert found.sections[1].text == OUTCOME
    assert "Secret" not in found.text
    assert "Fig" not in found.text
    assert "[" not in found.text
    assert "Text:" in found.full_text
    assert "gardener presented" not in found.digest
    assert "must be told from nocardiosis" in found.digest


def test_powers_and_characters_survive_and_nested_sections_keep_their_headings(tmp_path: Path) -> None:
    body = (
        "<sec><title>Case</title><sec><title>Tests</title><p>Count 7.2 &#215; 10<sup>9</sup>/L, &#945; "
        "CD<sub>4</sub> low.</p></sec></sec>"
    )
    found = one(write(tmp_path, "a.xml", jats(body=body)))
    assert found.sections[0].heading == "Case: Tests"
    assert found.sections[0].text == "Count 7.2 \u00d7 10^9/L, \u03b1 CD4 low."


def test_a_document_type_is_no_fault_and_nothing_outside_is_read(tmp_path: Path) -> None:
    head = '<?xml version="1.0"?><!DOCTYPE article PUBLIC "-//NLM//DTD JATS//EN" "http://127.0.0.1:9/x.dtd">'
    assert one(write(tmp_path, "a.xml", head + jats())).id == "PMC1"
    assert one(write(tmp_path, "b.xml", head + jats(2).replace("A thorn,", "A&nbsp;thorn,"))).abstract.startswith("A")


@pytest.mark.parametrize(
    "text",
    [
        BOMB.format(
            more="".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefghi", "bcdefghij", strict=True))
        ),
        '<!DOCTYPE article [<!ENTITY j SYSTEM "file:///etc/passwd">]><article><body><p>&j;</p></body></article>',
        f'<?xml version="1.0"?><!--{"x" * 70_000}--><!DOCTYPE article [<!ENTITY j "k">]><article>&j;</article>',
    ],
    ids=["billion laughs", "outside file", "behind a long comment"],
)
def test_entities_of_a_files_own_are_refused(tmp_path: Path, text: str) -> None:
    found = unread(write(tmp_path, "bomb.xml", text))
    assert found.rule == "readable"
    assert "entities" in found.why
    assert "root:" not in found.why


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (jats()[:-60], "line 1, column"),
        ("", "no element found"),
        ("no XML at all", "line 1, column 1"),
        ("<html><p>text</p></html>", "no <article>"),
        (b"\xff\xfe\x00broken", "line 1"),
    ],
    ids=["cut off", "empty", "text", "another kind", "bytes"],
)
def test_a_broken_file_is_named_with_its_place(tmp_path: Path, text: str | bytes, said: str) -> None:
    path = write(tmp_path, "bad.xml", text)
    found = unread(path)
    assert found.rule == "readable"
    assert str(path) in found.why
    assert said in found.why


def test_a_file_of_several_articles_and_a_folder_are_streamed_in_order(tmp_path: Path) -> None:
    write(tmp_path, "b/two.xml", f"<pmc-articleset>{jats(2)}{jats(3)}</pmc-articleset>")
    write(tmp_path, "a/one.nxml.gz", gzip.compress(jats(1).encode()))
    write(tmp_path, "c.jsonl", json.dumps({"id": "X", "text": f"Title\n\n{CASE}"}) + "\n")
    write(tmp_path, "notes.txt", "not read")
    assert [found.id for found in articles([tmp_path])] == ["X", "PMC1", "PMC2", "PMC3"]


def test_the_same_article_again_is_passed_on_as_such(tmp_path: Path) -> None:
    write(tmp_path, "a.xml", jats(1))
    write(tmp_path, "b.xml", jats(1))
    first, second = articles([tmp_path])
    assert isinstance(first, Article)
    assert isinstance(second, UnreadArticle)
    assert second.rule == "unique"


def test_an_article_without_body_or_date_or_number_is_an_article(tmp_path: Path) -> None:
    bare = "<article><front><article-meta/></front></article>"
    found = one(write(tmp_path, "bare.xml", bare))
    assert (found.id, found.sections, found.published) == ("bare", (), None)
    assert one(write(tmp_path, "c.xml", jats(published="<pub-date><year>0</year></pub-date>"))).published is None
    early = "<pub-date><year>2024</year></pub-date><pub-date><month>12</month><year>2023</year></pub-date>"
    assert one(write(tmp_path, "d.xml", jats(published=early))).published == date(2023, 12, 1)


@pytest.mark.parametrize(
    ("said", "name", "data_class"),
    [
        (LICENCE, "CC-BY-4.0", "public"),
        ("<permissions><license><license-p>This is an open access article under the CC BY-NC-ND license</license-p>"
         "</license></permissions>", "CC-BY-NC-ND", "public"),
        ("<permissions><license><license-p>All rights reserved.</license-p></license></permissions>",
         "All rights reserved.", "restricted"),
        ("", "", "restricted"),
    ],
)  # fmt: skip
def test_the_licence_decides_whether_a_case_is_public(tmp_path: Path, said: str, name: str, data_class: str) -> None:
    path = write(tmp_path, "a.xml", jats(licence=said))
    found = one(path)
    assert (found.licence, found.data_class) == (name, data_class)
    assert one(path, data_class="restricted").data_class == "restricted"
    assert one(path, data_class="public").data_class == "public"


def test_a_licence_given_stands_in_for_none_only(tmp_path: Path) -> None:
    path = write(tmp_path, "a.xml", jats(licence=""))
    assert one(path, licence="CC-BY-4.0").data_class == "public"
    assert one(path, licence="my own").data_class == "restricted"
    other = write(tmp_path, "b.xml", jats())
    assert one(other, licence="CC0").licence == "CC-BY-4.0"
    assert short_licence("https://creativecommons.org/publicdomain/zero/1.0/") == "CC0-1.0"


def test_json_lines_of_whole_texts_and_of_parts(tmp_path: Path) -> None:
    lines = [
        {"id": "A", "raw_case": f"\nA title\n\nAbstract\n\nIn short.\n\n1. Case Report\n\n{CASE}"
         "\n\n3. Discussion\n\nLong."},
        {"pmc_id": 12, "title": "T", "abstract": "S", "sections": [{"heading": "Case", "text": CASE}],
         "date": "2024-7-10", "license": "CC-BY-4.0", "article_type": "case-report", "lang": "en-GB"},
        {"text": CASE},
    ]  # fmt: skip
    path = write(tmp_path, "a.jsonl", "\n".join(map(json.dumps, lines)))
    whole, parted, bare = articles([path])
    assert isinstance(whole, Article)
    assert isinstance(parted, Article)
    assert isinstance(bare, Article)
    assert (whole.title, whole.abstract) == ("A title", "In short.")
    assert [part.heading for part in whole.sections] == ["Case Report", "Discussion"]
    assert (parted.id, parted.published, parted.language) == ("12", date(2024, 7, 10), "en")
    assert parted.data_class == "public"
    assert bare.id == "a-3"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"id": "A", "text": ', "is no JSON object"),
        ('["A"]', "must be a JSON object"),
        ('{"id": "A", "text": ["x"]}', "field text: must be a text"),
        ('{"id": "A", "sections": "x"}', "field sections"),
        ('{"id": "A", "text": "x", "published": "summer"}', "field published: 'summer' is no date"),
        ("[" * 100_000, "is no JSON object"),
    ],
)
def test_a_line_that_is_no_article_is_named_and_the_others_are_read(tmp_path: Path, line: str, said: str) -> None:
    good = json.dumps({"id": "B", "text": CASE})
    first, second = articles([write(tmp_path, "a.jsonl", f"{line}\n{good}\n")])
    assert isinstance(first, UnreadArticle)
    assert "line 1" in first.why
    assert said in first.why
    assert second.id == "B"


@pytest.mark.long
def test_five_megabytes_are_read_as_they_are(tmp_path: Path) -> None:
    body = "<sec><title>Case</title>" + "<p>The patient had a fever and was seen by us again.</p>" * 100_000 + "</sec>"
    assert len(one(write(tmp_path, "a.xml", jats(body=body))).text) > 5_000_000


def test_what_is_no_place_of_articles_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        list(articles([tmp_path / "none.xml"]))
    with pytest.raises(UsageError, match="is none of"):
        list(articles([write(tmp_path, "a.doc", "x")]))
    with pytest.raises(UsageError, match="holds no file of articles"):
        list(articles([tmp_path]))


def test_a_heading_is_told_from_a_sentence() -> None:
    title, found = title_and_sections(
        "A man with pain\n\nCase presentation\n\nCase one was seen in May.\n\nPatient consent\n\nGiven."
    )
    assert title == "A man with pain"
    assert [(part.heading, part.text) for part in found] == [
        ("Case presentation", "Case one was seen in May."),
        ("Patient consent", "Given."),
    ]
