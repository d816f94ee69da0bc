"""Reads modality, regions and side from imaging requests and study names, and decides whether a study answers one."""

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

import msgspec

from wardround.scenarios.orders.catalogue import Catalogue, Phrase, Test, Word
from wardround.scenarios.terms.wording import list_words, tokens

_SIDES = {"left": "left", "lt": "left", "l": "left", "right": "right", "rt": "right", "r": "right"}
# Words that do not change the modality or region of a study.
_LITTLE = list_words(
    """a an the of for with without and or w o c contrast enhanced non noncontrast iv oral scan scanning imag image
    study exam view two three ap pa lateral oblique plain portable bilateral both left right lt rt series high
    resolution low dose multiphase triple phase 3d protocol repeat urgent stat emergency follow up serial limited
    complete unilateral wo upright erect supine axial coronal sagittal weighted t1 t2 hr standard routine single
    multidetector spiral helical joint region area soft tissue extremity lower upper full entire whole gadolinium
    intravenous based cine dynamic functional please order get obtain perform po lat views number either each
    compression con posteroanterior anteroposterior
    flex ext obl ltd flexion extension weight bearing standing diagnostic res bilat bilaterally unilat ou od os
    films l r
    length alignment long y decub triphasic multiphasic quadruple primovist eovist gadoxetate
    bedside formal mortise swimmer sunrise decubitus
    noncon no dye gad noncontrasted delayed arterial-phase rescan new initial ultra set"""
)
_JOINED = {
    frozenset(("CT", "Angiography")): "CT angiography",
    frozenset(("CT", "CT angiography")): "CT angiography",
    frozenset(("MRI", "Angiography")): "MR angiography",
}
_PROJECTIONS = list_words("ap pa lat lateral oblique mortise")
_WRITTEN_OUT = {
    "cxr": ("chest", "xray"),
    "axr": ("abdomen", "xray"),
    "thoraco": ("chest",),
    "thoracoabdominal": ("chest", "abdomen"),
    "abdominopelvic": ("abdomen", "pelvis"),
    "abdomino": ("abdomen",),
}
# A Doppler study of a limb examines its veins unless arteries are named.
_FLOW = frozenset(tokens("doppler dopplers duplex dvt compression"))
_VESSELS = frozenset(("Leg veins", "Leg arteries"))


