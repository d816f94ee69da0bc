"""Articles written for tests, and a curator without a language model: it takes sentences out of the article."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from wardround.builds import Built
from wardround.engine.records import Message
from wardround.runs.settings import RunSettings, validate_settings
from wardround.scenarios.reports.curation import CurationAccount
from wardround.scenarios.reports.reply_parsers import BODY_SYSTEMS

TESTS = re.compile(
    r"(?i)\b(?:CT|MRI|X-ray|radiograph|ultrasound|ultrasonography|tomography|biopsy|histolog\w+|histopatholog\w+"
    r"|laborator\w+|blood|serum|culture|endoscopy|electrocardiogram|echocardiogra\w+|immunohistochem\w+|PCR|level|count)\b"
)
EXAMINED = re.compile(r"(?i)\b(?:examination|examined|on palpation|auscultation|vital signs|blood pressure)\b")
TREATED = re.compile(
    r"(?i)\b(?:underwent|was treated|were treated|treatment|surgery|operation|resection|therapy|was started|received"
    r"|administered|excision|prescribed)\b"
)
AFTER = re.compile(r"(?i)\b(?:discharge|follow-up|followed up|recover|postoperative|outcome|uneventful|resolved|died)")
NAMED = re.compile(
    r"(?i)\b(?:final diagnosis of|diagnosis of|diagnosed with|diagnosed as|consistent with|confirmed) (?:an? |the )?"
    r"(?P<name>[a-z][\w' -]{5,70}?)(?= was\b| and\b| by\b| with\b| in\b| of\b| is\b| based\b|[.,;(]|$)"
)


def answered(messages: Sequence[Message], model: str = "") -> str:
    """What the extractive curator says to the last question: a function of the messages alone."""
    del model
    asked = messages[1].content if len(messages) > 1 else messages[0].content
    found = re.search(r"(?s)<article>\n(.*)\n</article>", asked)
    if found is None:
        return "pong"
    article, question = found[1], asked[: found.start()]
    if "### Case Summary" in question:
        return diagnosed(article)
    if "### Comprehensive Patient Profile" in question:
        return treated(article)
    if "body systems" in question:
        return "\n".join(system for system in BODY_SYSTEMS if _about(system, article)) or "Others"
    if "kinds of disorder" in question:
        return "Cancers" if re.search(r"(?i)tumou?r|carcinoma|lymphoma|cancer|sarcoma", article) else "Infections"
    if disease := re.search(r'rare disease "(.*)"\?', question):
        return "Yes" if disease[1].lower() in article.partition("\n\n")[0].lower() else "No"
    return "No" if "teaching" in article.partition("\n\n")[0].lower() else "Yes"


def diagnosed(article: str) -> str:
    """A diagnosis case in the article's own sentences."""
    told, name = _told(article), _name(article)
    if name is None or not told:
        return "I can't."
    words = {word for word in name.lower().split() if len(word) > 4}
    clean = [part for part in told if not words & set(re.findall(r"\w+", part.lower()))]
    history = [part for part in clean[:6] if not (TESTS.search(part) or EXAMINED.search(part) or TREATED.search(part))]
    seen = [part for part in clean if EXAMINED.search(part)][:2]
    tests = [part for part in told if TESTS.search(part) and not EXAMINED.search(part)][:6]
    return (
        f"### Case Summary\n- Patient Information: {told[0]}\n- Chief Complaint: Not reported.\n"
        f"- History of Present Illness: {' '.join(history) or 'Not reported.'}\n"
        f"- Physical Examination: {' '.join(seen) or 'Not reported.'}\n"
        "- Ancillary Tests:\n" + "".join(f"  - Test {n}: {part}\n" for n, part in enumerate(tests, 1)) + "\n"
        f"### Differential Diagnosis Process\n{' '.join(told[-3:])}\n\n"
        f"### Final Diagnosis (with explanation details)\n{name}.\n\n### Diagnosis Results\n{name}\n"
    )


def treated(article: str) -> str:
    """A treatment case in the article's own sentences: those before the first that tells of the treatment."""
    told = _told(article)
    place = next((n for n, part in enumerate(told) if TREATED.search(part) and n > 1), None)
    if place is None:
        return "I can't."
    before = [part for part in told[:place] if not AFTER.search(part)]
    return (
        f"### Comprehensive Patient Profile\n- Patient Demographics: {told[0]}\n"
        f"- History of Present Illness: {' '.join(before[1:])}\n- Final Diagnostic Results: {_name(article)}\n\n"
        f"### Treatment Planning Analysis\n- Objective: to treat the patient\n- Rationale: {' '.join(before[-2:])}\n\n"
        f"### Selected Treatment for the Patient\n{told[place]}\n"
    )


def _told(article: str) -> list[str]:
    """The sentences of the case itself with their numbers: below a heading of it, up to the discussion."""
    numbered: list[tuple[str, str]] = []
    heading = ""
    for line in article.splitlines():
        sentence = re.fullmatch(r"\[(\d+)\] (.*)", line)
        if sentence and len(sentence[2].split()) > 4:
            numbered.append((heading, f"{sentence[2]} [{sentence[1]}]"))
        elif line and not sentence:
            heading = line
    case = [said for heading, said in numbered if re.search(r"(?i)\bcase\b", heading)]
    return case or [
        said for heading, said in numbered if not re.search(r"(?i)^(?:title|abstract)$|discussion", heading)
    ]


