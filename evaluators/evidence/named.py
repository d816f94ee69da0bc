"""The search that a user names in one word."""

from pathlib import Path

from wardround.engine.errors import UsageError
from wardround.evaluators.evidence.brave import Brave
from wardround.evaluators.evidence.bundled import Bundled
from wardround.evaluators.evidence.corpus import Corpus
from wardround.evaluators.evidence.duckduckgo import DuckDuckGo
from wardround.evaluators.evidence.ledger import Ledger
from wardround.evaluators.evidence.pubmed import Pubmed
from wardround.evaluators.evidence.recorded import Recorded
from wardround.evaluators.evidence.search import Search
from wardround.evaluators.evidence.searxng import Searxng
from wardround.evaluators.evidence.steady import Steady

SERVICES = ("duckduckgo", "pubmed", "brave")
FORMS = "bundled, corpus:PATH, duckduckgo, searxng:URL, pubmed, brave, recorded:SEARCH"


async def named(spec: str, *, cache: Path | None = None, ledger: Ledger | None = None) -> Search:
    """`spec` is one of FORMS; `cache` is the folder for a corpus' index, `ledger` what `recorded` answers from.

    Raises UsageError. Services are asked with patience (steady.py); whether a query may leave at all is for `Guarded`
    to say.
    """
    spec = spec.strip()
    kind, _, rest = spec.partition(":")
    if kind == "recorded":
        return await _recorded(rest.strip(), cache, ledger)
    if spec == "bundled":
        return await Bundled.open(cache)
    if kind == "corpus":
        return await Corpus.open(_path(rest), cache=cache)
    if kind == "searxng" and rest:
        return Steady(Searxng(rest))
    if spec == "duckduckgo":
        return Steady(DuckDuckGo(), at_once=1)
    if spec == "pubmed":
        return Steady(Pubmed())
    if spec == "brave":
        return Steady(Brave(), at_once=1)
    raise UsageError(_unknown(spec))


async def _recorded(spec: str, cache: Path | None, ledger: Ledger | None) -> Recorded:
    """The record of a search: by its spec, or by the name under which it was recorded, which holds `@` and a hash."""
    if ledger is None:
        raise UsageError(
            f"recorded:{spec[:60]} answers from a store, and none is given: name the store it was recorded in"
        )
    if spec in SERVICES or "@" in spec or " [" in spec:  # no key and no file is needed to read what was found
        return Recorded(spec, ledger)
    if not spec or spec.startswith("recorded"):
        raise UsageError("recorded: name the search that was recorded, for instance recorded:bundled")
    search = await named(spec, cache=cache)
    await search.aclose()
    return Recorded(search.name, ledger)


def _path(written: str) -> Path:
    """The path of a corpus; raises UsageError if none was written or nothing is there."""
    if not written.strip():
        raise UsageError("corpus: name a file of JSON lines or a folder of texts, for instance corpus:texts.jsonl")
    path = Path(written.strip())
    if not path.expanduser().exists():
        raise UsageError(
            f"corpus:{written}: there is no such file or folder; what an evaluation found in one that is gone is "
            "recorded:corpus:NAME@HASH, as a report of that run names it"
        )
    return path


def _unknown(spec: str) -> str:
    kind, _, rest = spec.partition(":")
    if kind == "searxng":
        return "searxng: name the server, for instance searxng:http://localhost:8888"
    if rest and kind in ("bundled", *SERVICES):
        return f"the search {kind} takes nothing after its name: write {kind}"
    return f"no search is called {spec[:60]!r}: write one of {FORMS}"
