"""Nothing of a restricted case and nothing of the truth leaves with a query; unwanted domains stay out."""

from collections.abc import Sequence

import pytest

from wardround.engine.errors import EgressError, UsageError
from wardround.evaluators.search.contract import Domains, FilteredSearch
from wardround.evaluators.search.results import KINDS, Page, SearchError, SearchHit
from wardround.evaluators.search.stack import GuardedReader, GuardedSearch, LeakGuard, Secret
from wardround.scenarios.case import Truth
from wardround.scenarios.terms.wording import key


class Asked:
    """A search and a reader that note what they were asked."""

    name = "asked"

    def __init__(self, host: str, urls: Sequence[str] = ()) -> None:
        self.host, self.urls, self.came = host, urls, list[str]()

    async def find(self, query: str, *, most: int = 3) -> Sequence[SearchHit]:
        self.came.append(query)
        return [SearchHit("", url, "words") for url in self.urls][:most]

    async def read(self, url: str) -> Page:
        self.came.append(url)
        return Page(url, url, "words")

    async def aclose(self) -> None:
        """Nothing to give back."""


@pytest.mark.parametrize(
    ("host", "allowed", "leaves"),
    [
        ("search.test", [], False),
        ("search.test", ["search.test"], True),
        ("evil.search.test", ["search.test"], False),
        ("search.test.evil.test", ["search.test"], False),
        ("127.0.0.1", [], True),
        ("", [], True),
    ],
)
async def test_a_restricted_query_goes_to_allowed_hosts_only(host: str, allowed: list[str], leaves: bool) -> None:
    search = Asked(host)
    await GuardedSearch(search, allowed, restricted=False).find("free")
    guarded = GuardedSearch(search, allowed, restricted=True)
    if leaves:
        await guarded.find("secret")
    else:
        with pytest.raises(EgressError, match=host):
            await guarded.find("secret")
    assert search.came == (["free", "secret"] if leaves else ["free"])


async def test_a_restricted_case_reads_pages_of_allowed_hosts_only() -> None:
    reader = Asked("")
    guarded = GuardedReader(reader, ["Fine.test"], restricted=True)
    assert (await guarded.read("https://fine.test./a")).text == "words"
    for url in ("https://other.test/a?case=secret", "https://fine.test.other.test/", "https://sub.fine.test/"):
        with pytest.raises(EgressError) as caught:
            await guarded.read(url)
        assert "secret" not in str(caught.value)
    with pytest.raises(SearchError):
        await guarded.read("http://[")
    assert reader.came == ["https://fine.test./a"]
    with pytest.raises(UsageError):
        GuardedReader(reader, ["http://x"], restricted=True)


TRUTH = Truth(
    diagnosis="Acute intermittent porphyria",
    synonyms=("AIP", "Swedish porphyria"),
    treatment="Intravenous haem arginate for four days and glucose",
)


@pytest.mark.parametrize(
    ("query", "known", "names"),
    [
        ("abdominal pain and dark urine", "", []),
        ("acute  INTERMITTENT Porphyria dark urine", "", ["Acute intermittent porphyria"]),
        ("is it AIP?", "", ["AIP"]),
        ("porphyria dark urine", "", []),
        ("dark urine in acute intermittent porphyria", "It is acute intermittent porphyria.", []),
        ("Swedish porphyria", "It is acute intermittent porphyria.", []),
        ("does intravenous haem arginate for four days help", "", [key("intravenous haem arginate for four")]),
        ("does intravenous haem arginate for four days help", "Intravenous haem arginate, for four days", []),
        ("haem arginate", "", []),
    ],
)
async def test_a_query_that_gives_the_truth_away_is_refused(query: str, known: str, names: list[str]) -> None:
    assert Secret(TRUTH, known).revealed_by(query) == names
    search = Asked("search.test")
    sealed = LeakGuard(search, TRUTH, known)
    if names:
        with pytest.raises(SearchError) as caught:
            await sealed.find(query)
        assert caught.value.kind == "leak"
        assert "porphyria" not in str(caught.value).lower()
        assert search.came == []
    else:
        await sealed.find(query)
        assert search.came == [query]


def test_an_empty_truth_is_in_no_query() -> None:
    assert Secret(Truth()).revealed_by("anything at all") == []
    assert Secret(TRUTH).revealed_by("") == []


@pytest.mark.parametrize(
    ("allow", "deny", "stays"),
    [
        ([], [], [0, 1, 2, 3, 4]),
        (["nih.gov"], [], [0, 1, 4]),
        ([], ["NIH.gov."], [2, 3, 4]),
        (["nih.gov"], ["www.nih.gov"], [0, 4]),
    ],
)
async def test_domains_cover_their_subdomains_and_denial_wins(
    allow: list[str], deny: list[str], stays: list[int]
) -> None:
    urls = [
        "https://nih.gov/a",
        "http://www.nih.gov:80/b",
        "https://notnih.gov/",
        "https://nih.gov.evil.test/",
        "deep/file.txt",
    ]
    found = await FilteredSearch(Asked("h", urls), Domains(allow, deny)).find("x", most=9)
    assert [urls.index(one.url) for one in found] == stays


async def test_those_left_out_are_replaced_by_the_next() -> None:
    search = Asked("h", ["http://bad.test/1", "http://bad.test/2", "http://a.test", "http://b.test", "http://c.test"])
    filtered = FilteredSearch(search, Domains(deny=["bad.test"]))
    assert [one.url for one in await filtered.find("x", most=2)] == ["http://a.test", "http://b.test"]
    assert filtered.name != search.name, "it is another search, with a record of its own"


def test_a_domain_list_that_contradicts_itself_or_holds_an_address() -> None:
    with pytest.raises(UsageError):
        Domains(["a.test"], ["a.test"])
    with pytest.raises(UsageError):
        Domains(["https://a.test/x"])


def test_an_error_has_one_of_the_kinds() -> None:
    with pytest.raises(ValueError, match="no kind"):
        SearchError("odd", "x")
    assert len(set(KINDS)) == len(KINDS)
