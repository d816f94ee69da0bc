"""From what a user says of judges and searches to a court that can sit; no judge is reached yet."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path

from wardround.access import Access, access_of
from wardround.cast import Part, model_part
from wardround.court import LEXICAL, Court, seats_of
from wardround.engine.errors import UsageError
from wardround.engine.protocols import Store
from wardround.evaluators.evidence.domains import Domains, Filtered
from wardround.evaluators.evidence.ledger import Ledger
from wardround.evaluators.evidence.named import kind_of, named
from wardround.evaluators.evidence.page import Reader
from wardround.evaluators.evidence.pages import Pages
from wardround.evaluators.evidence.search import Search
from wardround.evaluators.evidence.web import Web
from wardround.evaluators.reasoning.judged import Knowledge
from wardround.settings import RunSettings, SeatSettings
from wardround.wording import wording

KEYS = ("OPENAI_API_KEY", "AZURE_OPENAI_API_KEY")
"""Keys that a model is made with; litellm's are its own affair."""


@dataclass(frozen=True, slots=True)
class Convening:
    """What a user says: `judges` by SPEC, `lexical` being the offline one, each with its base URL in the same place.

    `search` as in `evidence.named`, "" for none; `pages`: read the pages that a search names. `allow` and `deny` are
    domains of evidence, `allow_hosts` hosts that restricted cases may be sent to. `knowledge` as in Court.
    """

    judges: Sequence[str]
    base_urls: Sequence[str] = ()
    temperature: float | None = None
    repeats: int = 1
    swap: bool = False
    search: str = ""
    pages: bool = True
    allow: Sequence[str] = ()
    deny: Sequence[str] = ()
    allow_hosts: Sequence[str] = ()
    prompts: Path | None = None
    quotas: Sequence[str] = ()
    prices: str = ""
    timeout: float | None = None
    patience: float | None = None
    knowledge: Knowledge = "search"


async def convened(asked: Convening, store: Store) -> Court:
    """A court whose endpoints are tried when there is something to judge; until then no key of theirs is needed.

    Raises UsageError; close the court in the end.
    """
    if len(asked.base_urls) > len(asked.judges):
        raise UsageError("there are more base URLs than judges: give one for each judge, in their order")
    if asked.knowledge == "judge" and asked.search:
        raise UsageError(
            f"--knowledge judge looks nothing up, so --search {asked.search} would not be used: leave one of them out, "
            "or say --knowledge both"
        )
    texts = wording(asked.prompts)
    settings = RunSettings(
        prices=asked.prices, quotas=tuple(asked.quotas), timeout=asked.timeout, patience=asked.patience
    )
    access = await access_of(settings, store)
    pairs = zip_longest(asked.judges, asked.base_urls, fillvalue="")
    made = [_seated(spec, access, asked.temperature, base_url) for spec, base_url in pairs]
    parts = seats_of([part for part, _ in made])
    missing = {seat: why for seat, (_, why) in zip(parts, made, strict=True) if why is not None}
    court = Court(
        parts,
        asked.repeats,
        asked.swap,
        allow_hosts=asked.allow_hosts,
        prompts=texts,
        untried=True,
        missing=missing,
        knowledge=asked.knowledge,
    )
    try:
        if asked.search:
            court.search, court.reader = await searching(asked, store)
    except BaseException:
        await court.aclose()
        raise
    return court


def _seated(spec: str, access: Access, temperature: float | None, base_url: str) -> tuple[Part, UsageError | None]:
    """A judge, and the error that its key is missing: what has been judged can be looked up without it."""
    try:
        return judge_part(spec, access, temperature, base_url), None
    except UsageError as error:
        env = dict.fromkeys(KEYS, "-") | {name: value for name, value in os.environ.items() if value.strip()}
        part = judge_part(spec, access, temperature, base_url, env)  # raises what is wrong besides
        return part, UsageError(str(error).replace("give --base-url", "give --judge-base-url"))


def judge_part(
    spec: str, access: Access, temperature: float | None, base_url: str, env: Mapping[str, str] = os.environ
) -> Part:
    """The part of a judge; its key is in `env`."""
    if spec.strip() == LEXICAL:
        return Part(LEXICAL)
    if "/" not in spec:
        raise UsageError(f"judge {spec!r}: write provider/model, for instance openai/gpt-4o, or {LEXICAL} (offline)")
    return model_part(SeatSettings(spec=spec, base_url=base_url, temperature=temperature), access, env)


async def searching(asked: Convening, store: Store) -> tuple[Search, Reader | None]:
    """The search, held to the domains that are wanted, and a reader for the pages it names."""
    search = await named(asked.search, ledger=Ledger(store))
    domains = Domains(asked.allow, asked.deny)
    if (asked.allow or asked.deny) and not asked.search.startswith("recorded:"):  # a record was filtered as it was made
        search = Filtered(search, domains)
    if not asked.pages or not kind_of(asked.search)[0].PAGES:
        return search, None
    if find_spec("trafilatura") is None or find_spec("pypdf") is None:
        raise UsageError(
            f"--search {asked.search} names pages, and to read them needs: pip install 'wardround[search]'; "
            "--no-pages takes what the search itself says of them"
        )
    return search, Pages(Web(), domains)
