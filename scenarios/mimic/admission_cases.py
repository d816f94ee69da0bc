"""Builds cases from the admissions of a copy of MIMIC-IV, in three passes of rules: on codes, on notes, on results.

Each pass reads only the rows of the admissions that the pass before has left (`mimic_database`), makes drafts of them
(`DraftBuilder`) and applies the rules of its stage (`rules`, `published_rules`). Finished cases wait in a file until
the last rules choose among them.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import IO

from wardround.engine.errors import UsageError
from wardround.scenarios.case import Case, Category, Finding, Provenance, Truth
from wardround.scenarios.loaders.load import case_line
from wardround.scenarios.mimic import case_draft, mimic_database, record_items
from wardround.scenarios.mimic import published_rules as published
from wardround.scenarios.mimic.build_account import MimicAccount
from wardround.scenarios.mimic.case_draft import AdmissionDraft, AdmissionResults, Person, Report
from wardround.scenarios.mimic.codes import OTHERS, AdmissionCode, Codes, body_system, code_synonyms, read_gem
from wardround.scenarios.mimic.mimic_database import WorkDatabase
from wardround.scenarios.mimic.mimic_files import MimicCopy, MimicOptions, find_tables
from wardround.scenarios.mimic.note import examination_parts, joined_note
from wardround.scenarios.mimic.pool import PoolDisease, diseases_by_name, read_admissions, read_pool
from wardround.scenarios.mimic.published_rules import published_rules
from wardround.scenarios.mimic.record_items import (
    CULTURE_COLUMNS,
    LAB_COLUMNS,
    LabItem,
    cultures,
    cultures_published,
    labs,
    labs_published,
)
from wardround.scenarios.mimic.rules import (
    DRAW,
    BuildConditions,
    FinishedCase,
    ResultKind,
    RuleSteps,
    coded_rules,
    draw_order,
    draw_rule,
    limit_rule,
    noted_rules,
    record_rules,
    sample_rule,
    size_rule,
    wanted_rules,
)
from wardround.scenarios.published.imaging_words import load_tables
from wardround.scenarios.terms.wording import key


def mimic_case(draft: AdmissionDraft, options: MimicOptions, source: str, licence: str) -> Case:
    """The case of a draft. Its label is the name of its disease; without notes, the title of the disease's code."""
    disease = draft.disease or PoolDisease(draft.label)
    structured = not draft.history
    label = draft.label if structured else disease.name
    names = [*disease.names, *_title_synonyms(draft)] if structured else disease.synonyms
    synonyms = {key(name): name for name in reversed(names) if key(name) != key(label)}
    system = _system(draft, disease)
    return Case(
        id=f"mimic-{draft.hadm}",
        opening=case_draft.structured(draft.person)
        if structured
        else "\n\n".join(f"{heading}:\n{text}" for heading, text in draft.history.items()),
        opening_source="structured" if structured else "note",
        complaint="" if structured else draft.complaint,
        history=dict(draft.history),
        examination=draft.examination,
        labs=draft.results.labs,
        microbiology=draft.results.cultures,
        imaging=draft.results.studies,
        truth=Truth(
            diagnosis=label,
            synonyms=tuple(reversed(synonyms.values())),
            codes=tuple(code.cited for code in draft.codes[:1]),
        ),
        group=disease.name,
        category=Category(body_systems=(system,) if system else ()),
        provenance=Provenance(
            source=source, record=f"subject_id {draft.person.subject}, hadm_id {draft.hadm}", licence=licence
        ),
        data_class=options.data_class,
    )


def _title_synonyms(draft: AdmissionDraft) -> tuple[str, ...]:
    return code_synonyms(draft.first) if draft.first and draft.first.title == draft.label else ()


def _system(draft: AdmissionDraft, disease: PoolDisease) -> str:
    """The body system, by the disease's own families of codes or, if it has none, by the first-listed code."""
    if disease.icd10:
        return body_system(disease.icd10[0], 10)
    if disease.icd9:
        return body_system(disease.icd9[0], 9)
    return body_system(draft.first.code, draft.first.version) if draft.first else OTHERS


