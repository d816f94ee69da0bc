"""The grammar of one who speaks for itself: pronouns and verbs from the third person into the first."""

import re

_IRREGULAR = {
    "has": "have",
    "is": "am",
    "does": "do",
    "goes": "go",
    "was": "was",
    "hasn't": "haven't",
    "doesn't": "don't",
}
_AFTER_I = re.compile(
    r"\bI (?P<adverb>(?:also|often|still|usually|always|never|recently|currently|occasionally"
    r"|only) )?(?P<verb>[a-z]+)\b"
)
_SECOND = re.compile(
    r"\b(?P<joint>and|but|or) (?P<adverb>never |also |often )?(?P<verb>hasn't|doesn't|recalls|consumes"
    r"|continues|remains|has|is(?! (?:slowly|rapidly|gradually) \w+ing)|does|lives|works|takes|drinks"
    r"|smokes|notes|uses|reports|wears|plays|feels|shows|seeks|mentions|denies|states|wants|tries|needs"
    r"|experiences|describes|enjoys|eats|goes|wakes|sleeps|gets|believes|thinks|says|admits|performs|presents"
    r"|complains|finds|sees|keeps|likes)\b"
)


def own_pronouns(text: str, sex: str | None) -> str:
    """`text` with the patient's pronouns in the first person; without a `sex`, of both."""
    if sex in ("male", None):
        text = re.sub(r"\bhe\b", "I", text, flags=re.I)
        text = re.sub(r"\bhis\b", "my", text, flags=re.I)
        text = re.sub(r"\bhim(self)?\b", lambda match: "myself" if match[1] else "me", text, flags=re.I)
    if sex in ("female", None):
        text = re.sub(r"\bshe\b", "I", text, flags=re.I)
        text = re.sub(r"\bherself\b", "myself", text, flags=re.I)
        text = re.sub(r"\bhers?\b(?=\s+(?!(?:to|at|in|on|when|and|but|with|from)\b)\w)", "my", text, flags=re.I)
        text = re.sub(r"\bher\b", "me", text, flags=re.I)
    return text


def agree_verbs(text: str) -> str:
    """`text` with its verbs after 'I' in the first person."""

    def verb(match: re.Match[str]) -> str:
        return f"I {match['adverb'] or ''}{_plural(match['verb'])}"

    text = _AFTER_I.sub(verb, text)
    if re.match(r"^I\b", text):
        text = _SECOND.sub(lambda match: f"{match['joint']} {match['adverb'] or ''}{_plural(match['verb'])}", text)
    return text


def _plural(verb: str) -> str:
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb.endswith("ies") and len(verb) > 4:
        return f"{verb[:-3]}y"
    if re.search(r"(?:sh|ch|ss|x|z|o)es$", verb):
        return verb[:-2]
    if (
        verb.endswith("s")
        and not verb.endswith(("ss", "us", "is"))
        and verb not in ("always", "sometimes", "was", "perhaps")
    ):
        return verb[:-1]
    return verb
