"""The build: admissions are chosen by codes, then by notes; then the big tables are read for what is left."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import IO

from wardround.engine.errors import UsageError
from wardround.scenarios.case import Finding
from wardround.scenarios.loaders.own import line
from wardround.scenarios.mimic import imaging, loading, opening, published
from wardround.scenarios.mimic.assemble import case
from wardround.scenarios.mimic.codes import Code, Codes, other_names, read_gem
from wardround.scenarios.mimic.draft import Draft, Person, Report
from wardround.scenarios.mimic.flow import Flow
from wardround.scenarios.mimic.note import note, parts
from wardround.scenarios.mimic.options import Options
from wardround.scenarios.mimic.pool import Disease, pool
from wardround.scenarios.mimic.results import CULTURE_COLUMNS, LAB_COLUMNS, cultures, cultures_published
from wardround.scenarios.mimic.results import labs as lab_results
from wardround.scenarios.mimic.results import labs_published
from wardround.scenarios.mimic.rule import Entry, Steps, limit_rule, sample_rule, size_rule
from wardround.scenarios.mimic.rules import Ground, default
from wardround.scenarios.mimic.spill import Row, Spill
from wardround.scenarios.mimic.tree import Tree, tree
from wardround.scenarios.published.tables import load

_MANY, _FEW = 20_000, 200
"""Admissions at a time: by their codes, and with all their rows."""

Say = Callable[[str], None]


class Build:
    """One build over one copy of MIMIC-IV.

    `spill` is the working database; finished cases are written to `drafts` until it is known which of them are taken.
    """

    def __init__(self, options: Options, spill: Spill, drafts: IO[bytes], say: Say) -> None:
        self.options = options
        self.tree: Tree = tree(options.mimic, options.tables, options.version)
        self._spill, self._drafts, self._say = spill, drafts, say
        self._pool = pool(options.pool)
        self._gem = read_gem(options.gem)
        self._published = options.rules == "published"
        self.notes = self.tree.has("discharge")
        ground = Ground(self._pool, self.notes, options.series)
        if self._published:
            rules = published.published(ground, load(options.lookup) if options.lookup else None)
        else:
            rules = default(ground)
        last = [size_rule(options.at_least), sample_rule(options.per_disease, options.seed)]
        if options.limit:
            last.append(limit_rule(options.limit, options.seed))
        self.steps = Steps((*rules, *last), options.without)
        self._licence = _licence(self.tree, options)

    def run(self, out: IO[bytes]) -> Flow:
        """Build; the chosen cases go to `out`, a line each, by disease and admission."""
        total = loading.load_admissions(self._spill, self.tree)
        self._say(f"admissions: {total:,}")
        self._codes = Codes(loading.load_titles(self._spill, self.tree), self._pool.diseases, self._gem)
        self._items = loading.load_items(self._spill, self.tree)
        self._source = self._release()
        self._by_codes(total)
        self._by_notes()
        self._say(f"admissions whose results are read: {self._spill.one('select count(*) from kept'):,}")
        loading.load_results(self._spill, self.tree, published=self._published)
        counts = {name: self._spill.one(f"select count(*) from {name}") for name in ("labs", "cultures", "reports")}  # noqa: S608
        self._say("rows: " + ", ".join(f"{name} {number:,}" for name, number in counts.items()))
        chosen = self.steps.chosen(list(self._by_records()))
        diseases: dict[str, int] = {}
        for entry in sorted(chosen, key=lambda entry: (entry.disease.casefold(), entry.hadm)):
            self._drafts.seek(entry.start)
            out.write(self._drafts.read(entry.size))
            diseases[entry.disease] = diseases.get(entry.disease, 0) + 1
        return Flow(self.options, self.tree, self._source, self._pool, total, self.steps, self._spill.bad, diseases)

    def _by_codes(self, total: int) -> None:
        """Table `candidates`: the admissions that the rules on codes leave."""
        seen = 0
        self._spill.run("create table candidates (hadm_id bigint)")
        for part in loading.slices(self._spill, "people", _MANY):
            kept = []
            for hadm, rows in loading.grouped(self._spill, _CODES, "codes", part).items():
                seen += 1
                if self.steps.go(self._coded(hadm, rows), "codes") is not None:
                    kept.append(hadm)
            self._spill.put("candidates", {"hadm_id": kept})
        self.steps.lost(total - seen)
        self._say(f"admissions left by their codes: {self._spill.one('select count(*) from candidates'):,}")

    def _by_notes(self) -> None:
        """Table `kept` of (admission, place of its disease in the pool or -1)."""
        self._spill.run("create table kept (hadm_id bigint, disease bigint)")
        if not self.notes:
            self._spill.run("insert into kept select hadm_id, -1 from candidates order by hadm_id")
            return
        loading.load_notes(self._spill, self.tree)
        places = {disease: place for place, disease in enumerate(self._pool.diseases)}
        for part in loading.slices(self._spill, "candidates", _FEW):
            hadms, diseases = [], []
            codes = loading.grouped(self._spill, _CODES, "codes", part, "candidates")
            texts = loading.grouped(self._spill, ("text",), "notes", part)
            for hadm, rows in codes.items():
                draft = self.steps.go(self._noted(self._coded(hadm, rows), texts.get(hadm)), "note")
                if draft is not None:
                    hadms.append(hadm)
                    diseases.append(places.get(draft.disease, -1) if draft.disease else -1)
            self._spill.put("kept", {"hadm_id": hadms, "disease": diseases})

    def _by_records(self) -> Iterator[Entry]:
        """The finished cases, each written to the drafts."""
        for part in loading.slices(self._spill, "kept", _FEW):
            for draft in self._whole(part):
                after = self.steps.go(draft, "record")
                if after is None:
                    continue
                made = case(after, self.options, self._source, self._licence)
                text = line(made).encode() + b"\n"
                start = self._drafts.seek(0, os.SEEK_END)
                self._drafts.write(text)
                yield Entry(made.group, after.hadm, start, len(text))

    def _whole(self, part: tuple[int, int]) -> Iterator[Draft]:
        rows = {
            table: loading.grouped(self._spill, columns, table, part, "kept")
            for table, columns in {
                "codes": _CODES, "people": _PEOPLE, "labs": LAB_COLUMNS, "cultures": CULTURE_COLUMNS,
                "reports": _REPORTS, "kept": ("disease",),
            }.items()
        }  # fmt: skip
        texts = loading.grouped(self._spill, ("text",), "notes", part, "kept") if self.notes else {}
        read_labs = labs_published if self._published else lab_results
        read_cultures = cultures_published if self._published else cultures
        for hadm, codes in rows["codes"].items():
            draft = self._noted(self._coded(hadm, codes), texts.get(hadm))
            place = rows["kept"][hadm][0][0]
            draft = replace(draft, disease=self._pool.diseases[place] if place >= 0 else None)
            reports = tuple(Report(note_id, exam, text or "", _time(at)) for note_id, exam, text, at in rows["reports"].get(hadm, ()))
            studies = (imaging.study(report) for report in reports)
            draft = replace(
                _labelled(draft, self.notes),
                person=_person(rows["people"][hadm][0]),
                labs=read_labs(rows["labs"].get(hadm, ()), self._items),
                cultures=read_cultures(rows["cultures"].get(hadm, ())),
                reports=reports,
                studies=tuple(study for study in studies if study),
            )
            yield self._told(draft)
