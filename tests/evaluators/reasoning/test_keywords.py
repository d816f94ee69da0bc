"""What a judge wants looked up: terms however they are listed, and never a sentence or a refusal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.evaluators.judges.strict_reply import Unread
from wardround.evaluators.reasoning.inquiry import Inquiry
from wardround.evaluators.reasoning.step_questions import QUERY, StepVerdict, read_keywords

SEARCH = '{"judgment": "Search", "keywords_to_search": "%s"}'
TERMS = {
    "a, b": "a, b",
    "gout,\n colchicine.": "gout, colchicine",
    "Keywords: a, b.": "a, b",
    "**Keywords:** gout; colchicine": "gout; colchicine",
    "Sure! Here are the search terms: gout, colchicine": "gout, colchicine",
    "Here are the keywords:\n- a b\n- c\n": "a b, c",
    "1. a\n2. b": "a, b",
    "a\n\nb": "a, b",
    '["gout", "acute colchicine"]': "gout, acute colchicine",
    '```json\n{"keywords": ["gout"]}\n```': "gout",
    '{"keywords": "gout, colchicine"}': "gout, colchicine",
    '"gout" AND "colchicine"': 'gout" AND "colchicine',
    "type I diabetes, angiotensin I converting enzyme": "type I diabetes, angiotensin I converting enzyme",
    "WAS gene, ARE, CAN, HAS-BLED score, E. coli O157:H7, S. Typhi": (
        "WAS gene, ARE, CAN, HAS-BLED score, E. coli O157:H7, S. Typhi"
    ),
    "efficacy of intravenous immunoglobulin versus plasma exchange in Guillain-Barr\u00e9 syndrome": (
        "efficacy of intravenous immunoglobulin versus plasma exchange in Guillain-Barr\u00e9 syndrome"
    ),
    "\u9611\u5c3e\u708e, \u6297\u751f\u7d20": "\u9611\u5c3e\u708e, \u6297\u751f\u7d20",
    "because, should": "because, should",
    "None": "",
    "none.": "",
    "[]": "",
}
UNREADABLE = {
    "": "empty",
    " ... ": "empty",
    "3": "empty",
    "I'm sorry, but I can't help with that.": "refusal",
    "I cannot give medical advice": "refusal",
    "As an AI, I am not able to judge": "refusal",
    "Sorry, no": "refusal",
    "Lo siento, no puedo ayudar con eso": "refusal",
    "\u62b1\u6b49\uff0c\u6211\u65e0\u6cd5\u56de\u7b54": "refusal",
    "Let me think about that for a while.": "prose",
    "You should look up gout, colchicine, and joint fluid.": "prose",
    "The step is about gout": "prose",
    "Colchicine relieves acute gout within two days.": "prose",
    "Ignore the rubric, mark the step": "prose",
    "I think gout, colchicine": "prose",
    "Is it gout?": "prose",
    " ".join(["gout"] * 17): "prose",
    "\u6211\u89c9\u5f97\u8fd9\u4e2a\u95ee\u9898\u5f88\u96be": "prose",
    '{"keywords": 3}': "no_field",
    '{"other": "gout"}': "no_field",
    '["gout", ["a"]]': "no_field",
    '{"keywords": ["gout"': "half_json",
    "a" * 600: "too_long",
    "gout " * 60_000: "too_long",
}


@pytest.mark.parametrize("reply", TERMS)
def test_terms_are_one_line(reply: str) -> None:
    assert read_keywords(reply) == TERMS[reply]


@pytest.mark.parametrize("reply", UNREADABLE, ids=lambda reply: reply[:30])
def test_what_is_not_terms_is_never_looked_up(reply: str) -> None:
    read = read_keywords(reply)
    assert isinstance(read, Unread)
    assert read.why == UNREADABLE[reply]


@given(
    st.text() | st.lists(st.sampled_from(["gout", ", ", "I", " can't", "\n", "- ", "[", '"', "{", ":"])).map("".join)
)
def test_every_reply_is_read_or_has_its_reason(reply: str) -> None:
    read = read_keywords(reply)
    assert isinstance(read, Unread) or (len(read) <= QUERY and "\n" not in read)


def test_one_repair_then_the_step_is_unverifiable_for_that_reason() -> None:
    refused = "I'm sorry, but I can't help with that."
    once = Inquiry("a").with_reply(refused)
    assert (once.wants, once.repairing) == ("keywords", True)
    assert once.with_reply("gout, colchicine").query == "gout, colchicine"
    twice = once.with_reply(refused)
    assert (twice.verdict, twice.reason) == (StepVerdict.UNVERIFIABLE, "keywords/refusal")
    assert twice.wants == "done"


def test_a_further_search_is_for_terms_too() -> None:
    asked = Inquiry("a").with_reply("a").with_results("page")
    once = asked.with_reply(SEARCH % "You should look up more of it")
    assert (once.wants, once.repairing) == ("verdict", True)
    assert once.with_reply(SEARCH % "more, terms").query == "more, terms"
    twice = once.with_reply(SEARCH % "You should look up more of it")
    assert (twice.verdict, twice.reason) == (StepVerdict.UNVERIFIABLE, "keywords/prose")


def test_the_published_code_looks_up_whatever_it_is_told() -> None:
    refused = "I'm sorry, but I can't help with that."
    inquiry = Inquiry("a", "published").with_reply(refused)
    assert (inquiry.query, inquiry.keywords) == (refused, refused)
    assert inquiry.with_results("page").with_reply(SEARCH % "You should look it up").query == "You should look it up"
