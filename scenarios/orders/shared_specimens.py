"""What an order says once and means for the requests beside it: a specimen, a view or side, a test to repeat."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec.structs import replace

from wardround.engine.text import regex
from wardround.scenarios.orders import axes, imaging
from wardround.scenarios.orders.catalogue import Catalogue
from wardround.scenarios.orders.name_lookup import link, unmeasured
from wardround.scenarios.orders.samples import IS_TAKEN, names_puncture
from wardround.scenarios.terms.wording import key, list_words, tokens


class Part(msgspec.Struct, frozen=True):
    """A single request, or text that orders nothing for the reason `why`; `sentence` is its sentence's number."""

    text: str
    why: str = ""
    sentence: int = 0


# A specimen named once applies to the bare names after it: to tests that the table lists with it, and to these.
_FLUIDS = (
    "CSF",
    "pleural fluid",
    "ascitic fluid",
    "synovial fluid",
    "pericardial fluid",
    "amniotic fluid",
    "body fluid",
)
_IN_FLUIDS = frozenset(
    (
        "Total protein", "Albumin", "Glucose", "Lactate dehydrogenase", "Amylase", "White blood cell count",
        "White cell differential", "Red blood cell count", "Blood pH", "Triglycerides", "Total cholesterol",
        "Total bilirubin", "Creatinine", "Lactate", "Adenosine deaminase", "Gram stain", "Fungal culture",
        "Acid-fast bacilli smear and culture", "Hematocrit", "Flow cytometry", "Cytology", "Neutrophils", "Lymphocytes",
    )
)  # fmt: skip
_WITHIN = regex(r"(?i)\s+(?:in|from|of|on|off)\s+(?:the\s+)?[\w -]+$")
_FLUID = regex(r"(?i)\b(?:body\s+)?fluid\s+")
_PAIRED = regex(r"(?i)(?:paired|matching|matched|simultaneous) (?:serum|plasma|blood) (?:glucose|sugar|albumin)\b")
"""A blood test beside those of a fluid, behind which the fluid goes on ('CSF glucose, paired plasma glucose')."""


_CULTURED = ("sputum", "wound", "bronchial lavage", "tracheal aspirate", "tissue", "catheter tip")
_STAINS = frozenset(
    ("Gram stain", "Acid-fast bacilli smear and culture", "Mycobacterium tuberculosis PCR", "Fungal culture")
)
"""What is asked of a specimen beside its culture ('sputum culture + Gram stain')."""
_WHOLE_IN_URINE = (
    "Urinalysis", "Urine myoglobin", "Urine porphyrins", "Urine albumin-creatinine ratio",
    "Urine protein electrophoresis", "Urine protein-creatinine ratio",
)  # fmt: skip
"""Behind these a bare test is no further test of the urine ('urine myoglobin, potassium')."""
_TIMED = regex(r"(?i)\b(?:24|12|48)[\s-]?(?:h|hr|hrs|hours?|hourly)\b|\b(?:timed|overnight)\b")
_OF_STONES = ("calcium", "oxalate", "citrate", "uric acid", "sodium", "magnesium", "phosphate", "cystine")
"""Behind one of these a timed collection goes on; behind another test only creatinine is measured in it too."""
_CREATININE = regex(r"(?i)creat")
_GASES = ("Blood pH", "Partial pressure of carbon dioxide", "Partial pressure of oxygen", "Base excess")


def what_is_meant(parts: Sequence[Part], table: Catalogue, own: frozenset[str]) -> Iterator[Part]:
    """The parts with the specimens, views and repeated tests that they mean; names of the record (`own`) stay."""
    return _repeated(_carried(_sampled(parts, table), table, own), table)


def _sampled(parts: Sequence[Part], table: Catalogue) -> Sequence[Part]:
    """The parts, a test again for each specimen behind it: 'cryptococcal antigen, serum and CSF'."""
    placed: list[Part] = []
    test, named = None, ""  # what a specimen behind it is taken for, and where that was looked for so far
    for part in parts:
        linked = None if part.why else link(part.text, table)
        own = part.text.isupper() and linked is not None and not linked.test.endswith("analysis")  # 'MSU' is a culture
        taken = "" if part.why or own else axes.only_specimen(part.text)
        if taken and test and part.sentence == test.sentence and (named or taken == axes.BLOOD):
            again = f"{axes.stated_as(taken)} {_unplaced(test.text)}"
            if taken != named:
                placed.append(replace(part, text=again if link(again, table) else part.text))
            named = named or taken
            continue
        placed.append(part)
        test = part if linked is not None and linked.kind in ("lab", "microbiology") else None
        stated = bool(axes.specimen(part.text)) or _WITHIN.search(part.text) is not None
        looked_in = linked is not None and (linked.kind == "microbiology" or stated)
        named = (linked.specimen or "any") if linked is not None and looked_in else ""
    return placed


