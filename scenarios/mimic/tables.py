"""The tables of MIMIC-IV that a build reads: where they lie, which columns it needs, what is lost without them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

_TEXT = "VARCHAR"


@dataclass(frozen=True, slots=True)
class Table:
    """One table; column types are SQL types.

    `needed` columns must be there, `more` are read where they are. `lost` says what a build goes without where the
    table is absent; a table with nothing there must be present.
    """

    name: str
    folder: str
    needed: Mapping[str, str]
    more: Mapping[str, str] = field(default_factory=dict)
    lost: str = ""

    def kind(self, column: str) -> str:
        """The SQL type a column is read as."""
        return self.needed.get(column) or self.more.get(column) or _TEXT


def _text(names: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), _TEXT)


_KEYS = {"subject_id": "BIGINT", "hadm_id": "BIGINT"}

TABLES: Mapping[str, Table] = {
    table.name: table
    for table in (
        Table(
            "admissions",
            "hosp",
            {**_KEYS, "admittime": "TIMESTAMP", "dischtime": "TIMESTAMP"},
            {"edregtime": "TIMESTAMP", **_text("admission_type admission_location")},
        ),
        Table(
            "patients",
            "hosp",
            {"subject_id": "BIGINT", "gender": _TEXT, "anchor_age": "INTEGER", "anchor_year": "INTEGER"},
            _text("anchor_year_group"),
        ),
        Table(
            "diagnoses_icd",
            "hosp",
            {"hadm_id": "BIGINT", "seq_num": "INTEGER", "icd_code": _TEXT, "icd_version": "INTEGER"},
        ),
        Table(
            "d_icd_diagnoses",
            "hosp",
            {"icd_code": _TEXT, "icd_version": "INTEGER", "long_title": _TEXT},
            lost="ICD-9 codes have no titles, those of ICD-10-CM come from the package",
        ),
        Table("d_labitems", "hosp", {"itemid": "BIGINT", "label": _TEXT}, _text("fluid category")),
        Table(
            "labevents",
            "hosp",
            {**_KEYS, "itemid": "BIGINT", "charttime": "TIMESTAMP"},
            {
                "labevent_id": "BIGINT",
                "ref_range_lower": "DOUBLE",
                "ref_range_upper": "DOUBLE",
                **_text("value valuenum valueuom flag comments"),
            },
        ),
        Table(
            "microbiologyevents",
            "hosp",
            {**_KEYS, "charttime": "TIMESTAMP", "test_itemid": "BIGINT", "test_name": _TEXT, "org_name": _TEXT},
            {
                "microevent_id": "BIGINT",
                "chartdate": "TIMESTAMP",
                "spec_itemid": "BIGINT",
                "org_itemid": "BIGINT",
                **_text("spec_type_desc comments"),
            },
        ),
        Table(
            "services",
            "hosp",
            {"hadm_id": "BIGINT", "transfertime": "TIMESTAMP", "curr_service": _TEXT},
            lost="openings built from coded fields name no service",
        ),
        Table(
            "transfers",
            "hosp",
            {"hadm_id": "BIGINT", "intime": "TIMESTAMP"},
            lost="the published time window of an admission falls back on its own times",
        ),
        Table(
            "discharge",
            "note",
            {"hadm_id": "BIGINT", "text": _TEXT},
            _text("note_id"),
            lost="no history, no physical examination, no discharge diagnosis: the label is the first-listed code",
        ),
        Table(
            "radiology",
            "note",
            {"note_id": _TEXT, **_KEYS, "charttime": "TIMESTAMP", "text": _TEXT},
            lost="no imaging",
        ),
        Table(
            "radiology_detail",
            "note",
            {"note_id": _TEXT, "field_name": _TEXT, "field_value": _TEXT},
            {"field_ordinal": "INTEGER"},
            lost="studies are named by their reports' own headings",
        ),
    )
}
"""Every table a build may read, by name."""
