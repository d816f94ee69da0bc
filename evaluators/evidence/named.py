"""The search that a user names in one word."""

from pathlib import Path

from wardround.engine.errors import UsageError
from wardround.evaluators.evidence.brave import Brave
from wardround.evaluators.evidence.corpus import Corpus
from wardround.evaluators.evidence.duckduckgo import DuckDuckGo
from wardround.evaluators.evidence.pubmed import Pubmed
from wardround.evaluators.evidence.search import Search
from wardround.evaluators.evidence.searxng import Searxng
from wardround.evaluators.evidence.steady import Steady

FORMS = "corpus:PATH, duckduckgo, searxng:URL, pubmed, brave"


async def named(spec: str, *, cache: Path | None = None) -> Search:
    """`spec` is one of FORMS; `cache` is the folder for a corpus' index. Raises UsageError.

    Services are asked with patience (steady.py); whether a query may leave at all is for `Guarded` to say.
    """
    kind, _, rest = spec.strip().partition(":")
    if kind == "corpus" and rest:
        return await Corpus.open(Path(rest), cache=cache)
    if kind == "searxng" and rest:
        return Steady(Searxng(rest))
    if spec.strip() == "duckduckgo":
        return Steady(DuckDuckGo(), at_once=1)
    if spec.strip() == "pubmed":
        return Steady(Pubmed())
    if spec.strip() == "brave":
        return Steady(Brave(), at_once=1)
    raise UsageError(f"no search is called {spec[:60]!r}: write one of {FORMS}")
