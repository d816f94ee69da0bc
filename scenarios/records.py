"""The results of a case as one addressable list, whatever table they come from."""

from dataclasses import dataclass
from typing import Literal

from wardround.scenarios.case import Case

Kind = Literal["examination", "lab", "microbiology", "imaging", "investigation"]
KINDS: tuple[Kind, ...] = ("examination", "lab", "microbiology", "imaging", "investigation")


@dataclass(frozen=True, slots=True)
class Item:
    """One recorded result.

    `ref` cites the field it comes from, for instance 'labs[3]'; `normal` is None where the record does not say.
    `code` is the source's item number, `time` when it was taken (ISO 8601); '' where the record has none.
    """

    ref: str
    kind: Kind
    name: str
    text: str
    normal: bool | None
    detail: str = ""
    code: str = ""
    time: str = ""


def items(case: Case) -> tuple[Item, ...]:
    """All results of `case`, in the order of its fields."""
    found = [
        Item(f"examination[{i}]", "examination", part.section, part.text, part.normal)
        for i, part in enumerate(case.examination)
    ]
    for i, lab in enumerate(case.labs):
        code = str(lab.item_id or "")
        found.append(Item(f"labs[{i}]", "lab", lab.name, lab_text(case, i), lab_normal(case, i), code, code, lab.time))
    for i, culture in enumerate(case.microbiology):
        text = "; ".join(part for part in (culture.organism, culture.comment) if part) or "no organism reported"
        where = f" ({culture.specimen})" if culture.specimen else ""
        found.append(
            Item(
                f"microbiology[{i}]",
                "microbiology",
                culture.test,
                f"{culture.test}{where}{taken(culture.time)}: {text}",
                None,
                culture.specimen,
                str(culture.item_id or ""),
                culture.time,
            )
        )
    for i, study in enumerate(case.imaging):
        detail = f"{study.modality} {study.region}".strip()
        told = f"{study.exam}{taken(study.time)}: {study.report}"
        found.append(Item(f"imaging[{i}]", "imaging", study.exam, told, study.normal, detail, time=study.time))
    for i, other in enumerate(case.investigations):
        found.append(
            Item(f"investigations[{i}]", "investigation", other.name, f"{other.name}: {other.text}", other.normal)
        )
    return tuple(found)


def lab_text(case: Case, index: int) -> str:
    """A laboratory result as a chart would tell it: value, unit, reference range, flag, time."""
    lab = case.labs[index]
    parts = [f"{lab.name}: {lab.value}" + (f" {lab.unit}" if lab.unit else "")]
    if lab.low is not None and lab.high is not None:
        parts.append(f"(reference {lab.low:g}-{lab.high:g})")
    elif lab.low is not None:
        parts.append(f"(reference from {lab.low:g})")
    elif lab.high is not None:
        parts.append(f"(reference up to {lab.high:g})")
    if lab.flag and lab.flag != "normal":
        parts.append(f"[{lab.flag}]")
    return " ".join(parts) + taken(lab.time)


def taken(time: str) -> str:
    """' at 2150-01-02 10:00' for the time of a result, to the minute; '' where the record has none."""
    return f" at {time[:16].replace('T', ' ')}" if time else ""


def lab_normal(case: Case, index: int) -> bool | None:
    """Whether a laboratory result is normal: by the record's flag, else by its range, else None."""
    lab = case.labs[index]
    if lab.flag:
        return lab.flag == "normal"
    try:
        value = float(lab.value)
    except ValueError:
        return None
    if lab.low is None and lab.high is None:
        return None
    return (lab.low is None or value >= lab.low) and (lab.high is None or value <= lab.high)
