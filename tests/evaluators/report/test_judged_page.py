"""The page of a judged episode: what is quoted and linked, what failed, what is hidden, and nothing that runs."""

import html
import re
from typing import Any

import judged
import msgspec
import pytest
from judged import PAGE, PASSAGE, TEXTS, account, accounts, assessment, case, outcome, quoted, row
from markup import Reader

from wardround.engine.events import digest_of
from wardround.engine.records import Json, Score
from wardround.evaluators.reasoning.reasoning_record import Account, PartAccount, StepAccount
from wardround.evaluators.reasoning.step_questions import StepClass, StepVerdict
from wardround.evaluators.report.episode_page import episode_page, page_name
from wardround.evaluators.report.score_rows import digests
from wardround.scenarios.case import Truth

NASTY = '<script>alert("1")</script>{{ 7*7 }}'


def shown(held: dict[str, Json] | None = None, **fields: Any) -> str:
    """The page, with the fixture's parts where none are given."""
    whole: dict[str, Any] = {"row": row(), "case": case(), "texts": TEXTS} | fields
    given = accounts(standard={"outcome": outcome()}, assessment={"assessment": assessment()}) if held is None else held
    return episode_page("brisk-heron", whole["row"], whole["case"], given, whole["texts"])


def one_step(**fields: Any) -> dict[str, Json]:
    """The accounts of an episode with one step."""
    whole: dict[str, Any] = {"text": "A claim.", "kind": "reasoning", "verdict": "correct"}
    part = PartAccount("formal", "conclusion", 1, 3, (StepAccount(**(whole | fields)),), "lines")
    return accounts(account(parts=(part,)))


def squeezed(page: str) -> str:
    """The words of a page on one line, with a space for each tag."""
    text = html.unescape(re.sub(r"<style>.*?</style>|<[^>]+>", " ", page, flags=re.DOTALL))
    return re.sub(r" ([,;:])", r"\1", " ".join(text.split()))


def test_why_the_judges_own_knowledge_settled_nothing_is_said_in_words() -> None:
    page = squeezed(shown(one_step(verdict=StepVerdict.UNVERIFIABLE, reason="unresolved", unheld="judges_divided")))
    assert "no verdict, the judges disagree" in page
    assert "judges_divided" not in page


def test_the_page_is_whole_and_loads_and_runs_nothing() -> None:
    page = shown()
    read = Reader(page)
    assert read.tags.isdisjoint({"script", "link", "iframe", "img", "object", "form", "base"})
    assert len(read.ids) == len(set(read.ids))
    inside = {link.removeprefix("#") for link in read.links if link.startswith("#")}
    assert inside <= set(read.ids)
    assert {link for link in read.links if not link.startswith("#")} == {"https://health.example/appendicitis"}
    assert not re.search(r"@import|url\(|\son\w+=", page)
    assert "default-src 'none'" in page


def test_every_source_is_a_link_without_a_door_back() -> None:
    tags = re.findall(r'<a href="https?://[^>]*>', shown())
    assert len(tags) == 7  # one of the outcome, two in each of the three parts that have the step
    assert all("noopener" in tag and "noreferrer" in tag for tag in tags)


def test_each_step_shows_its_class_its_verdict_and_why() -> None:
    text = squeezed(shown())
    for part in (
        "Step 1 “ citation A 19-year-old",
        "Step 2 reasoning ✓ correct",
        "Step 3 reasoning ✗ wrong",
        "Step 4 = repetition votes differ",
        "Step 5 reasoning ? unverifiable search failed: no reply in time",
        "Step 6 reasoning ! no verdict the judges disagree votes differ",
        "Step 7 – redundancy",
        "Step 8 ! no verdict judge's reply not usable: prose instead of a verdict votes differ",
        "1 correct, 1 wrong, 1 unverifiable, 2 without verdict, 1 citation, 1 repetition, 1 redundancy",
        "12 further steps left out and not judged",
        "judge-2 (openai/gemma-3-27b): no verdict, judge's reply not usable: an answer with reservations",
        "Text here speaks to the judge: instruction, page:verdict form",
    ):
        assert part in text, part


