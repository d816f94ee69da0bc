"""What is looked up to judge a treatment: keywords from the case and the plan, never from the truth, and passages."""

import msgspec

from wardround.evaluators.bench import Bench
from wardround.evaluators.evidence.failure import SEARCHED, SearchError
from wardround.evaluators.evidence.found import Found
from wardround.evaluators.evidence.sealed import Sealed
from wardround.evaluators.evidence.search import MOST
from wardround.evaluators.judging.judge import Answer, answered
from wardround.evaluators.judging.question import Question
from wardround.evaluators.judging.signed import HOSTILE
from wardround.evaluators.outcome import questions
from wardround.evaluators.reasoning.account import Looked
from wardround.evaluators.reasoning.keywords import KEYWORDS, read_keywords
from wardround.scenarios.case import Truth

NO_KEYWORDS = "no_keywords"
"""Why nothing was looked up: no judge finds anything to look up."""


class Lookup(msgspec.Struct, frozen=True):
    """The passages found; `looked` tells of the search, if there was one. `failure` says why it gave nothing.

    `flags` are signs of passages that speak to the judge: those are not shown.
    """

    passages: tuple[Found, ...] = ()
    looked: tuple[Looked, ...] = ()
    failure: str = ""
    flags: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether it could not be looked up; that a judge finds nothing to look up is no failure."""
        return self.failure not in ("", NO_KEYWORDS)


async def lookup(bench: Bench, truth: Truth, told: str, given: str) -> Lookup:
    """Look up the plan `given` for the case that was `told`: once for the panel, so that all judge by the same texts.

    The judges that name the keywords are not shown the truth, and a query that holds words of it all the same is not
    sent (`search/leak`), unless the plan or the case itself says them. Without a search nothing is looked up. Raises
    EgressError where a restricted case's words would leave for a host that the user did not name.
    """
    if bench.search is None:
        return Lookup()
    judge, keywords = await _keywords(bench, questions.treatment_keywords(told, given))
    if keywords.value is None:
        return _failed(judge, "", keywords.reason)
    query = keywords.value
    try:
        found = await Sealed(bench.search, truth, known=f"{told}\n{given}").find(query, most=MOST)
    except SearchError as error:
        return _failed(judge, query, f"{SEARCHED}{error.kind}")
    hostile = [(one, bench.signed.of(one.digest, one.text)) for one in found]
    shown = tuple(one for one, told_judge in hostile if not told_judge)
    fallen = tuple((one.url or one.digest, HOSTILE) for one, told_judge in hostile if told_judge)
    flags = tuple(dict.fromkeys(sign for _, told_judge in hostile for sign in told_judge))
    looked = Looked(judge, query, tuple(one.digest for one in shown), pages=fallen)
    return Lookup(shown, (looked,), flags=flags)


async def _keywords(bench: Bench, question: Question) -> tuple[str, Answer[str]]:
    """The keywords of the first judge that names any, and its seat; else the first failure."""
    failed: list[tuple[str, Answer[str]]] = []
    for judge in bench.panel.judges:
        answer: Answer[str] = await answered(judge, question, read_keywords)
        if answer.value:
            return judge.seat, answer
        why = answer.reason.replace("judge_unreadable/", f"{KEYWORDS}/") if answer.value is None else NO_KEYWORDS
        failed.append((judge.seat, Answer(None, why)))
    return failed[0]


def _failed(judge: str, query: str, why: str) -> Lookup:
    return Lookup(looked=(Looked(judge, query, failure=why),), failure=why)
