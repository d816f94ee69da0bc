"""Writes the table of MONDO's diseases that word match reads: `python -m scripts.write_mondo FILE > mondo.tsv.gz`.

FILE is the MONDO file (JSON, CC BY 4.0) in the data of the package cellxgene-ontology-guide, decompressed. A row has
the number, the numbers of the next wider diseases, the label, and the forms of all names (`mondo.form`).
"""

import gzip
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from wardround.scenarios.diseases.mondo import ROOT, form


def main() -> None:
    """Write the table to the standard output."""
    text = "".join("\t".join(row) + "\n" for row in rows(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))))
    sys.stdout.buffer.write(gzip.compress(text.encode(), mtime=0))


def rows(terms: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, str, str, str]]:
    """Yield (number, numbers of the next wider diseases, label, forms) for each disease that is not withdrawn."""
    for name, term in sorted(terms.items()):
        if term["deprecated"] or ROOT not in term["ancestors"]:
            continue
        parents = sorted(wider for wider, steps in term["ancestors"].items() if steps == 1)
        forms = dict.fromkeys(form(text) for text in (term["label"], *term.get("synonyms", ())))
        short = [number.removeprefix("MONDO:") for number in (name, *parents)]
        yield short[0], "|".join(short[1:]), " ".join(term["label"].split()), "|".join(one for one in forms if one)


if __name__ == "__main__":
    main()
