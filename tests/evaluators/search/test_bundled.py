"""The bundled corpus: what it says of itself, and that each bundled case finds the text that it is about."""

from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest
from examples import first_ones

from wardround.engine.errors import UsageError
from wardround.evaluators.reasoning.evidence import cite
from wardround.evaluators.search.corpus import SOURCE, Bundled, folder
from wardround.evaluators.search.results import Ledger, SearchError
from wardround.evaluators.search.stack import RecordingSearch, search_of
from wardround.scenarios.case import Case
from wardround.scenarios.loaders.load import bundled, load_playable
from wardround.testing.memory_store import MemoryStore

NOTE = "not for the care of patients"
CASES = [case for path in bundled() for case in load_playable(path, parts=False) if isinstance(case, Case)]
TEXTS = sorted(folder().glob("*.md"))
FINDINGS = {
    "wr-001": ("wilson-disease", "low ceruloplasmin, corneal rings, wing-beating tremor"),
    "wr-002": ("acute-intermittent-porphyria", "raised urine porphobilinogen, hyponatraemia, proximal arm weakness"),
    "wr-003": ("whipple-disease", "PAS-positive macrophages in duodenal biopsy"),
    "wr-004": (
        "takayasu-arteritis",
        "difference of blood pressure between the arms, bruit, concentric wall thickening",
    ),
    "wr-005": ("myasthenia-gravis", "fatigable ptosis, ice pack, decrement on repetitive nerve stimulation"),
    "wr-006": ("addison-disease", "low cortisol with high ACTH, hyperkalaemia, dark palm creases"),
    "wr-007": ("hairy-cell-leukaemia", "dry tap, CD103 and CD25, BRAF V600E"),
    "wr-008": ("lead-poisoning", "wrist drop, basophilic stippling, zinc protoporphyrin"),
    "wr-009": ("scurvy", "swollen bleeding gums, corkscrew hairs, restricted diet"),
    "wr-010": ("leptospirosis", "conjunctival suffusion, calf pain, jaundice after flood water"),
    "wr-011": ("acute-angle-closure-glaucoma", "fixed mid-dilated pupil, hazy cornea, intraocular pressure"),
    "wr-012": ("ectopic-pregnancy", "empty uterus with hCG above the discriminatory zone, shoulder tip pain"),
    "wr-013": ("testicular-torsion", "absent cremasteric reflex, high transverse testis"),
    "wr-014": ("granulomatosis-with-polyangiitis", "PR3 antibodies, septal perforation, crescentic glomerulonephritis"),
    "wr-015": ("secondary-syphilis", "rash of palms and soles, moth-eaten hair loss, condylomata lata"),
    "wr-016": ("wernicke-encephalopathy", "nystagmus, ataxia and confusion, thiamine before glucose"),
    "wa-001": ("acute-appendicitis", "pain migrating to the right lower quadrant, Alvarado score"),
    "wa-002": ("community-acquired-pneumonia", "rusty sputum, consolidation, CURB-65"),
    "wa-003": ("pulmonary-embolism", "Wells score after knee replacement, filling defects on CT angiography"),
    "wa-004": ("gallstone-pancreatitis", "ALT above 150, gallstones, lipase, clear bile duct on MRCP"),
    "wa-005": ("diabetic-ketoacidosis", "beta-hydroxybutyrate, Kussmaul breathing, potassium before insulin"),
    "wa-006": ("pyelonephritis-and-sterile-pyuria", "white cells in urine without bacteria, appendix on the ureter"),
    "wa-007": ("legionnaires-disease", "whirlpool, hyponatraemia, diarrhoea, urinary antigen"),
    "wa-008": ("high-risk-pulmonary-embolism", "McConnell sign, raised troponin, thrombolysis for hypotension"),
    "wa-009": ("hypertriglyceridaemic-pancreatitis", "eruptive xanthomas, normal amylase, lipaemia retinalis"),
    "wa-010": ("euglycaemic-ketoacidosis", "SGLT2 inhibitor before surgery, normal glucose with ketones"),
    "wa-011": ("appendicitis-in-pregnancy", "MRI without contrast, Alder sign, round ligament pain"),
    "wa-012": (
        "community-acquired-pneumonia",
        "confusion and a fall without fever in the very old, normal white count, bands",
    ),
    "wa-013": (
        "pulmonary-embolism",
        "lung infarction with haemoptysis, pleural rub and low fever on the combined pill",
    ),
    "wa-014": ("drug-induced-pancreatitis", "azathioprine in the first four weeks, fecal calprotectin"),
    "wa-015": ("diabetic-ketoacidosis-in-children", "bed-wetting, leucocytosis, cerebral oedema, no insulin bolus"),
    "ws-001": (
        "hypertrophic-pyloric-stenosis",
        "projectile milk after each feed, low chloride, olive lump",
    ),
    "ws-002": ("kawasaki-disease", "cracked lips, red palms, fever of five days, dilated coronary artery"),
    "ws-003": ("hellp-syndrome", "schistocytes, platelets below 100, pain under the right ribs, clonus"),
    "ws-004": ("mania-and-bipolar-disorder", "pressed speech, flight of ideas, spending, less need for sleep"),
    "ws-005": ("erythema-migrans", "red patch that grows for days with central clearing after ticks, forestry"),
    "ws-006": (
        "retinal-detachment",
        "flashes, shower of black dots, curtain, short-sighted, brown dust",
    ),
    "ws-007": ("complete-heart-block", "P waves without relation to QRS complexes, cannon waves, fainting"),
    "ws-008": ("abdominal-aortic-aneurysm", "sudden flank pain, fainting, pulsatile mass, smoker, mistaken for colic"),
    "ws-009": ("hereditary-angioedema", "low complement C4, swelling without hives, cramps, oestrogen"),
    "ws-010": ("nmda-receptor-encephalitis", "GluN1, extreme delta brush, catatonia, lymphocytosis"),
}
"""By case: the text on what is particular about it, and key findings that do not name the disease."""