def _unplaced(text: str) -> str:
    """A test without the specimen or the site behind it, or before it."""
    bare = _WITHIN.sub("", text)
    first, *rest = bare.split()
    *before, last = bare.split()
    if rest and axes.only_specimen(last):
        return " ".join(before)
    return " ".join(rest) if rest and axes.only_specimen(first) else bare


def _carried(parts: Iterable[Part], table: Catalogue, own: frozenset[str]) -> Iterator[Part]:
    """Carry a specimen on: 'CSF cell count', 'protein' give 'CSF protein'; a stated specimen always beats it."""
    carried, after, sentence, alone, opened = "", "", -1, False, False
    for part in parts:
        goes_on = bool(carried) and part.sentence == sentence  # 'LP: protein, glucose', beside a glucose of the blood
        if part.why or (key(part.text) in own and not goes_on):
            taken = _tapped(part)
            carried, opened = (taken, True) if taken else (carried, opened)
            yield part
            continue
        sentence, opened = (part.sentence if opened else sentence), False
        stated = axes.specimen(part.text)
        whole = ""
        if carried and not stated and part.sentence == sentence:
            whole = "" if alone and not _CREATININE.match(part.text) else _of(carried, part.text, after, table)
        elif stated == "body fluid" and carried in _FLUIDS:  # also in a sentence of its own: 'Fluid for pH'
            whole = _of(carried, _FLUID.sub("", part.text), after, table)
        if whole:
            yield Part(whole, sentence=part.sentence)
        else:
            linked = link(part.text, table)
            goes_on = linked is None and not stated and part.sentence == sentence  # an unknown name changes nothing
            paired = bool(carried) and _PAIRED.match(part.text) is not None
            taken = _tapped(part) if linked is None else ""
            opened = bool(taken)
            carried = carried if goes_on or paired else taken or _carries(part.text, stated, table)
            after = linked.test if linked is not None else ""
            alone = carried == "urine" and _TIMED.search(part.text) is not None and not after.endswith(_OF_STONES)
            yield part
        sentence = part.sentence


def _tapped(part: Part) -> str:
    """The fluid of a puncture that is done, which the next sentence asks about ('pleural tap done - send LDH')."""
    taken = axes.specimen(part.text) if part.why in ("", "done", "statement") else ""
    taken = "CSF" if not taken and names_puncture(part.text) else taken
    return taken if taken in _FLUIDS and IS_TAKEN.search(part.text) else ""


def _carries(text: str, stated: str, table: Catalogue) -> str:
    """The specimen that `text` hands on to the bare names after it, '' if none."""
    linked = link(text, table)
    if linked is not None and linked.test == "Lumbar puncture":
        return "CSF"
    if linked is not None and linked.test == "Bone marrow biopsy":
        return "bone marrow"
    if linked is not None and linked.kind == "investigation" and linked.test.casefold().endswith("biopsy"):
        return "tissue"
    if linked is None or linked.kind not in ("lab", "microbiology"):
        return ""
    if linked.test == "Gram stain" and stated:
        return stated
    cultured = linked.kind == "microbiology" and linked.specimen not in (*_FLUIDS, *_CULTURED)
    specimen = stated or linked.specimen
    return "" if specimen == axes.BLOOD or cultured else specimen


