"""Strict parsers of the replies of a curator and a second reader, with the categories that a curator may name."""

import re
from collections.abc import Mapping, Sequence

import msgspec

from wardround.scenarios.parsers.moves import Unusable
from wardround.scenarios.reports.article import article_sentences, sentence_key, unmarked_line

OTHERS = "Others"

BODY_SYSTEMS = (
    "Blood, Heart and Circulation",
    "Bones, Joints and Muscles",
    "Brain and Nerves",
    "Digestive System",
    "Ear, Nose and Throat",
    "Endocrine System",
    "Eyes and Vision",
    "Immune System",
    "Kidneys and Urinary System",
    "Lungs and Breathing",
    "Mouth and Teeth",
    "Skin, Hair and Nails",
    "Male Reproductive System",
)
"""The 13 body systems of MedR-Bench, prompt 4; an article may have several."""

DISORDERS = (
    "Cancers",
    "Diabetes Mellitus",
    "Genetics/Birth Defects",
    "Infections",
    "Injuries and Wounds",
    "Mental Health and Behavior",
    "Metabolic Problems",
    "Poisoning, Toxicology, Environmental Health",
    "Pregnancy and Reproduction",
    "Substance Use and Disorders",
)
"""The 10 kinds of disorder of MedR-Bench, prompt 5; an article has one."""

SUMMARY, DIFFERENTIAL, EXPLANATION, ANSWER = "summary", "differential", "explanation", "answer"

DIAGNOSIS = {
    SUMMARY: "Case Summary",
    DIFFERENTIAL: "Differential Diagnosis Process",
    EXPLANATION: "Final Diagnosis",
    ANSWER: "Diagnosis Results",
}
"""The headings of the sections of a diagnosis case (MedR-Bench, prompt 2)."""

TREATMENT = {
    SUMMARY: "Comprehensive Patient Profile",
    EXPLANATION: "Treatment Planning Analysis",
    ANSWER: "Selected Treatment for the Patient",
}
"""The headings of the sections of a treatment case (MedR-Bench, prompt 3)."""

_HEADING = re.compile(r"^[ \t]*(?:#{1,6}[ \t]*(?P<hash>.+?)|\*\*(?P<bold>[^*]+?)\*\*)[ \t]*:?[ \t]*#*[ \t]*$")
_DECLINES = re.compile(
    r"(?is)\W{0,4}(?:i['\u2019]?m sorry|sorry|i can(?:['\u2019]?t|not)"
    r"|i(?: a|['\u2019])m (?:unable|not able)"
    r"|as an ai|cannot\b|unable to\b|i (?:must|have to) decline|i (?:won['\u2019]t|will not)\b)"
)
_LONGEST_REFUSAL = 600
_VERDICT = re.compile(r"(?i)\W*(?:answer|verdict)?\W*(yes|no)\W*")


SAME, CONTRADICTS, NOT_STATED = "same", "contradicts", "not stated"
"""The verdicts of a second reader on a finding and the sentences on which it rests."""


class Declined(msgspec.Struct, frozen=True):
    """A refusal, in the model's words."""

    why: str


class CaseSections(msgspec.Struct, frozen=True):
    """The sections of a case, by their names here (`SUMMARY`, `ANSWER` ...)."""

    sections: dict[str, str]


class YesNo(msgspec.Struct, frozen=True):
    """A reply of Yes or No."""

    yes: bool


class Labels(msgspec.Struct, frozen=True):
    """Categories from a list, in the spelling of the list."""

    names: tuple[str, ...]


class FindingVerdict(msgspec.Struct, frozen=True):
    """The verdict of a second reader: SAME, CONTRADICTS or NOT_STATED."""

    word: str


Reading = FindingVerdict | CaseSections | YesNo | Labels | Declined | Unusable


def read_step(step: str, text: str) -> Reading:
    """Read a reply at a step: `about`, `diagnosis`, `treatment`, `body_system`, `disorder`, `rare` or `finding`."""
    if not text.strip():
        return Unusable("empty", "the reply is empty")
    if why := refusal_words(text):
        return Declined(why)
    if step == "finding":
        return finding_verdict(text)
    if step in ("about", "rare"):
        return yes_or_no(text)
    if step == "body_system":
        return labels(text, BODY_SYSTEMS, most=len(BODY_SYSTEMS))
    if step == "disorder":
        return labels(text, DISORDERS, most=1)
    return case_sections(text, TREATMENT if step == "treatment" else DIAGNOSIS)


def refusal_words(text: str) -> str:
    """The first 200 characters of a short reply that begins like a refusal; '' for any other reply."""
    said = " ".join(text.split())
    if len(said) > _LONGEST_REFUSAL or "###" in text or not _DECLINES.match(said):
        return ""
    return said[:200]


