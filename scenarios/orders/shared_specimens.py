"""Hands a specimen that an order names once on to the tests beside it ('CSF cell count, protein and culture')."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from wardround.engine.text import regex
from wardround.scenarios.orders import axes
from wardround.scenarios.orders.catalogue import Catalogue
from wardround.scenarios.orders.name_lookup import link
from wardround.scenarios.terms.wording import key


@dataclass(frozen=True, slots=True)
class Part:
    """A single request, or text that orders nothing for the reason `why`; `sentence` is its sentence's number."""

    text: str
    why: str = ""
    sentence: int = 0


# A specimen named once applies to the bare names after it: to tests that the table lists with it, and to these.
_FLUIDS = ("CSF", "pleural fluid", "ascitic fluid", "synovial fluid", "pericardial fluid", "body fluid")
_IN_FLUIDS = frozenset(
    (
        "Total protein", "Albumin", "Glucose", "Lactate dehydrogenase", "Amylase", "White blood cell count",
        "White cell differential", "Red blood cell count", "Blood pH", "Triglycerides", "Total cholesterol",
        "Total bilirubin", "Creatinine", "Lactate", "Adenosine deaminase", "Gram stain", "Fungal culture",
        "Acid-fast bacilli smear and culture", "Hematocrit", "Flow cytometry", "Cytology", "Neutrophils", "Lymphocytes",
    )
)  # fmt: skip
_WITHIN = regex(r"(?i)\s+(?:in|from|of|on)\s+(?:the\s+)?[\w -]+$")
_FLUID = regex(r"(?i)\b(?:body\s+)?fluid\s+")


_GASES = ("Blood pH", "Partial pressure of carbon dioxide", "Partial pressure of oxygen", "Base excess")


def in_their_specimens(parts: Sequence[Part], table: Catalogue, own: frozenset[str]) -> Iterator[Part]:
    """The parts with the specimens that apply to them; names of the record (`own`) stay as they are."""
    return _carried(_sampled(parts, table), table, own)


def _sampled(parts: Sequence[Part], table: Catalogue) -> Iterator[Part]:
    """Specimens named behind a culture or antigen go with it: 'cryptococcal antigen, serum and CSF'."""
    before: Part | None = None
    for part in parts:
        bare = bool(axes.specimen(part.text)) and not axes.without_specimen(part.text)
        if before is not None and not part.why and bare and part.sentence == before.sentence:
            yield replace(part, text=f"{axes.specimen(part.text)} {_WITHIN.sub('', before.text)}")
            continue
        linked = None if part.why else link(part.text, table)
        looked_in = linked is not None and _WITHIN.search(part.text) is not None and bool(axes.specimen(part.text))
        open_specimen = linked is not None and linked.kind == "microbiology" and (not linked.specimen or looked_in)
        before = part if open_specimen else None
        yield part


def _carried(parts: Iterable[Part], table: Catalogue, own: frozenset[str]) -> Iterator[Part]:
    """Carry a specimen on: 'CSF cell count', 'protein' give 'CSF protein'; a stated specimen always beats it."""
    carried, after, sentence = "", "", -1
    for part in parts:
        goes_on = bool(carried) and part.sentence == sentence  # 'LP: protein, glucose', beside a glucose of the blood
        if part.why or (key(part.text) in own and not goes_on):
            yield part
            continue
        stated = axes.specimen(part.text)
        whole = ""
        if carried and not stated and part.sentence == sentence:
            whole = _of(carried, part.text, after, table)
        elif stated == "body fluid" and carried in _FLUIDS and part.sentence == sentence:
            whole = _of(carried, _FLUID.sub("", part.text), after, table)
        if whole:
            yield Part(whole, sentence=part.sentence)
        else:
            carried = _carries(part.text, stated, table)
            linked = link(part.text, table)
            after = linked.test if linked is not None else ""
            yield part
        sentence = part.sentence


def _carries(text: str, stated: str, table: Catalogue) -> str:
    """The specimen that `text` hands on to the bare names after it, '' if none."""
    linked = link(text, table)
    if linked is not None and linked.test == "Lumbar puncture":
        return "CSF"
    if linked is not None and linked.kind == "investigation" and stated == "bone marrow":
        return stated
    if linked is None or linked.kind not in ("lab", "microbiology"):
        return ""
    cultured = linked.kind == "microbiology" and linked.specimen not in _FLUIDS
    specimen = stated or linked.specimen
    return "" if specimen == axes.BLOOD or cultured else specimen


def _of(specimen: str, text: str, after: str, table: Catalogue) -> str:
    """`text` with the specimen before it, if that is a test of this specimen; else ''."""
    bare = link(text, table)
    whole = f"{specimen} {text}"
    linked = link(whole, table)
    if linked is None or linked.specimen != specimen or linked.rule not in ("exact", "synonym"):
        return ""
    if bare is not None and bare.kind not in ("lab", "microbiology"):
        return ""
    if bare is not None and bare.test in table.below:
        return ""
    if specimen in _FLUIDS and linked.kind == "microbiology":
        return whole if bare is None or not bare.specimen else ""
    if specimen == "urine" and after == "Urinalysis" and linked.test != "Urine culture":
        return ""
    own = axes.own_specimen(table.tests[linked.test]) if linked.test in table.tests else axes.BLOOD
    open_specimen = specimen == "bone marrow" and linked.kind == "lab" and not own
    gas = specimen in ("arterial blood", "venous blood") and linked.test in _GASES
    fluid = specimen in _FLUIDS and linked.test in _IN_FLUIDS
    return whole if own == specimen or open_specimen or gas or fluid else ""
