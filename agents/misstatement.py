"""The one fact that a patient who contradicts himself misstates: its choice, its change, and its correction."""

import re
from collections.abc import Callable, Mapping, Sequence

from wardround.agents.history.facts import story_sentences
from wardround.agents.persona import shared_words
from wardround.engine.records import Json, Said
from wardround.engine.seat import seed_of

ALIKE = 0.5
"""Least share of a fact's longer words that a sentence must have to tell that fact."""
_WORDS = {"one": "three", "two": "four", "three": "five", "four": "two", "five": "two", "six": "three", "ten": "four"}


def _number(match: re.Match[str]) -> str:
    word = match["count"].lower()
    if word in _WORDS:
        return _WORDS[word]
    return str(int(word) + 2 if int(word) < 10 else int(word) * 2)


def _as(words: str) -> Callable[[re.Match[str]], str]:
    return lambda match: words


_COUNT = rf"(?<![\d.,/])\b(?P<count>[1-9]\d?|{'|'.join(_WORDS)})(?=[- ]"
_CHANGES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), change)
    for pattern, change in (
        (rf"{_COUNT}(?:packs?|cigarettes?|cups?)\b)", _number),
        (rf"{_COUNT}(?:children|siblings|sisters|brothers|kids|sons|daughters|cats|dogs|hens)\b)", _number),
        (r"\blives? alone\b", _as("live with a friend")),
        (r"\blives? with (?:my |his |her )?(?:husband|wife|partner|girlfriend|boyfriend|friend)\b", _as("live alone")),
        (r"\bmarried\b", _as("engaged")),
        (r"\bdivorced\b", _as("separated")),
        (r"\bretired\b", _as("working")),
        (r"\bnon-?smoker\b", _as("social smoker")),
        (r"\b(?:do not|don['\u2019]t|never) smoked?\b", _as("smoke a little")),
        (rf"{_COUNT}years? ago\b)", _number),
    )
)
"""What may be misstated: household, work, smoking, the year of an old event. Never a symptom, its time, a drug, drink,
food, or a relative's disease."""


def first_misstatement(sentence: str) -> tuple[str, str] | None:
    """(words as they are, words as misstated) for the first thing in the sentence that can be changed; None if none."""
    for pattern, change in _CHANGES:
        if match := pattern.search(sentence):
            unit = re.match(r"[- ]\w+", sentence[match.end() :]) if "count" in match.groupdict() else None
            more = unit[0] if unit else ""
            return match[0] + more, change(match) + more
    return None


def choose_fact(incidental: Sequence[str], seed: int) -> str:
    """The fact to be misstated, by the seat's seed; "" if none of the `incidental` facts can be changed."""
    able = [fact for fact in incidental if first_misstatement(fact)]
    return able[seed_of(seed, "misstated") % len(able)] if able else ""


def misstate(text: str, known: Mapping[str, Json], own: Sequence[Said], seed: int) -> tuple[str, dict[str, Json]]:
    """The answer with the chosen fact misstated, or corrected if it was before; and the mark for the log.

    `known["incidental"]` are the facts that may be misstated, as the scenario names them; `own` is what the patient
    said so far. An answer that does not tell the fact stays as it is.
    """
    fact = choose_fact([str(one) for one in known.get("incidental") or ()], seed)
    if not fact or any(one.args.get("corrected") for one in own):
        return text, {}
    before = next((one.args["misstated"] for one in own if one.args.get("misstated")), None)
    sentences = story_sentences(text)
    for place, sentence in enumerate(sentences):
        change = first_misstatement(sentence)
        if change is None or change[0].lower() not in fact.lower() or shared_words(sentence, fact) < ALIKE:
            continue
        right, wrong = change
        if before:
            sentences[place] = f"I said {before['said']} before, but that was wrong. {sentence}"
            return " ".join(sentences), {"corrected": {"fact": fact, "said": right}}
        sentences[place] = sentence.replace(right, wrong, 1)
        return " ".join(sentences), {"misstated": {"fact": fact, "true": right, "said": wrong}}
    return text, {}
