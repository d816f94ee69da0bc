"""Our own format: the schema in the docs is that of the code, and a line comes back as the case it was."""

import importlib
import json
import re
from pathlib import Path

from wardround.scenarios.case import Case, Provenance, Truth, case_results, unrecorded_findings
from wardround.scenarios.loaders import load

SCHEMA = Path(__file__).resolve().parents[3] / "docs" / "case.schema.json"


def test_the_schema_in_the_docs_is_current() -> None:
    regenerate = "python -c 'from wardround.scenarios.loaders.load import schema; print(schema(), end=\"\")'"
    assert SCHEMA.read_text(encoding="utf-8") == load.schema(), f"run: {regenerate} > docs/case.schema.json"


def test_the_schema_takes_a_line_and_refuses_an_unknown_field() -> None:
    case = Case(
        id="a", opening="x", truth=Truth(diagnosis="y"), provenance=Provenance(source="z"), data_class="restricted"
    )
    record = json.loads(load.case_line(case))
    jsonschema = importlib.import_module("jsonschema")  # it has no type hints
    validator = jsonschema.Draft202012Validator(json.loads(load.schema()))
    assert list(validator.iter_errors(record)) == []
    assert load.own_case(record) == case
    assert [error.validator for error in validator.iter_errors(record | {"colour": "red"})] == ["additionalProperties"]


def example(folder: Path) -> tuple[Path, dict[str, object]]:
    """The full example of docs/cases.md as a file, with an image for each that it names; and its JSON."""
    page = (SCHEMA.parent / "cases.md").read_text(encoding="utf-8")
    found = re.search(r"^```json\n(\{\n.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert found is not None
    record = json.loads(found.group(1))
    (folder / "images").mkdir()
    picture = sorted(SCHEMA.parents[1].glob("scenarios/**/*.png"))[0].read_bytes()
    for name in re.findall(r"images/\w+\.png", found.group(1)):
        (folder / name).write_bytes(picture)
    file = folder / "case.json"
    file.write_text(found.group(1), encoding="utf-8")
    return file, record


def test_the_full_example_of_the_page_is_a_case_with_every_key(tmp_path: Path) -> None:
    file, record = example(tmp_path)
    [case] = load.load(file)
    assert isinstance(case, Case)
    assert [one.kind for one in case_results(case)] == ["examination"] * 3 + ["lab"] * 3 + [
        "microbiology", "imaging", "investigation",
    ]  # fmt: skip
    assert all(image.startswith("data:image/png") for study in case.imaging for image in study.images)
    assert unrecorded_findings(case) == []
    defined = json.loads(load.schema())["$defs"]
    keys = {key for name, part in defined.items() if name != "Case" for key in part.get("properties", {})}
    keys |= set(Case.model_fields) - {"ancillary"}
    shown = set(re.findall(r'"(\w+)":', json.dumps(record)))
    assert sorted(keys - shown) == ["asked", "concluded"]  # a rule has one of three deeds, and the example an order
