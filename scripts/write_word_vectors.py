"""Write the word vectors of the record patient: `python -m scripts.write_word_vectors WORDLLAMA FILE... --out FOLDER`.

WORDLLAMA is the folder of the package wordllama (0.4.0, MIT), which holds 256 numbers for each of 32,000 pieces of
words. Kept are the pieces of small letters and every word of the FILES that is more than one piece, turned onto their
128 main directions and rounded to small integers. Needs tokenizers and safetensors, which that package brings.
"""

import argparse
import importlib
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_BEGINS = "\u2581"
"""How the package marks the beginning of a word; the table has `_` for it."""
_DIRECTIONS = 128
_LARGEST = 127


def table(texts: Sequence[str], tokenizer: Any, rows: NDArray[np.float64]) -> dict[str, list[int]]:
    """The pieces and words to keep, and the rows of the package's table that each is the sum of."""
    vocabulary: dict[str, int] = tokenizer.get_vocab()
    kept = {
        piece.replace(_BEGINS, "_"): [row]
        for piece, row in vocabulary.items()
        if re.fullmatch(f"{_BEGINS}?[a-z]+", piece) and row < len(rows)
    }
    words = sorted({word for text in texts for word in re.findall(r"[a-z]{2,}", text.lower())})
    for word in words:
        kept.setdefault(f"_{word}", list(tokenizer.encode(word, add_special_tokens=False).ids))
    return dict(sorted(kept.items()))


def main(arguments: Sequence[str]) -> None:
    """Write `word_pieces.txt` and `word_vectors.npy`."""
    load_file = importlib.import_module("safetensors.numpy").load_file
    tokenizers = importlib.import_module("tokenizers")
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, metavar="WORDLLAMA")
    parser.add_argument("files", type=Path, nargs="*", metavar="FILE", help="texts whose words are wanted whole")
    parser.add_argument("--out", type=Path, default=Path("agents/data/history"))
    options = parser.parse_args(arguments)
    rows = next(iter(load_file(next(options.folder.glob("weights/*.safetensors"))).values())).astype(np.float64)
    tokenizer = tokenizers.Tokenizer.from_file(str(next(options.folder.glob("tokenizers/*.json"))))
    texts = [file.read_text(encoding="utf-8", errors="replace") for file in options.files]
    kept = table(texts, tokenizer, rows)
    vectors = np.stack([rows[places].sum(axis=0) for places in kept.values()])
    pieces = np.stack([rows[places[0]] for places in kept.values() if len(places) == 1])
    turned = vectors @ np.linalg.svd(pieces, full_matrices=False)[2][:_DIRECTIONS].T
    step = np.percentile(np.abs(turned), 99.9) / _LARGEST
    small = np.clip(np.round(turned / step), -_LARGEST, _LARGEST).astype(np.int8)
    (options.out / "word_pieces.txt").write_text("\n".join(kept) + "\n", encoding="utf-8")
    np.save(options.out / "word_vectors.npy", small)


if __name__ == "__main__":
    main(sys.argv[1:])