def _name(article: str) -> str | None:
    found = [match["name"].strip() for match in NAMED.finditer(article)]
    return found[0] if found else None


def _about(system: str, article: str) -> bool:
    words = re.findall(r"[A-Z][a-z]{3,}", system)
    return any(len(re.findall(rf"(?i)\b{word.rstrip('s')}", article)) > 3 for word in words)


LICENCE = (
    '<permissions><license xlink:href="https://creativecommons.org/licenses/by/4.0/"><license-p>Open.</license-p>'
    "</license></permissions>"
)
CASE = (
    "A 41-year-old gardener presented with a painful red nodule on his right index finger for 3 weeks.\n\n"
    "He had pricked the finger on a rose thorn 5 weeks before. He had no fever and took no medicines.\n\n"
    "On examination there were two further nodules along the forearm, and no enlarged lymph nodes were felt.\n\n"
    "Laboratory tests were normal, with a white cell count of 7.2 x 10^9/L. A radiograph of the hand was normal."
    " Fungal culture of a biopsy grew Sporothrix schenckii after 12 days.\n\n"
    "The final diagnosis of lymphocutaneous sporotrichosis was made.\n\n"
    "Itraconazole 200 mg daily by mouth was started and continued for 4 months."
)
OUTCOME = "At the 6-month follow-up the nodules had healed and the patient had no complaints."
DISCUSSION = (
    "Lymphocutaneous sporotrichosis must be told from nocardiosis and from infection with Mycobacterium marinum. The"
    " thorn, the nodules along the lymph vessels and the culture left one diagnosis. The treatment of choice is"
    " itraconazole."
)


def jats(
    number: int = 1,
    *,
    kind: str = "case-report",
    title: str = "A gardener with nodules of the forearm: a case report",
    published: str = "<pub-date><day>3</day><month>8</month><year>2024</year></pub-date>",
    body: str | None = None,
    licence: str = LICENCE,
    language: str = "en",
) -> str:
    """An article as PMC would give it."""
    text = "".join(f"<p>{part}</p>" for part in CASE.split("\n\n"))
    whole = (
        f"<sec><title>Case presentation</title>{text}"
        '<p>The hand is shown in a picture (<xref ref-type="fig" rid="f1">Fig. 1</xref>)'
        '<xref ref-type="bibr" rid="b1">[1]</xref>.</p><fig id="f1"><label>Figure 1</label><caption><p>Secret.</p>'
        f"</caption></fig></sec><sec><title>Outcome and follow-up</title><p>{OUTCOME}</p></sec>"
        f"<sec><title>Discussion</title><p>{DISCUSSION}</p></sec>"
    )
    return (
        f'<article xmlns:xlink="http://www.w3.org/1999/xlink" article-type="{kind}" xml:lang="{language}"><front>'
        f'<article-meta><article-id pub-id-type="pmc">{number}</article-id><title-group><article-title>{title}'
        f"</article-title></title-group>{published}{licence}<abstract><p>A thorn, then nodules: how the diagnosis was"
        f" made. Report {number}.</p></abstract></article-meta></front>"
        f"<body>{whole if body is None else body}</body></article>"
    )


def pmc_folder(where: Path) -> Path:
    """A folder of eight articles, of which four can become cases."""
    folder = where / "pmc"
    folder.mkdir()
    texts = {
        "1.xml": jats(1),
        "2.xml": jats(2).replace("41-year-old", "52-year-old"),
        "3.xml": jats(3).replace("41-year-old", "63-year-old"),
        "4.xml": jats(4, title="Teaching anatomy to gardeners"),
        "5.xml": jats(5, kind="research-article"),
        "6.xml": jats(6, published="<pub-date><year>2019</year></pub-date>"),
        "7.xml": jats(7, body=""),
        "8.xml": jats(1),
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    return folder


def settings(where: Path, base_url: str, rules: Mapping[str, Any] | None = None, **more: Any) -> RunSettings:
    """A build over `where` by the model at `base_url`; `rules` are the build's own settings."""
    seat = {"spec": "openai/m", "base_url": base_url, **more.pop("seat", {})}
    fields = {"cases": str(where), "scenario": "curation", "seats": {"curator": seat}, "name": "r", **more}
    return validate_settings({**fields, "set": {"rare_candidates": 0, "citations": True, **(rules or {})}}, "test")


def flow(built: Built[CurationAccount]) -> dict[str, tuple[int, int]]:
    """What each rule saw and dropped."""
    return {step.rule: (step.seen, step.dropped) for step in built.account.steps}


def instead(step: str, reply: str) -> Callable[[Sequence[Message], str], str]:
    """The scripted curator, but for the question that holds `step`."""

    def said(messages: Sequence[Message], model: str) -> str:
        first = messages[1].content if len(messages) > 1 else ""
        return reply if step in first else answered(messages, model)

    return said