def _of(specimen: str, text: str, after: str, table: Catalogue) -> str:
    """`text` with the specimen before it, if that is a test of this specimen; else ''."""
    bare = link(text, table)
    whole = f"{specimen} {text}"
    linked = link(whole, table)
    misspelt = bare is not None and bare.rule == "fuzzy"
    if linked is None or linked.specimen != specimen or linked.rule not in ("exact", "synonym", "fuzzy" * misspelt):
        return ""
    if set(tokens(unmeasured(text))) <= EMPTY:  # 'sputum please' is no second culture
        return ""
    if bare is not None and bare.kind not in ("lab", "microbiology"):
        return ""
    if bare is not None and bare.kind == "microbiology" and bare.specimen not in ("", specimen):  # 'UCx, BCx'
        return ""
    if bare is not None and bare.test in table.below:
        return ""
    if specimen in _CULTURED:
        looked_at = linked.test in _STAINS or linked.test.endswith(("culture", "Culture"))
        return whole if looked_at and (bare is None or not bare.specimen) else ""
    if specimen in _FLUIDS and linked.kind == "microbiology":
        return whole if bare is None or not bare.specimen else ""
    if specimen == "urine" and after in _WHOLE_IN_URINE and linked.test != "Urine culture":
        return ""
    own = axes.own_specimen(table.tests[linked.test]) if linked.test in table.tests else axes.BLOOD
    open_specimen = specimen == "bone marrow" and linked.kind == "lab" and not own
    gas = specimen in ("arterial blood", "venous blood") and linked.test in _GASES
    fluid = specimen in _FLUIDS and linked.test in _IN_FLUIDS
    return whole if own == specimen or open_specimen or gas or fluid else ""


EMPTY = list_words(
    """please we i you a an the of it he she they order get obtain do then also and or but so this that these those
    is are be will would like need for to at with on in now patient nothing none further additional more else thanks
    thank x test level value function activity titre one lab rationale next first second third finally lastly
    sample specimen set three two urgently urgent stat asap immediately today tonight tomorrow soon"""
)


_PRONOUNS = list_words("it that these those them one level value")


def _detailed(parts: Iterable[Part], table: Catalogue) -> Iterator[Part]:
    """Views and sides behind a comma belong to the study before them ('mammogram, bilateral')."""
    waiting: Part | None = None
    for part in parts:
        if waiting is not None and not part.why and not waiting.why and imaging.only_detail(part.text):
            linked = link(whole := f"{part.text} {waiting.text}", table)
            if linked is not None and linked.kind == "imaging":
                waiting = replace(waiting, text=whole)
                continue
        if waiting is not None and part.sentence == waiting.sentence and not part.why and not waiting.why:
            joined = _another_place(waiting.text, part.text, table)
            if joined and joined[0] != waiting.text:
                waiting = replace(waiting, text=joined[0])
                continue
            if joined:
                yield waiting
                waiting = replace(part, text=joined[1])
                continue
        if waiting is not None:
            yield waiting
        waiting = part
    if waiting is not None:
        yield waiting


def _another_place(study: str, place: str, table: Catalogue) -> tuple[str, str] | None:
    """A study and the place behind a comma: one study of both that the table has, or two of one modality.

    'CT chest', 'abdomen and pelvis' are one study; 'X-ray right ankle', 'left ankle' are two.
    """
    read = imaging.read_study(study, table)
    behind = imaging.read_study(place, table)
    known = link(place, table)
    if known is not None and known.kind == "imaging":  # 'upright abdominal film, KUB'
        return None
    if not read.whole or not behind.regions or behind.modalities or set(behind.rest) - {"and"}:
        return None
    linked = link(study, table)
    if linked is None or linked.kind != "imaging" or (linked.rule != "region" and read.modalities == ()):
        return None
    whole = link(f"{study} and {place}", table)
    if whole is not None and whole.kind == "imaging" and whole.test in table.tests:
        return f"{study} and {place}", ""
    again = f"{read.modalities[0]} {place}"
    return (study, again) if link(again, table) is not None else None


def _repeated(parts: Iterable[Part], table: Catalogue) -> Iterator[Part]:
    """'Repeat in 3 hours' behind a test orders this test again."""
    before = ""
    for part in _detailed(parts, table):
        said = axes.SERIES.sub(" ", axes.NEXT.sub(" ", part.text))
        again = not part.why and said != part.text
        if before and again and set(tokens(unmeasured(said))) <= EMPTY:
            rest = " ".join(word for word in said.split() if not set(tokens(word)) & _PRONOUNS)
            verb = "trend" if axes.SERIES.search(part.text) else "repeat"
            yield replace(part, text=f"{verb} {before} {rest}".strip())
            continue
        if not part.why:
            before = part.text if link(part.text, table) else ""
        yield part