@pytest.fixture
async def corpus(tmp_path: Path) -> AsyncIterator[Bundled]:
    opened = Bundled.opened(tmp_path)
    yield opened
    await opened.aclose()


async def names(corpus: Bundled, query: str) -> list[str]:
    return [one.url.removesuffix(".md") for one in await corpus.find(query)]


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_a_text_has_a_title_and_its_length(path: Path) -> None:
    title, *rest = path.read_text(encoding="utf-8").splitlines()
    assert title.startswith("# ")
    assert 150 <= len(" ".join(rest).split()) <= 500
    assert all(len(line) <= 120 for line in rest)
    assert all(sign.isprintable() for line in rest for sign in line)


async def test_what_they_are_is_said_of_every_passage_and_can_be_quoted_from_none(corpus: Bundled) -> None:
    found = await corpus.find("patients care demonstrating testing Wardround", most=len(TEXTS))
    assert found
    assert all(one.source == SOURCE and NOTE in SOURCE for one in found)
    assert not any(cite(one, NOTE) for one in found)
    lines = [line for path in TEXTS for line in path.read_text(encoding="utf-8").splitlines() if line]
    assert len(lines) == len(set(lines)), "no line stands in two texts"


def test_there_are_as_many_as_announced() -> None:
    assert len(TEXTS) == 67  # as docs/evidence.md says
    assert {case.id for case in CASES} == set(FINDINGS)
    assert {text for text, _ in FINDINGS.values()} <= {path.stem for path in TEXTS}


async def test_what_it_says_of_itself(corpus: Bundled, tmp_path: Path) -> None:
    assert corpus.name.startswith("bundled@")
    assert len(corpus.name.partition("@")[2]) == 16
    assert (corpus.host, corpus.documents) == ("", len(TEXTS))
    assert corpus.passages > corpus.documents
    again = Bundled.opened(tmp_path)
    assert again.name == corpus.name
    await again.aclose()
    assert len([one async for one in anyio.Path(tmp_path).iterdir()]) == 1, "the index is built once"
    first = (await corpus.find("scurvy"))[0]
    assert (first.title, first.url, first.source) == ("Scurvy (vitamin C deficiency)", "scurvy.md", SOURCE)
    assert (folder() / first.url).read_text(encoding="utf-8")[first.start : first.end] == first.text
    assert await corpus.find("zzzz") == []
    assert len(await corpus.find("pain", most=7)) == 7


async def test_without_a_folder_the_index_is_in_the_users_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    search = await search_of("bundled")
    await search.aclose()
    assert len(list((tmp_path / "wardround" / "evidence").iterdir())) == 1


