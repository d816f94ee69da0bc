"""The example of docs/records/diseases.md runs as it stands there."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[3] / "docs" / "records" / "diseases.md"


@pytest.mark.long
def test_the_example_of_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ours.csv").write_text("concept,name\nGout,podagra\n", encoding="utf-8")
    [example] = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    exec(compile(example, str(PAGE), "exec"), {})
    assert capsys.readouterr().out.splitlines() == [
        "Myocardial infarction abbreviation 0.95",
        "gout Gout",
        "pneumonia Pneumonia",
    ]
