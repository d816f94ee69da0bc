"""The build: admissions are chosen by codes, then by notes; then the big tables are read for what is left."""

import os
from collections.abc import Callable, Iterator
from typing import IO

from wardround.engine.errors import UsageError
from wardround.scenarios.loaders.own import line
from wardround.scenarios.mimic import loading
from wardround.scenarios.mimic.assemble import case
from wardround.scenarios.mimic.codes import Codes, read_gem
from wardround.scenarios.mimic.draft import Draft
from wardround.scenarios.mimic.drafting import CODES, CULTURES, LABS, PEOPLE, REPORTS, Drafting
from wardround.scenarios.mimic.flow import Flow
from wardround.scenarios.mimic.options import Options
from wardround.scenarios.mimic.pool import pool
from wardround.scenarios.mimic.published import published
from wardround.scenarios.mimic.rule import Entry, Steps, limit_rule, sample_rule, size_rule
from wardround.scenarios.mimic.rules import Ground, default
from wardround.scenarios.mimic.spill import Spill
from wardround.scenarios.mimic.tree import Tree, tree
from wardround.scenarios.published.tables import load

_MANY, _FEW = 20_000, 200
"""Admissions at a time: by their codes, and with all their rows."""

Say = Callable[[str], None]


class Build:
    """One build over one copy of MIMIC-IV; everything the user named is looked at before anything big is read."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.tree: Tree = tree(options.mimic, options.tables, options.version)
        self.notes = self.tree.has("discharge")
        self._pool = pool(options.pool)
        self._gem = read_gem(options.gem)
        self._published = options.rules == "published"
        self._licence = _licence(self.tree, options)
        ground = Ground(self._pool, self.notes, options.series)
        if self._published:
            rules = published(ground, load(options.lookup) if options.lookup else None)
        else:
            rules = default(ground)
        last = [size_rule(options.at_least), sample_rule(options.per_disease, options.seed)]
        if options.limit:
            last.append(limit_rule(options.limit, options.seed))
        self.steps = Steps((*rules, *last), options.without)

    def run(self, spill: Spill, drafts: IO[bytes], out: IO[bytes], say: Say) -> Flow:
        """Build; the chosen cases go to `out`, a line each, by disease and admission.

        `spill` is the working database; `drafts` holds finished cases until it is known which of them are taken.
        """
        total = loading.load_admissions(spill, self.tree)
        say(f"admissions: {total:,}")
        codes = Codes(loading.load_titles(spill, self.tree), self._pool.diseases, self._gem)
        items = loading.load_items(spill, self.tree)
        drafting = Drafting(codes, items, self._pool.lifted, self.notes, self._published)
        source = _release(spill, self.tree)
        self._by_codes(spill, drafting, total)
        say(f"admissions left by their codes: {spill.count('candidates'):,}")
        self._by_notes(spill, drafting)
        say(f"admissions whose results are read: {spill.count('kept'):,}")
        loading.load_results(spill, self.tree, published=self._published)
        say("rows of theirs: " + ", ".join(f"{name} {spill.count(name):,}" for name in ("labs", "cultures", "reports")))
        entries = list(self._by_records(spill, drafting, drafts, source))
        diseases: dict[str, int] = {}
        for entry in sorted(self.steps.chosen(entries), key=lambda entry: (entry.disease.casefold(), entry.hadm)):
            drafts.seek(entry.start)
            out.write(drafts.read(entry.size))
            diseases[entry.disease] = diseases.get(entry.disease, 0) + 1
        return Flow(self.options, self.tree, source, self._pool, total, self.steps, spill.bad, diseases)

    def _by_codes(self, spill: Spill, drafting: Drafting, total: int) -> None:
        """Table `candidates`: the admissions that the rules on codes leave."""
        seen = 0
        spill.run("create table candidates (hadm_id bigint)")
        for part in loading.slices(spill, "people", _MANY):
            kept = []
            for hadm, rows in loading.grouped(spill, CODES, "codes", part).items():
                seen += 1
                if self.steps.go(drafting.coded(hadm, rows), "codes") is not None:
                    kept.append(hadm)
            spill.put("candidates", {"hadm_id": kept})
        self.steps.lost(total - seen)

    def _by_notes(self, spill: Spill, drafting: Drafting) -> None:
        """Table `kept` of (admission, place of its disease in the pool or -1)."""
        spill.run("create table kept (hadm_id bigint, disease bigint)")
        if not self.notes:
            spill.run("insert into kept select hadm_id, -1 from candidates")
            return
        loading.load_notes(spill, self.tree)
        places = {disease: place for place, disease in enumerate(self._pool.diseases)}
        for part in loading.slices(spill, "candidates", _FEW):
            hadms, diseases = [], []
            texts = loading.grouped(spill, ("text",), "notes", part)
            for hadm, rows in loading.grouped(spill, CODES, "codes", part, "candidates").items():
                draft = drafting.noted(drafting.coded(hadm, rows), _text(texts.get(hadm)))
                after = self.steps.go(draft, "note")
                if after is not None:
                    hadms.append(hadm)
                    diseases.append(places.get(after.disease, -1) if after.disease else -1)
            spill.put("kept", {"hadm_id": hadms, "disease": diseases})

    def _by_records(self, spill: Spill, drafting: Drafting, drafts: IO[bytes], source: str) -> Iterator[Entry]:
        """The finished cases, each written to the drafts."""
        for part in loading.slices(spill, "kept", _FEW):
            for draft in self._whole(spill, drafting, part):
                after = self.steps.go(draft, "record")
                if after is None:
                    continue
                made = case(after, self.options, source, self._licence)
                text = line(made).encode() + b"\n"
                start = drafts.seek(0, os.SEEK_END)
                drafts.write(text)
                yield Entry(made.group, after.hadm, start, len(text))

    def _whole(self, spill: Spill, drafting: Drafting, part: tuple[int, int]) -> Iterator[Draft]:
        columns = {"codes": CODES, "people": PEOPLE, "labs": LABS, "cultures": CULTURES, "reports": REPORTS}
        columns |= {"notes": ("text",)} if self.notes else {}
        places = loading.grouped(spill, ("disease",), "kept", part)
        rows = {table: loading.grouped(spill, names, table, part, "kept") for table, names in columns.items()}
        for hadm, codes in rows["codes"].items():
            place = places[hadm][0][0]
            draft = drafting.noted(drafting.coded(hadm, codes), _text(rows.get("notes", {}).get(hadm)))
            draft = drafting.labelled(draft, self._pool.diseases[place] if place >= 0 else None)
            own = {name: rows[name].get(hadm, []) for name in ("labs", "cultures", "reports")}
            yield drafting.whole(draft, rows["people"][hadm][0], own)


def _text(rows: list[tuple[str | None]] | None) -> str | None:
    return rows[0][0] if rows else None


def _release(spill: Spill, files: Tree) -> str:
    """The source as a case names it; without a told release, by whether there are patients of 2020 and later."""
    if files.version:
        return f"MIMIC-IV {files.version}"
    late = spill.one("select coalesce(bool_or(anchor_year_group like '2020%'), false) from patients")
    return "MIMIC-IV 3.x" if late else "MIMIC-IV 2.x"


def _licence(files: Tree, options: Options) -> str:
    """The licence that lies beside the tables, by its name; raises UsageError where it does not allow `public`."""
    path = files.root / "LICENSE.txt"
    text = path.read_text(encoding="latin-1")[:20_000] if path.is_file() else ""
    opened = "Open Database License" in text
    if options.data_class == "public" and not opened:
        raise UsageError(
            f"--data-class public: {path} is no Open Database License; only the open demo may be passed on, "
            "everything else of MIMIC-IV is restricted"
        )
    if opened:
        return "Open Database License"
    return next((row.strip() for row in text.splitlines() if row.strip(" =-")), "")[:120]