class Reading(msgspec.Struct, frozen=True):
    """The content of an imaging request or study name; `rest` holds the words that were not understood."""

    modalities: tuple[str, ...]
    regions: frozenset[str]
    side: str = ""
    rest: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether there is one modality, at least one region and no word that was not understood."""
        return len(self.modalities) == 1 and bool(self.regions) and not self.rest


@lru_cache(maxsize=16384)
def read_study(text: str, table: Catalogue) -> Reading:
    """The modality and regions that `text` names."""
    words = [word for token in tokens(text) for word in _WRITTEN_OUT.get(token, (token,))]
    written = {_SIDES[word] for word in words if len(word) > 1 and word in _SIDES}
    flows = bool(_FLOW & set(words))
    where = _vessels(frozenset(_take(words, table.phrases[1])), flows=flows)
    how = _take(words, table.phrases[0])
    if len(how) == 2 and ("Heart" not in where or not {"and", "or", "plus"} & set(tokens(text))):
        how = (_JOINED[frozenset(how)],) if frozenset(how) in _JOINED else how
    if where and not how and ("view" in words or len(_PROJECTIONS & set(words)) > 1):  # 'wrist PA/lat'
        how = ("Radiograph",)
    sides = written | {_SIDES[word] for word in words if word in ("l", "r")}  # 'L knee', and not 'L spine'
    rest = tuple(word for word in words if word and word not in _LITTLE)
    return Reading(how, where, sides.pop() if len(sides) == 1 else "", rest)


def only_detail(text: str) -> bool:
    """Whether `text` has only words that tell how a study is made ('bilateral', 'two views', 'left')."""
    words = tokens(text)
    return bool(words) and set(words) <= _LITTLE


def only_place(text: str, table: Catalogue) -> bool:
    """Whether `text` tells only where a study is made and how ('hip and spine', 'both legs', 'upright')."""
    study = read_study(text, table)
    return not study.modalities and not set(study.rest) - {"and", "or", "of", "the"}


def _vessels(where: frozenset[str], *, flows: bool) -> frozenset[str]:
    """'Venous duplex of the legs' is a study of the leg veins, not of the leg and its veins."""
    if "Leg arteries" in where and len(where) > 1 and "Leg" not in where:  # 'renal artery Doppler'
        return where - {"Leg arteries"}
    if where & _VESSELS:
        return where - {"Leg"}
    if "Carotid" in where:  # and vertebral
        return where - {"Spine", "Neck"}
    return where - {"Leg"} | {"Leg veins"} if flows and "Leg" in where else where


def _take(words: list[str], known: Mapping[str, Sequence[Phrase]]) -> tuple[str, ...]:
    """Names from `known` whose phrases occur in `words`, longest first; matched words are blanked out."""
    met = [
        (-len(phrase), place, start, phrase, name)
        for start, word in enumerate(words)
        for place, phrase, name in known.get(word, ())
        if tuple(words[start : start + len(phrase)]) == phrase
    ]
    names: list[str] = []
    for _, _, start, phrase, name in sorted(met):
        if tuple(words[start : start + len(phrase)]) == phrase:
            words[start : start + len(phrase)] = [""] * len(phrase)
            if name not in names:
                names.append(name)
    return tuple(names)


def apart(text: str, table: Catalogue) -> tuple[str, ...]:
    """Split 'MRI/MRA brain' or 'left shoulder MRI and x-ray' into one request per modality, with the same regions."""
    study = read_study(text, table)
    if len(study.modalities) < 2 or not study.regions or study.rest:
        return ()
    where = f"{study.side} {' and '.join(sorted(study.regions))}".strip()
    return tuple(f"{modality} {where}" for modality in study.modalities)


def films(text: str, table: Catalogue) -> tuple[str, ...]:
    """'X-ray of the right hand and wrist' as one radiograph for each part; empty if it is one."""
    study = read_study(text, table)
    several = study.whole and study.modalities == ("Radiograph",) and 1 < len(study.regions) <= _MOST_FILMS
    if not several or ("Radiograph", study.regions) in table.studies:
        return ()
    side = "" if {"both", "bilateral"} & set(tokens(text)) else study.side  # 'both wrists and left foot'
    return tuple(f"Radiograph {side} {region}".replace("  ", " ") for region in sorted(study.regions))


_MOST_FILMS = 4


def of_test(test: Test, text: str, table: Catalogue) -> Reading | None:
    """The reading of a known imaging test; the side comes from the wording of the request."""
    if not test.modality:
        return None
    return Reading((test.modality,), frozenset(test.regions), read_study(text, table).side)


def fulfils(wanted: Reading, done: Reading, table: Catalogue) -> bool:
    """Whether a study `done` answers a request `wanted`.

    The modality must be the requested one or a kind of it (a CT angiography answers for a CT, not the reverse). The
    regions must overlap, directly or as part of one another; named sides must agree. Every study of the modality
    answers a request without a region, and a study without a recorded region answers any. Studies that more than a
    region tells apart (nuclear, echocardiography, fluoroscopy, catheter) never match this way.
    """
    if len(wanted.modalities) != 1 or not done.modalities:
        return False
    modality = wanted.modalities[0]
    if not table.modalities[modality].by_region:
        return False
    if not any(modality in _line(name, table.modalities) for name in done.modalities):
        return False
    if wanted.side and done.side and wanted.side != done.side:
        return False
    return not wanted.regions or not done.regions or overlap(wanted.regions, done.regions, table)


def overlap(wanted: Collection[str], done: Collection[str], table: Catalogue) -> bool:
    """Whether a wanted region is a done one, a part of it or the whole that it is of; a pelvis shows its hips."""
    return any(
        one in _line(other, table.regions) or other in _line(one, table.regions) or (one, other) == ("Hip", "Pelvis")
        for one in wanted
        for other in done
    )


def _line(name: str, known: Mapping[str, Word]) -> tuple[str, ...]:
    """`name` and all that contain it."""
    return (name, *_line(known[name].within, known)) if name in known else ()


def study_title(reading: Reading) -> str:
    """A readable name for a study that the table of tests does not list."""
    side = f"{reading.side} " if reading.side else ""
    return f"{reading.modalities[0]}: {side}{', '.join(sorted(reading.regions)).lower()}"