def yes_or_no(text: str) -> YesNo | Unusable:
    """Read Yes or No, alone in the reply or alone on its last line."""
    last = text.strip().splitlines()[-1]
    match = _VERDICT.fullmatch(text.strip()) or _VERDICT.fullmatch(last)
    if match is None:
        return Unusable("unreadable", "the reply is not Yes or No")
    return YesNo(match[1].lower() == "yes")


def finding_verdict(text: str) -> FindingVerdict | Unusable:
    """Read a second reader's verdict, which must be all that the reply says."""
    said = _key(unmarked_line(text.strip()))
    if said not in (SAME, CONTRADICTS, NOT_STATED):
        return Unusable("unreadable", f"the reply is none of: {SAME}, {CONTRADICTS}, {NOT_STATED}")
    return FindingVerdict(said)


def labels(text: str, allowed: Sequence[str], most: int) -> Labels | Unusable:
    """Read one category per line, spelled as in `allowed`; `Others` counts only if it is alone."""
    known = {_key(name): name for name in (*allowed, OTHERS)}
    chosen: dict[str, None] = {}
    for line in re.split(r"[\n;]", text.replace("\\n", "\n")):
        said = _key(unmarked_line(line))
        if not said:
            continue
        if said not in known:
            return Unusable("unreadable", f"{unmarked_line(line)[:80]!r} is no category of the list")
        chosen[known[said]] = None
    names = tuple(name for name in chosen if name != OTHERS) or (OTHERS,)
    if not chosen:
        return Unusable("unreadable", "the reply names no category")
    if len(names) > most:
        return Unusable("unreadable", f"{len(names)} categories where one is wanted")
    return Labels(names)


def case_sections(text: str, wanted: Mapping[str, str]) -> CaseSections | Unusable:
    """The text under each wanted heading. A missing, empty or repeated heading makes the reply unusable."""
    keys = {_key(heading): name for name, heading in wanted.items()}
    bodies: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in text.splitlines():
        head = _HEADING.match(line)
        name = _section(head["hash"] or head["bold"], keys) if head else None
        if name is None:
            if current is not None:
                current.append(line)
            continue
        if name in bodies:
            return Unusable("unreadable", f"the section {wanted[name]!r} is there twice")
        current = bodies[name] = []
    texts = {name: "\n".join(lines).strip("\n ") for name, lines in bodies.items()}
    missing = [heading for name, heading in wanted.items() if not texts.get(name, "").strip()]
    if missing:
        return Unusable("unreadable", f"no section {', '.join(repr(heading) for heading in missing)}")
    return CaseSections(texts)


_CITES = re.compile(r"\[\s*((?:[Ss]?\d{1,5}\s*[,;\u2013-]?\s*)+)\]")
_MOVED = re.compile(rf"([.;])\s*({_CITES.pattern})(?!\s*[.;,])")
_UNENDED = re.compile(rf"({_CITES.pattern})(?=\s+[A-Z*]|\s*$)")
_MOST_CITED = 60


def without_citations(text: str) -> tuple[str, dict[str, tuple[int, ...]]]:
    """(text without its citations, the numbers that each sentence cites, by the sentence's `article.sentence_key`).

    A sentence without a citation of its own has that of the next sentence in its line.

    ::

        >>> without_citations("- Chief Complaint: Cough [3, 5]. No fever. [6-7]")
        ('- Chief Complaint: Cough. No fever.', {'no fever': (6, 7), 'chief complaint cough': (3, 5), 'cough': (3, 5)})
    """
    lines: list[str] = []
    cited: dict[str, tuple[int, ...]] = {}
    for line in text.split("\n"):
        if not _CITES.search(line):
            lines.append(line)
            continue
        marked = _UNENDED.sub(r"\1.", _MOVED.sub(r" \2\1", line))
        numbers: tuple[int, ...] = ()
        for sentence in reversed(article_sentences(marked)):
            numbers = tuple(number for hit in _CITES.finditer(sentence) for number in _numbers(hit[1])) or numbers
            if numbers:
                bare = _CITES.sub("", sentence)
                cited |= {sentence_key(one): numbers for one in (bare, bare.partition(":")[2]) if one}
        lines.append(re.sub(r"[ \t]+([.;,])", r"\1", _CITES.sub("", marked)).rstrip())
    return "\n".join(lines), cited


def _numbers(listed: str) -> tuple[int, ...]:
    """The numbers of '3, 5-7'."""
    read: list[int] = []
    for one in re.finditer(r"(\d+)(?:\s*[\u2013-]\s*[Ss]?(\d+))?", listed):
        first, last = int(one[1]), int(one[2] or one[1])
        read += range(first, min(last, first + _MOST_CITED) + 1)
    return tuple(dict.fromkeys(read))


def _section(heading: str, keys: Mapping[str, str]) -> str | None:
    """The section that a heading opens: 'Final Diagnosis (with explanation details)' is 'Final Diagnosis'."""
    said = _key(re.sub(r"\([^()]*\)", " ", heading))
    return keys.get(said)


def _key(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", " ", text.lower()).strip()
