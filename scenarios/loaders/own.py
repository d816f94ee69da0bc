"""Wardround's own case files: JSONL, one case a line, each line the JSON of the schema in docs/case.schema.json."""

import json

from pydantic import ValidationError

from wardround.engine.records import Json
from wardround.scenarios.case import Case
from wardround.scenarios.loaders.oddities import in_name
from wardround.scenarios.loaders.problem import Refused, faults
from wardround.scenarios.loaders.source import Loader


def case(record: Json) -> Case:
    """The case that `record` says word for word; raises Refused with every fault of it."""
    try:
        made = Case.model_validate(record)
    except ValidationError as error:
        raise Refused(faults(error)) from error
    blank = [name for name, text in (("id", made.id), ("opening", made.opening)) if not text.strip()]
    if blank:
        raise Refused((name, "must not be blank") for name in blank)
    if wrong := in_name(made.id):
        raise Refused([("id", wrong)])
    return made


class Own(Loader):
    """Wardround's own format. It is the least particular: any other format that knows a file is surer of it."""

    TITLE = "Wardround's own JSONL, one case a line (docs/cases.md)"

    def knows(self, record: Json) -> float:
        """An object with two fields of a case or more."""
        return 0.5 if isinstance(record, dict) and len(record.keys() & Case.model_fields.keys()) >= 2 else 0.0

    def case(self, number: int, name: str, record: Json) -> Case:
        """As `case`."""
        return case(record)


def line(case: Case) -> str:
    """`case` as a line of our own format, without the fields left at their default."""
    return case.model_dump_json(exclude_defaults=True)


def schema() -> str:
    """The JSON Schema of a line, as docs/case.schema.json holds it."""
    found = Case.model_json_schema()
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Case"}
    return json.dumps(head | found, indent=2, ensure_ascii=False) + "\n"
