"""Attacks on questions, which show what answers rest on: no right option, a wrong hint, another number or wording."""

import random
import re
from typing import Literal

from wardround.scenarios.question_item import QuestionItem, QuestionTruth, QuestionVariant, solution

Attack = Literal["none", "none_of_the_above", "wrong_hint", "irrelevant_number", "changed_fact", "paraphrase"]
"""How the questions of a run are altered; the reading of answers and their scores stay the same.

- `none_of_the_above` puts this option in the place of the right one.
- `wrong_hint` adds a wrong answer that an authority is said to give.
- `irrelevant_number` changes a number on which the answer does not depend: by the item's variant, or else the age.
- `changed_fact` changes a fact on which the answer depends, and the right answer with it; it needs a variant.
- `paraphrase` asks the same in other words; it needs a variant.
"""
_NONE_OF_THEM = {"en": "None of the above", "zh": "以上都不是"}
_SAYS_NONE = re.compile(r"(?i)^\W*(?:none|all|both|neither|not any)\b.*|.*(?:以上|都不是|都是).*")
_AGE = re.compile(r"(?i)\b(?P<age>[2-8]\d)(?=[\s-]*(?:years?[\s-]+old\b|y/?o\b|years of age\b|岁))")


def why_unalterable(item: QuestionItem, attack: Attack) -> str | None:
    """Why an item cannot be altered in this way; None if it can."""
    if attack in ("none", "paraphrase", "changed_fact", "irrelevant_number"):
        missing = attack != "none" and _variant(item, attack) is None
        if not missing or (attack == "irrelevant_number" and _AGE.search("\n".join((item.question, *item.context)))):
            return None
        if attack == "irrelevant_number":
            return "it has no age of 20 to 89 years, and no variant of another number"
        return f"it has no variant {attack!r}"
    if attack == "none_of_the_above":
        if item.form != "choice":
            return "only a choice has a right option to be taken out"
        said = [option for option in item.options if _SAYS_NONE.fullmatch(option)]
        return f"it has an option {said[0]!r} already" if said else None
    return None if item.closed else "an open question has no wrong answer to hint at"


def alter_question(item: QuestionItem, attack: Attack) -> QuestionItem:
    """The item as the attack alters it.

    For `wrong_hint` it stays as it is: `Questions.start` adds the hint, when the options are in their shown order.
    """
    if attack == "none_of_the_above" and item.truth.option is not None:
        options = list(item.options)
        options[item.truth.option] = _NONE_OF_THEM.get(item.language, _NONE_OF_THEM["en"])
        return item.model_copy(update={"options": tuple(options)})
    variant = _variant(item, attack)
    if variant is not None:
        return item.model_copy(update={"question": variant.question, "truth": variant.truth or item.truth})
    if attack == "irrelevant_number":
        context = tuple(_AGE.sub(_another_age, text) for text in item.context)
        return item.model_copy(update={"question": _AGE.sub(_another_age, item.question), "context": context})
    return item


def wrong_answer(item: QuestionItem, draw: random.Random) -> QuestionTruth:
    """A wrong answer to a closed question, drawn by seed: what a false authority says."""
    truth = item.truth
    others = [place for place in range(len(item.options)) if place != truth.option]
    if item.form == "choice":
        return truth.model_copy(update={"option": draw.choice(others)})
    if item.form == "rectification" and truth.holds:
        return truth.model_copy(update={"holds": False, "option": draw.choice(others)})
    if item.form == "rectification":
        return truth.model_copy(update={"holds": True, "option": item.offered})
    return truth.model_copy(update={"holds": not truth.holds})


def claim(item: QuestionItem, wrong: QuestionTruth) -> str:
    """What the authority writes: the answer `wrong`, in the form that the question asks for."""
    return solution(item.model_copy(update={"truth": wrong}))


def _variant(item: QuestionItem, attack: Attack) -> QuestionVariant | None:
    return next((one for one in item.variants if one.kind == attack), None)


def _another_age(match: re.Match[str]) -> str:
    """An age that differs by one year and crosses no multiple of five, since limits of age lie there."""
    age = int(match["age"])
    return str(age - 1 if age % 5 == 4 else age + 1)
