"""Building cases from a user's own records: the working folder, the files beside each other, whole or not at all."""

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from wardround.engine.errors import UsageError
from wardround.scenarios.mimic.build import Build
from wardround.scenarios.mimic.database import Spill
from wardround.scenarios.mimic.flow import Flow
from wardround.scenarios.mimic.tables import Options


def build_mimic(options: Options, out: Path, say: Callable[[str], None] = lambda _: None) -> Flow:
    """Build cases into `out`, with the account of it in `out` + '.flow.json'; either both files are new or neither is.

    The working database lies in the folder of temporary files (TMPDIR) while it runs and needs as much room as the
    rows of the chosen admissions. Raises UsageError for what cannot be built from.
    """
    if not out.parent.is_dir():
        raise UsageError(f"--out {out}: there is no folder {out.parent}")
    build = Build(options)
    account = Path(f"{out}.flow.json")
    half = Path(f"{out}.part")
    try:
        with tempfile.TemporaryDirectory(prefix="wardround-") as folder:
            where = Path(folder)
            with (
                Spill(where, options.on_bad_row) as spill,
                (where / "drafts").open("w+b") as drafts,
                half.open("wb") as stream,
            ):
                flow = build.run(spill, drafts, stream, say)
                stream.flush()
                os.fsync(stream.fileno())
        account.write_text(json.dumps(flow.json(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        half.replace(out)
    finally:
        half.unlink(missing_ok=True)
    return flow
