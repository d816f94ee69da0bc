"""The page of orders and questions is what its script writes today."""

from pathlib import Path

import pytest

from scripts.order_examples import PAGE, main


@pytest.mark.long
def test_the_page_is_what_the_script_writes(tmp_path: Path) -> None:
    written = tmp_path / "page.md"
    main(written)
    assert PAGE.read_text(encoding="utf-8") == written.read_text(encoding="utf-8"), (
        "run: python -m scripts.order_examples"
    )