@pytest.mark.parametrize("case", first_ones(CASES, 12), ids=lambda case: case.id)
async def test_a_case_finds_its_text(corpus: Bundled, case: Case) -> None:
    text, findings = FINDINGS[case.id]
    diagnosis = case.truth.diagnosis
    found = await corpus.find(diagnosis)
    assert any(word in found[0].title.lower() for word in diagnosis.lower().split()[:2])
    assert not any(word in findings.lower() for word in diagnosis.lower().split() if len(word) > 6)
    assert text in await names(corpus, findings)
    assert text in await names(corpus, f"{diagnosis}: {findings}")
    reasoned = await corpus.find(case.truth.reasoning)
    assert {one.title for one in reasoned} & {found[0].title, await title(corpus, findings)}


async def title(corpus: Bundled, query: str) -> str:
    return (await corpus.find(query))[0].title


@pytest.mark.parametrize(
    ("wrong", "text", "words"),
    [
        ("double vision of motor neurone disease", "motor-neurone-disease", "double vision are not features"),
        ("skin darkening in pituitary adrenal insufficiency", "secondary-adrenal-insufficiency", "does not occur"),
        ("raised troponin proves infarction", "acute-coronary-syndrome", "A raised troponin alone does not"),
        ("normal amylase excludes pancreatitis", "hypertriglyceridaemic-pancreatitis", "does not exclude pancreatitis"),
        ("fever in fibromuscular dysplasia", "fibromuscular-dysplasia", "there is no fever"),
        ("pityriasis rosea on palms and soles", "pityriasis-rosea", "are spared as a rule"),
        ("asterixis in Wernicke encephalopathy", "wernicke-encephalopathy", "asterixis absent"),
    ],
)
async def test_what_is_not_typical_can_be_cited(corpus: Bundled, wrong: str, text: str, words: str) -> None:
    found = await corpus.find(wrong)
    assert any(one.url == f"{text}.md" and cite(one, words) for one in found)


async def test_it_is_a_search_by_name_and_replays_from_its_record(tmp_path: Path) -> None:
    store = MemoryStore()
    ledger = Ledger(store)
    search = await search_of(" bundled ", cache=tmp_path)
    found = await RecordingSearch(search, ledger).find("zzzz")
    assert found == []
    found = await RecordingSearch(search, ledger).find("lead colic")
    replayed = await search_of("recorded:bundled", cache=tmp_path, ledger=ledger)
    assert (replayed.name, replayed.host) == (search.name, "")
    assert await replayed.find("lead colic") == found
    by_name = await search_of(f"recorded:{search.name}", ledger=ledger)
    assert await by_name.find("lead colic") == found
    with pytest.raises(SearchError) as missing:
        await by_name.find("never asked")
    assert missing.value.kind == "unrecorded"
    for one in (search, replayed, by_name):
        await one.aclose()


async def test_the_record_of_a_service_needs_neither_key_nor_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BRAVE_API_KEY", raising=False)
    store = MemoryStore()
    for spec in (
        "brave",
        "duckduckgo",
        "pubmed",
        "searxng:http://localhost:8888",
        "corpus:x.jsonl@ab12",
        "brave [a.org]",
    ):
        search = await search_of(f"recorded:{spec}", ledger=Ledger(store))
        assert search.host == ""
        with pytest.raises(SearchError) as missing:
            await search.find("x")
        assert missing.value.kind == "unrecorded"


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("recorded:brave", "there is none"),
        ("bundled:x", "write bundled"),
        ("brave:key", "write brave"),
        ("corpus", "name a file"),
        ("corpus: ", "name a file"),
        ("corpus:/no/where", "no such file or folder"),
        ("searxng", "name the server"),
        ("google", "bundled, corpus:PATH"),
    ],
)
async def test_a_wrong_form_is_said_clearly(spec: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        await search_of(spec)


@pytest.mark.parametrize("spec", ["recorded", "recorded:", "recorded:recorded:bundled", "recorded:google"])
async def test_a_record_of_nothing_is_said_clearly(spec: str) -> None:
    store = MemoryStore()
    with pytest.raises(UsageError):
        await search_of(spec, ledger=Ledger(store))


async def test_an_empty_folder_and_a_missing_key_are_said_clearly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match="no text to search"):
        await search_of(f"corpus:{tmp_path}")
    monkeypatch.delenv("BRAVE_API_KEY", raising=False)
    with pytest.raises(UsageError, match="BRAVE_API_KEY"):
        await search_of("brave")
    monkeypatch.setenv("BRAVE_API_KEY", "se cret\n\x07")
    with pytest.raises(UsageError) as refused:
        await search_of("brave")
    assert "cret" not in str(refused.value)
