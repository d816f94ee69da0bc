"""Loads MultiCogEval's high level: admissions by disease, with history, examination and results."""

import re
from collections.abc import Iterable, Iterator

from wardround.engine.records import Json
from wardround.scenarios.case import Case, Culture, Finding, Lab, Provenance, Study, Truth
from wardround.scenarios.loaders.source import Loader, Refused
from wardround.scenarios.loaders.values import group

_VALUE = re.compile(r"(?P<value>[<>]?\s*-?\d[\d.,]*)\s*(?P<unit>\S.*)?")


class AdmissionRecords(Loader):
    """MultiCogEval's records of admissions: one object of diseases, each with its admissions by number."""

    TITLE = "MultiCogEval high-level JSON, one object of diseases, each with admissions by number"
    WHOLE = True
    MARK = '"Patient History"'

    def knows(self, record: Json) -> float:
        """Match an object of objects whose members have a patient history."""
        diseases = record.values() if isinstance(record, dict) else ()
        rows = (row for disease in diseases if isinstance(disease, dict) for row in disease.values())
        return float(any(isinstance(row, dict) and "Patient History" in row for row in rows))

    def cases(self, number: int, name: str, record: Json) -> Iterable[Case]:
        """The cases of a disease; raises Refused with the faults of all its admissions."""
        if not isinstance(record, dict):
            raise Refused([("", "must be an object of admissions by number")])
        wrong: list[tuple[str, str]] = []
        cases: list[Case] = []
        for hadm, row in record.items():
            history = row.get("Patient History") if isinstance(row, dict) else None
            if not isinstance(history, str) or not history.strip():
                wrong.append((f"{hadm}.Patient History", "is missing or blank"))
            elif bad := [part for part in _OBJECTS if not isinstance(row.get(part, {}), dict)]:
                wrong += [(f"{hadm}.{part}", "must be an object of results by item number") for part in bad]
            else:
                cases.append(_case(name, str(hadm), row, history))
        if wrong:
            raise Refused(wrong)
        return cases


_OBJECTS = ("Laboratory Tests", "Microbiology")


def _case(disease: str, hadm: str, row: dict[str, Json], history: str) -> Case:
    said = str(row.get("Physical Examination") or "").strip()
    return Case(
        id=f"mimic-{hadm}",
        opening=history.strip(),
        history={"History of Present Illness": history.strip()},
        examination=(Finding(section="Physical examination", text=said),) if said else (),
        labs=tuple(_labs(row.get("Laboratory Tests", {}))),
        microbiology=tuple(
            Culture(test=_named(item), item_id=_number(item), comment=str(text))
            for item, text in row.get("Microbiology", {}).items()
            if str(text).strip()
        ),
        imaging=tuple(_studies(row.get("Radiology") or [])),
        truth=Truth(diagnosis=disease),
        group=group(disease),
        provenance=Provenance(source="MultiCogEval high level", record=f"hadm_id {hadm}", licence="PhysioNet"),
        data_class="restricted",
    )


def _labs(results: dict[str, Json]) -> Iterator[Lab]:
    for item, text in results.items():
        if not str(text).strip():
            continue
        match = _VALUE.fullmatch(str(text).strip())
        value, unit = (match["value"], match["unit"] or "") if match else (str(text).strip(), "")
        yield Lab(name=_named(item), item_id=_number(item), value=value, unit=unit)


def _studies(reports: Json) -> Iterator[Study]:
    for one in reports if isinstance(reports, list) else []:
        if isinstance(one, dict) and str(one.get("Report") or "").strip():
            name = (
                str(one.get("Exam Name") or "").strip() or f"{one.get('Modality', '')} {one.get('Region', '')}".strip()
            )
            yield Study(
                exam=name or "Imaging",
                modality=str(one.get("Modality") or ""),
                region=str(one.get("Region") or ""),
                report=str(one["Report"]).strip(),
            )


def _named(item: str) -> str:
    return item if not item.isdigit() else f"MIMIC item {item}"


def _number(item: str) -> int | None:
    return int(item) if item.isdigit() else None