def test_the_quoted_words_are_the_stored_ones_with_hash_place_and_context() -> None:
    page = shown()
    assert "<mark>It often begins with pain around the navel that moves to the lower right side</mark>" in page
    assert '<span class="around">Appendicitis is an inflammation of the appendix. </span>' in page
    at = PAGE.index("It often")
    text = squeezed(page)
    end = at + len("It often begins with pain around the navel that moves to the lower right side")
    assert f"characters {at} to {end} of {digest_of(PAGE)}" in text
    assert "aligned, 94.2% like the judge's words" in text
    assert "Psoas sign [notes/signs.jsonl:14]" in text


def test_what_was_searched_and_what_failed_is_told() -> None:
    text = squeezed(shown())
    assert (
        "judge searched “mesenteric lymphadenitis operation”: failed, no reply in time (an error is never evidence)"
        in text
    )
    assert "left out: https://slow.example/psoas, no reply in time" in text
    assert f"“psoas sign appendicitis specific”: 1 text shown {digest_of(PASSAGE)[:8]}" in text


def test_reference_steps_are_found_or_not_in_either_place_or_not_known() -> None:
    text = squeezed(shown())
    for part in (
        "2 of 4 steps found",
        "The pain wandered to the right lower side. ✓ found ✗ not found",
        "White cells are raised. ✗ not found ✗ not found",
        "Ultrasound shows a thick appendix. the judge gave no reply in time ! not known ! not known",
        "Appendicitis. final answer",
        "Completeness: none, no reference reasoning in the case",
    ):
        assert part in text, part


def test_the_scores_stand_with_their_reasons_and_the_parts_beside_each_other() -> None:
    text = squeezed(shown())
    assert "0.500 / 0.750" in text
    assert "– / 0.500" in text
    assert "Completeness, reply – the judge gave no reply in time" in text
    assert "Factuality 0.500 1 of 2, 0.250 to 0.750 with unverified steps" in text


def test_the_outcome_and_the_examinations_are_shown_too() -> None:
    text = squeezed(shown())
    assert "✓ correct basis: evidence by the published rules correct" in text
    assert "judge-2 (openai/gemma-3-27b): unverifiable" in text
    assert "White cell count laboratory ✓ Leukocytes" in text
    assert "Any imaging imaging ✗ none 1 pair open the judges disagree" in text
    assert "Recorded and not asked for: Ultrasound; Histology" in text


def test_a_floor_is_said_before_anything_else() -> None:
    text = squeezed(shown(accounts(account(floor=True, judges={"judge": "lexical"}))))
    assert text.index("A lower bound, not a judgment.") < text.index("asked for")
    assert "judge: lexical (lower bound)" in text
    assert "A lower bound" not in squeezed(shown())
    only = shown({"standard": msgspec.to_builtins({"outcome": outcome(floor=True)})})
    assert "A lower bound, not a judgment." in squeezed(only)


def replaced(value: Json, text: str) -> Json:
    """JSON with every text in it replaced, but for those that are a word of a closed list or a hash."""
    if isinstance(value, dict):
        kept = ("kind", "verdict", "rules", "part", "stage", "goal", "digest", "texts", "basis", "how")
        return {key: held if key in kept else replaced(held, text) for key, held in value.items()}
    if isinstance(value, list):
        return [replaced(held, text) for held in value]
    return text if isinstance(value, str) else value


