"""Whether a stated treatment plan is the true one: the share of the plan's key terms that are named. A floor."""

from wardround.scenarios.case import Truth
from wardround.scenarios.terms.diagnosis import Verdict
from wardround.scenarios.terms.statement import statement
from wardround.scenarios.terms.vocabulary import root, roots
from wardround.scenarios.terms.wording import key, words_of

ENOUGH = 0.5
"""Least share of the true plan's key terms. Free text has no synonyms here: a model judge is the measure to quote."""

_LITTLE = frozenset(
    root(word)
    for word in words_of(
        """a an the of in on at to by for and or as its this that is was were be been from with without into after
        before during then than followed following patient patients treatment treated treat therapy management plan
        started start initiated initiate administered given give received receive underwent performed daily weekly
        twice once day days week weeks month months year hour hours dose doses mg g ml mcg kg iv im po oral orally
        intravenous bid tid qid regimen course continued continue recommended recommendation include includes including
        consider option options appropriate initial initially further additional long short term up left right per
        due first second third line also both each more less any all such which will would should could may can"""
    )
)


def compare(answer: str, truth: Truth) -> Verdict:
    """Compare a stated plan with the true one.

    Right if it is the plan in other spelling, or names at least ENOUGH of its key terms (drugs, procedures, regimens;
    words of courtesy, dose and time do not count), what the answer denies or advises against left out. Rules: exact,
    words, none, empty.
    """
    if not key(answer):
        return Verdict(False, "empty", 0.0)
    if key(answer) == key(truth.treatment):
        return Verdict(True, "exact", 1.0)
    wanted = list(dict.fromkeys(word for word in roots(truth.treatment) if _counts(word)))
    if not wanted:
        return Verdict(False, "none", 0.0)
    read = statement(answer)
    said = {
        word for text in (*read.asserted, *(part for group in read.undecided for part in group)) for word in roots(text)
    }
    score = sum(word in said for word in wanted) / len(wanted)
    return Verdict(score >= ENOUGH, "words" if score >= ENOUGH else "none", score)


def _counts(word: str) -> bool:
    return word not in _LITTLE and len(word) > 2 and not word[0].isdigit()