CODES = ("seq_num", "code", "icd_version")
PEOPLE = ("subject_id", "sex", "age", "admitted", "kind", "origin", "service")
LABS = (*LAB_COLUMNS, "near")
CULTURES = (*CULTURE_COLUMNS, "near")
REPORTS = ("note_id", "exam", "text", "charttime", "near")


@dataclass(frozen=True, eq=False)
class DraftBuilder:
    """Turns rows into drafts, step by step.

    `items` are the laboratory items by number. `takes_all`: the first-listed code is the disease, whatever it is.
    `notes`: the copy has notes. `published`: results are read as the published code reads them.
    """

    codes: Codes
    items: Mapping[int, LabItem]
    takes_all: bool
    notes: bool
    published: bool

    def with_codes(self, hadm: int, rows: Sequence[record_items.Row]) -> AdmissionDraft:
        """The draft of an admission with its codes."""
        codes = tuple(
            AdmissionCode(seq or 0, code, version, self.codes.title(code, version)) for seq, code, version in rows
        )
        if self.takes_all:
            return AdmissionDraft(
                hadm, Person(0), codes, leading=_disease_of_code(codes[0]) if codes and codes[0].title else None
            )
        pool = self.codes.diseases
        places = [self.codes.diseases_of(code.code, code.version) for code in codes]
        coded = dict.fromkeys(pool[place] for listed in places for place in listed)
        leading = pool[places[0][0]] if places and places[0] and codes[0].seq == 1 else None
        return AdmissionDraft(hadm, Person(0), codes, tuple(coded), leading)

    def with_notes(self, draft: AdmissionDraft, rows: Iterable[tuple[str | None]]) -> AdmissionDraft:
        """The draft with its discharge notes, if it has any; `rows` hold their texts, the one that counts first."""
        texts = [text for (text,) in rows if text and text.strip()]
        return replace(draft, text=texts[0], note=joined_note(texts)) if texts else draft

    def with_label(self, draft: AdmissionDraft, disease: PoolDisease | None) -> AdmissionDraft:
        """The draft with its label: the disease by the rules on notes, else the one from its codes.

        Without notes the label is the title of the disease's code, which is the first-listed code unless a rule was
        switched off.
        """
        own = disease or draft.leading or next(iter(draft.coded), None) or _disease_of_code(draft.codes[0])
        if self.notes and not self.takes_all:
            return replace(draft, disease=own, label=own.name)
        return replace(draft, disease=own, label=self._coded_as(draft, own).title or own.name)

    def _coded_as(self, draft: AdmissionDraft, disease: PoolDisease) -> AdmissionCode:
        if self.takes_all or disease not in draft.coded:
            return draft.codes[0]
        place = self.codes.diseases.index(disease)
        return next(code for code in draft.codes if place in self.codes.diseases_of(code.code, code.version))

    def with_record(
        self, draft: AdmissionDraft, person: record_items.Row, rows: Mapping[str, Sequence[record_items.Row]]
    ) -> AdmissionDraft:
        """The draft with person and results. The last cell of each row says whether only its time assigns it here."""
        subject, sex, age, admitted, kind, origin, service = person
        own = {name: [row[:-1] for row in cells if not row[-1]] for name, cells in rows.items()}
        near = any(row[-1] for cells in rows.values() for row in cells)
        draft = replace(
            draft,
            person=Person(subject, sex or "", _age(age), admitted, kind or "", origin or "", service or ""),
            results=self._results(own),
            nearby=self._results({name: [row[:-1] for row in cells] for name, cells in rows.items()}) if near else None,
        )
        return self._with_note(draft)

    def _results(self, rows: Mapping[str, Sequence[record_items.Row]]) -> AdmissionResults:
        reports = tuple(
            Report(note or "", exam, text or "", record_items.iso_time(at)) for note, exam, text, at in rows["reports"]
        )
        studies = (record_items.study(report) for report in reports)
        read_labs, read_cultures = (labs_published, cultures_published) if self.published else (labs, cultures)
        return AdmissionResults(
            labs=read_labs(rows["labs"], self.items),
            cultures=read_cultures(rows["cultures"]),
            reports=reports,
            studies=tuple(study for study in studies if study),
        )

    def _with_note(self, draft: AdmissionDraft) -> AdmissionDraft:
        """The draft with history and examination from its note."""
        if draft.note is None:
            return draft
        if self.published:
            return replace(
                draft,
                history=published.history_section(draft.text),
                examination=published.examined(draft.text),
            )
        tidied = ((name, case_draft.tidy_note(text)) for name, text in examination_parts(draft.note.get("examination")))
        return replace(
            draft,
            history=case_draft.history_sections(draft.note),
            complaint=" ".join(case_draft.tidy_note(draft.note.get("complaint")).split()),
            examination=tuple(Finding(section=name, text=text) for name, text in tidied if text.strip("_ ")),
        )