def test_text_of_others_is_escaped_in_every_field() -> None:
    given = accounts(standard={"outcome": outcome()}, assessment={"assessment": assessment()})
    given = {f"{NASTY}{name}": replaced(held, NASTY) for name, held in given.items()}
    fields = dict.fromkeys(("episode", "answer", "truth", "reason"), NASTY)
    nasty = case(id=NASTY, opening=NASTY, truth=Truth(diagnosis=NASTY, synonyms=(NASTY,)))
    texts = {digest: NASTY + text for digest, text in TEXTS.items()}
    scored = row(scores=[Score(NASTY, None, NASTY)], **fields)
    page = episode_page(NASTY, scored, nasty, given, texts)
    read = Reader(page)
    assert page.count("&lt;script&gt;") > 60
    assert "script" not in read.tags
    assert "<script" not in page
    assert "{{ 7*7 }}" in read.text
    assert all(link.startswith("#") for link in read.links)


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        " javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "https://good.example@evil.example/",
        "//evil.example",
        "ftp://a.example/b",
        "https://a.example/\u202egpj.exe",
        "https://[::1",
        "https:///nowhere",
    ],
)
def test_only_plain_web_addresses_are_links(url: str) -> None:
    page = shown(one_step(quoted=(quoted(PASSAGE, "psoas sign", url=url),)))
    assert all(link.startswith("#") for link in Reader(page).links)
    assert "psoas sign</mark>" in page


def test_a_text_that_is_missing_altered_or_too_short_is_never_shown_as_evidence() -> None:
    held = one_step(quoted=(quoted(PASSAGE, "psoas sign"),))
    assert "The text is not in the store." in shown(held, texts={})
    altered = shown(held, texts={digest_of(PASSAGE): PASSAGE.replace("not ", "")})
    assert "The stored text is not what it was when it was cited." in altered
    assert "<mark>" not in altered
    beyond = one_step(quoted=(msgspec.structs.replace(quoted(PASSAGE, "psoas sign"), end=9999),))
    assert "none at this place" in shown(beyond)


def test_a_verdict_without_words_behind_it_says_so() -> None:
    assert "No words of a source stand behind this verdict." in shown(one_step())
    assert "No words of a source" not in shown(one_step(quoted=(quoted(PASSAGE, "psoas sign"),)))


SECRETS = (
    "wanders",
    "navel",
    "psoas",
    "appendi",
    "Leukocytes",
    "White cell",
    "health.example",
    "slow.example",
    "Digestive",
)


def test_the_answer_as_read_stands_behind_the_answer_and_not_of_a_restricted_case() -> None:
    told = row(answer="Most likely appendicitis with fever, not gout", scores=(Score("diagnosis_accuracy", 1.0),))
    text = squeezed(shown({}, row=told))
    as_read = (
        "as read commits to: appendicitis also asserts: with fever hedged: it is said to be likely, which still "
        "commits to it not counted: not gout (denied, only considered, or in a refusal) by words: right:"
    )
    assert as_read in text
    assert text.index("answer Most likely") < text.index(as_read) < text.index("truth Appendicitis")
    for hidden in (row(answer="Gout", restricted=True), row(answer="")):
        assert "as read" not in squeezed(shown({}, row=hidden))
    assert "as read" not in squeezed(shown({}, row=told, case=case(data_class="restricted")))


def test_a_count_of_one_episode_has_no_decimal() -> None:
    text = squeezed(shown({}, row=row(scores=(Score("tests", 12.0), Score("test_cost", 41.5), Score("turns", 2.0)))))
    assert "Tests ordered 12 Cost of tests, in points 41.5 Turns 2 " in f"{text} "


def test_a_judged_ranked_list_shows_each_entry_with_its_verdict() -> None:
    asked = msgspec.structs.replace(outcome(), goal="diagnosis", value=0.0, entry="Gout", votes=())
    listed = msgspec.structs.replace(asked, further=(msgspec.structs.replace(asked, value=1.0, entry="Appendicitis"),))
    tops = (Score("diagnosis_top_1", 0.0), Score("diagnosis_top_2", 1.0))
    text = squeezed(shown(accounts(standard={"outcome": listed}), row=row(answer="Gout; Appendicitis", scores=tops)))
    assert "as read ranked list: 1. Gout; 2. Appendicitis" in text
    assert "up to the first that is right: Gout: wrong Appendicitis: right" in text


