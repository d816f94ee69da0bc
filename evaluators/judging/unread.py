"""What a judge's reply is when it cannot be read: a typed reason, never a default."""

from typing import Literal

import msgspec

Why = Literal[
    "empty",
    "too_long",
    "half_json",
    "no_field",
    "no_steps",
    "no_test",
    "too_many_steps",
    "not_in_vocabulary",
    "several",
    "hedged",
    "refusal",
    "other_language",
    "prose",
    "contradicted",
]


class Unread(msgspec.Struct, frozen=True):
    """A reply without a usable verdict: `why` is a stable word, `said` the beginning of the reply for people.

    `empty`; `too_long`: above 100,000 characters; `half_json`: broken, or with a key twice; `no_field`: JSON without
    the field asked for; `no_steps`, `no_test`: a list without a usable entry; `too_many_steps`: more reference steps
    than allowed; `not_in_vocabulary`: the field holds another word; `several`: different verdicts, also in two fields;
    `hedged`: a verdict with a doubt or a negation ("not correct", "Correct: false", "Correct, in part") or with signs
    that are not read behind it; `refusal`; `other_language`: no Latin letter; `prose`: no verdict in its place;
    `contradicted`: it says of a text what the text itself denies.
    """

    why: Why
    said: str = ""

    @property
    def reason(self) -> str:
        """The reason of a score that is missing because of it."""
        return f"judge_unreadable/{self.why}"


def unread(why: Why, text: str) -> Unread:
    """With the beginning of `text`, on one line."""
    return Unread(why, " ".join(text[:400].split())[:160])