@lru_cache(maxsize=8192)
def _disease_of_code(code: AdmissionCode) -> PoolDisease:
    """A disease made of a single code."""
    return PoolDisease(code.title or code.code, code_synonyms(code) if code.title else ())


def _age(age: int | None) -> int | None:
    return age if age is not None and 0 <= age < 130 else None


_CODES_AT_ONCE, _RECORDS_AT_ONCE = 20_000, 200
"""Number of admissions in a slice: while only their codes are read, and with all their rows."""
_RESULTS = {"labs": LABS, "cultures": CULTURES, "reports": REPORTS}
"""The tables of results, and the columns of each that are read."""

_TESTED: Mapping[ResultKind, str] = {"laboratory": "labevents", "microbiology": "microbiologyevents"}
"""Kind of results -> the table that has them."""

Say = Callable[[str], None]


class Build:
    """One build over one copy of MIMIC-IV. Its constructor checks all settings, before any large table is read.

    Raises UsageError for a setting or file that does not fit.
    """

    def __init__(self, options: MimicOptions) -> None:
        self.options = options
        self.tree: MimicCopy = find_tables(options.mimic, options.tables, options.version)
        self.notes = self.tree.has("discharge")
        self._pool = read_pool(options.pool)
        self._gem = read_gem(options.gem)
        self._published = options.rules == "published"
        self._licence = _licence(self.tree, options)
        self._enough = max(options.at_least, options.per_disease)
        tested = tuple(kind for kind, table in _TESTED.items() if self.tree.has(table))
        conditions = BuildConditions(self._pool, self.notes, options.series, tested)
        if self._published:
            rules = published_rules(conditions, load_tables(options.lookup) if options.lookup else None)
        else:
            notes = (*noted_rules(conditions), draw_rule(self._enough)) if self.notes else ()
            rules = (*coded_rules(conditions), *notes, *record_rules(conditions))
        if options.diseases and self._pool.takes_all:
            raise UsageError(
                "--disease goes with a pool of diseases, not with --pool all; --admissions names admissions"
            )
        self._wanted = read_admissions(options.admissions) if options.admissions else frozenset[int]()
        first = wanted_rules(self._wanted, diseases_by_name(self._pool, options.diseases))
        last = [size_rule(options.at_least), sample_rule(options.per_disease, options.seed)]
        if options.limit:
            last.append(limit_rule(options.limit, options.seed))
        self.steps = RuleSteps((*first, *rules, *last), options.without)

    def key(self) -> str:
        """A digest of version, settings and files (path, size, time of change): builds of one key do the same work."""
        named = (self.options.admissions, self.options.gem, self.options.lookup, self.options.pool)
        paths = [*(file.path for _, file in sorted(self.tree.files.items())), *(Path(path) for path in named if path)]
        stamps = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in paths if path.exists()]
        text = json.dumps([version("wardround"), self.options.model_dump(mode="json"), self.tree.version, stamps])
        return hashlib.sha256(text.encode()).hexdigest()

    def run(self, db: WorkDatabase, drafts: IO[bytes], out: IO[bytes], say: Say) -> MimicAccount:
        """Run the build, write the chosen cases to `out`, and return the account.

        The cases stand one per line, by disease and admission. `db` is the working database; its finished steps are not
        done again. `drafts` is a file for finished cases until the choice is made. `say` takes lines of progress.
        """
        db.once("admissions", lambda: mimic_database.load_admissions(db, self.tree))
        total = db.count("people")
        say(f"admissions: {total:,}")
        if absent := self._absent_admissions(db):
            shown = ", ".join(map(str, absent[:10])) + (f" and {len(absent) - 10} more" if len(absent) > 10 else "")
            say(f"not in the tables, so left out of --admissions: {shown}")
        codes = Codes(mimic_database.load_titles(db, self.tree), self._pool.diseases, self._gem)
        items = mimic_database.load_items(db, self.tree)
        builder = DraftBuilder(codes, items, self._pool.takes_all, self.notes, self._published)
        source = _release(db, self.tree)
        self._by_codes(db, builder, total)
        say(f"admissions left by their codes: {db.count('candidates'):,}")
        self._by_notes(db, builder)
        say(f"admissions left by their notes: {db.count('kept'):,}")
        entries = list(self._by_draw(db, builder, drafts, source, say))
        diseases: dict[str, int] = {}
        for entry in sorted(self.steps.chosen(entries), key=lambda entry: (entry.disease.casefold(), entry.hadm)):
            drafts.seek(entry.start)
            out.write(drafts.read(entry.size))
            diseases[entry.disease] = diseases.get(entry.disease, 0) + 1
        strays = tuple(said for (said,) in db.rows("select said from strays"))
        built = (self.steps, db.bad, diseases, absent, strays)
        return MimicAccount(self.options, self.tree, source, self._pool, total, *built)

    def _absent_admissions(self, db: WorkDatabase) -> tuple[int, ...]:
        """The admissions of --admissions that the tables do not have, in ascending order."""
        if not self._wanted:
            return ()
        known = {hadm for (hadm,) in db.rows("select hadm_id from people")}
        return tuple(sorted(self._wanted - known))

    def _by_codes(self, db: WorkDatabase, builder: DraftBuilder, total: int) -> None:
        """Fill table `candidates` with the admissions that pass the rules on codes."""
        seen = 0
        db.run("create or replace table candidates (hadm_id bigint)")
        for part in mimic_database.slices(db, "people", _CODES_AT_ONCE):
            kept = []
            for hadm, rows in mimic_database.rows_by_admission(db, CODES, "codes", part).items():
                seen += 1
                if self.steps.apply(builder.with_codes(hadm, rows), "codes") is not None:
                    kept.append(hadm)
            db.put("candidates", {"hadm_id": kept})
        self.steps.count_lost(total - seen)

    def _by_notes(self, db: WorkDatabase, builder: DraftBuilder) -> None:
        """Fill table `kept` with (admission, place of its disease in the pool, or -1)."""
        db.run("create or replace table kept (hadm_id bigint, disease bigint)")
        if not self.notes:
            db.run("insert into kept select hadm_id, -1 from candidates")
            return
        db.once("notes", lambda: mimic_database.load_notes(db, self.tree, published=self._published))
        places = {disease: place for place, disease in enumerate(self._pool.diseases)}
        for part in mimic_database.slices(db, "candidates", _RECORDS_AT_ONCE):
            hadms, diseases = [], []
            texts = mimic_database.rows_by_admission(db, ("text",), "notes", part)
            for hadm, rows in mimic_database.rows_by_admission(db, CODES, "codes", part, "candidates").items():
                draft = builder.with_notes(builder.with_codes(hadm, rows), texts.get(hadm, []))
                if (after := self.steps.apply(draft, "note")) is not None:
                    hadms.append(hadm)
                    diseases.append(places.get(after.disease, -1) if after.disease else -1)
            db.put("kept", {"hadm_id": hadms, "disease": diseases})

    def _by_draw(
        self, db: WorkDatabase, builder: DraftBuilder, drafts: IO[bytes], source: str, say: Say
    ) -> Iterator[FinishedCase]:
        """Yield the finished cases of all admissions that `sample_rule` can choose.

        The first reading of the tables takes, for each disease, twice as many admissions as the disease needs cases. A
        second reading takes all others of the diseases that still have too few. Table `kept` has the admissions of a
        reading.
        """
        disease: dict[int, int] = dict(db.rows("select hadm_id, disease from kept"))
        waiting: dict[int, list[int]] = {}
        for hadm in sorted(disease, key=lambda hadm: draw_order(self.options.seed, hadm)):
            waiting.setdefault(disease[hadm], []).append(hadm)
        cases, drawn = dict.fromkeys(waiting, 0), 0
        for more, whole in (("", 2 * self._enough if self._draws() else None), (mimic_database.MORE, None)):
            part = sorted(
                (hadm, place)
                for place, hadms in waiting.items()
                if hadms and cases[place] < self._enough
                for hadm in (hadms[:whole] if place >= 0 else hadms)
            )
            if not part and more:
                break
            waiting = {place: [] if place < 0 or whole is None else hadms[whole:] for place, hadms in waiting.items()}
            drawn += len(part)
            db.run("create or replace table kept (hadm_id bigint, disease bigint)")
            db.put("kept", {"hadm_id": [row[0] for row in part], "disease": [row[1] for row in part]})
            say(f"admissions whose results are read: {len(part):,}")
            mimic_database.load_results(db, self.tree, more, published=self._published)
            say("rows of theirs: " + ", ".join(f"{name} {db.count(name + more):,}" for name in _RESULTS))
            for entry in self._by_records(db, builder, drafts, source, more):
                cases[disease[entry.hadm]] += 1
                yield entry
        if self.steps.has(DRAW):
            self.steps.set_effect(DRAW, len(disease), len(disease) - drawn)

    def _draws(self) -> bool:
        """Whether only a part of a disease's admissions need be read: the rules draw, sample and history are all on."""
        return all(map(self.steps.has, (DRAW, "sample", "history")))

    def _by_records(
        self, db: WorkDatabase, builder: DraftBuilder, drafts: IO[bytes], source: str, more: str
    ) -> Iterator[FinishedCase]:
        """Yield the finished cases of a reading, each also written to `drafts`."""
        for part in mimic_database.slices(db, "kept", _RECORDS_AT_ONCE):
            for draft in self._whole_drafts(db, builder, part, more):
                after = self.steps.apply(draft, "record")
                if after is None:
                    continue
                made = mimic_case(after, self.options, source, self._licence)
                text = case_line(made).encode() + b"\n"
                start = drafts.seek(0, os.SEEK_END)
                drafts.write(text)
                yield FinishedCase(made.group, after.hadm, start, len(text))

    def _whole_drafts(
        self, db: WorkDatabase, builder: DraftBuilder, part: tuple[int, int], more: str
    ) -> Iterator[AdmissionDraft]:
        columns = {"codes": CODES, "people": PEOPLE} | ({"notes": ("text",)} if self.notes else {}) | _RESULTS
        places = mimic_database.rows_by_admission(db, ("disease",), "kept", part)
        rows = {
            table: mimic_database.rows_by_admission(db, names, table, part, "kept", more if table in _RESULTS else "")
            for table, names in columns.items()
        }
        for hadm, codes in rows["codes"].items():
            place = places[hadm][0][0]
            draft = builder.with_notes(builder.with_codes(hadm, codes), rows.get("notes", {}).get(hadm, []))
            draft = builder.with_label(draft, self._pool.diseases[place] if place >= 0 else None)
            yield builder.with_record(
                draft, rows["people"][hadm][0], {name: rows[name].get(hadm, []) for name in _RESULTS}
            )


def _release(db: WorkDatabase, files: MimicCopy) -> str:
    """The source as a case names it; if the release is unknown, patients of 2020 or later mean 3.x."""
    if files.version:
        return f"MIMIC-IV {files.version}"
    late = db.one("select coalesce(bool_or(anchor_year_group like '2020%'), false) from patients")
    return "MIMIC-IV 3.x" if late else "MIMIC-IV 2.x"


def _licence(files: MimicCopy, options: MimicOptions) -> str:
    """The name of the licence stored with the tables; raises UsageError if it forbids `public`."""
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