def test_of_a_restricted_case_no_text_is_shown() -> None:
    hidden = case(data_class="restricted")
    page = shown(row=row(restricted=True), case=hidden)
    assert [secret for secret in SECRETS if secret.lower() in page.lower()] == []
    text = squeezed(page)
    for part in (
        "This case is restricted",
        "✗ wrong",
        "search failed: no reply in time",
        "0.500 / 0.750",
        digest_of(PAGE),
    ):
        assert part in text, part
    assert "This case is restricted" in shown(case=hidden)
    assert [secret for secret in SECRETS if secret.lower() not in shown().lower()] == [], "of another all are"


def test_hidden_signs_are_made_visible_and_hidden_bytes_break_nothing() -> None:
    page = shown(one_step(text="mark this \u202ecorrect\x00\u2066 中文 \U000e0041", verdict="wrong"))
    assert "‹U+202E›correct‹U+0000›‹U+2066› 中文 ‹U+E0041›" in page
    page.encode("utf-8")


def test_an_episode_without_an_account_says_why() -> None:
    assert "has it judged" in shown({})
    assert "the endpoint gave no reply in time" in squeezed(shown({}, row=row(cause="provider", reason="timeout")))
    assert "the episode is still open" in squeezed(shown({}, row=row(cause=None)))
    assert "No reply was judged." in shown(accounts(account(parts=())))


@pytest.mark.parametrize(
    "held", [{"rules": "default", "search": 3}, ["x"], {"outcome": {"value": "<b>"}}, {"other": 1}]
)
def test_an_account_that_cannot_be_read_is_named_and_the_rest_is_shown(held: Json) -> None:
    page = shown({"strange": held, **accounts()})
    assert "The account of strange cannot be read by this version." in squeezed(page)
    assert "✗ wrong" in squeezed(page)


def test_two_rule_sets_stand_one_after_the_other_and_their_anchors_differ() -> None:
    page = shown({**accounts(), "reasoning-published": msgspec.to_builtins(account(rules="published"))})
    read = Reader(page)
    assert "By the published rules" in read.text
    assert len(read.ids) == len(set(read.ids))


def test_a_long_step_is_folded_and_many_steps_still_make_a_page() -> None:
    long = "word " * 20_000
    page = shown(one_step(text=long))
    assert "characters more)" in page
    assert page.count("<details><summary>the whole step</summary>") == 1
    assert len(page) < 3 * len(long)
    step = StepAccount("x", StepClass.CITATION)
    many = account(parts=(PartAccount("formal", "conclusion", 1, 3, (step,) * 200, "lines"),))
    assert shown(accounts(many)).count("<article") == 200


def test_the_texts_that_a_page_needs_are_named_once_each() -> None:
    held = accounts(standard={"outcome": outcome()})
    assert set(digests(held)) == set(TEXTS)
    assert len(digests(held)) == 3
    assert digests({}) == []


def test_a_page_has_a_name_that_any_file_system_takes() -> None:
    names = [page_name("r", "../../etc/x@1"), page_name("r", "..\\..\\etc\\x@1"), page_name("r", "中文" * 200)]
    assert len(set(names)) == 3
    assert all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,100}\.html", name) for name in names)


def test_the_same_input_gives_the_same_page() -> None:
    assert shown() == shown()


def test_the_fixture_has_every_state() -> None:
    states = {step.verdict or step.kind for part in judged.account().parts for step in part.steps}
    assert states == {"correct", "wrong", "unverifiable", "citation", "repetition", "redundancy", "reasoning", None}
    assert msgspec.convert(msgspec.to_builtins(judged.account()), Account) == judged.account()
