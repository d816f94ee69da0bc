"""Rows of the tables as a draft, stage by stage: codes, then the note, then the whole record."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Any

from wardround.scenarios.case import Finding
from wardround.scenarios.mimic import imaging, opening, published
from wardround.scenarios.mimic.codes import Code, Codes, other_names
from wardround.scenarios.mimic.draft import Draft, Person, Report, Results
from wardround.scenarios.mimic.note import note, parts
from wardround.scenarios.mimic.pool import Disease
from wardround.scenarios.mimic.results import (
    CULTURE_COLUMNS,
    LAB_COLUMNS,
    Item,
    cultures,
    cultures_published,
    labs,
    labs_published,
)

CODES = ("seq_num", "code", "icd_version")
PEOPLE = ("subject_id", "sex", "age", "admitted", "kind", "origin", "service")
LABS = (*LAB_COLUMNS, "near")
CULTURES = (*CULTURE_COLUMNS, "near")
REPORTS = ("note_id", "exam", "text", "charttime", "near")


@dataclass(frozen=True, eq=False)
class Drafting:
    """How rows become drafts. `lifted`: no pool, the first-listed code is the disease; `notes`: there are notes."""

    codes: Codes
    items: Mapping[int, Item]
    lifted: bool
    notes: bool
    published: bool

    def coded(self, hadm: int, rows: Sequence[Sequence[Any]]) -> Draft:
        """The draft of an admission's codes."""
        codes = tuple(Code(seq or 0, code, version, self.codes.title(code, version)) for seq, code, version in rows)
        if self.lifted:
            return Draft(hadm, Person(0), codes, leading=_own(codes[0]) if codes and codes[0].title else None)
        pool = self.codes.diseases
        places = [self.codes.diseases_of(code.code, code.version) for code in codes]
        coded = dict.fromkeys(pool[place] for found in places for place in found)
        leading = pool[places[0][0]] if places and places[0] and codes[0].seq == 1 else None
        return Draft(hadm, Person(0), codes, tuple(coded), leading)

    def noted(self, draft: Draft, text: str | None) -> Draft:
        """The same with its discharge note, where it has one."""
        if not text or not text.strip():
            return draft
        return replace(draft, text=text, note=note(text))

    def labelled(self, draft: Draft, disease: Disease | None) -> Draft:
        """The same with its label: what the rules on notes found, else by its codes.

        Without notes the label is the title of the code that stands for the disease, the first-listed where no rule
        was switched off.
        """
        own = disease or draft.leading or next(iter(draft.coded), None)
        if own is None:
            own = _own(draft.codes[0])
        if self.notes and not self.lifted:
            return replace(draft, disease=own, label=own.name)
        return replace(draft, disease=own, label=self._coded_as(draft, own).title or own.name)

    def _coded_as(self, draft: Draft, disease: Disease) -> Code:
        if self.lifted or disease not in draft.coded:
            return draft.codes[0]
        place = self.codes.diseases.index(disease)
        return next(code for code in draft.codes if place in self.codes.diseases_of(code.code, code.version))

    def whole(self, draft: Draft, person: Sequence[Any], rows: Mapping[str, Sequence[Sequence[Any]]]) -> Draft:
        """The same with person and results; the last cell of each of the `rows` says: attached by its time alone."""
        subject, sex, age, admitted, kind, origin, service = person
        own = {name: [row[:-1] for row in found if not row[-1]] for name, found in rows.items()}
        near = any(row[-1] for found in rows.values() for row in found)
        draft = replace(
            draft,
            person=Person(subject, sex or "", _age(age), admitted, kind or "", origin or "", service or ""),
            results=self._results(own),
            nearby=self._results({name: [row[:-1] for row in found] for name, found in rows.items()}) if near else None,
        )
        return self._told(draft)

    def _results(self, rows: Mapping[str, Sequence[Sequence[Any]]]) -> Results:
        reports = tuple(Report(note or "", exam, text or "", _time(at)) for note, exam, text, at in rows["reports"])
        studies = (imaging.study(report) for report in reports)
        read_labs, read_cultures = (labs_published, cultures_published) if self.published else (labs, cultures)
        return Results(
            labs=read_labs(rows["labs"], self.items),
            cultures=read_cultures(rows["cultures"]),
            reports=reports,
            studies=tuple(study for study in studies if study),
        )

    def _told(self, draft: Draft) -> Draft:
        """The same with history and examination from its note."""
        if draft.note is None:
            return draft
        if self.published:
            return replace(draft, told=published.told(draft.text), examination=published.examined(draft.text))
        found = parts(draft.note.get("examination"))
        tidied = ((name, opening.tidy(text)) for name, text in found)
        return replace(
            draft,
            told=opening.told(draft.note),
            complaint=" ".join(opening.tidy(draft.note.get("complaint")).split()),
            examination=tuple(Finding(section=name, text=text) for name, text in tidied if text.strip("_ ")),
        )


@lru_cache(maxsize=8192)
def _own(code: Code) -> Disease:
    """A code as a disease of its own."""
    return Disease(code.title or code.code, other_names(code) if code.title else ())


def _age(age: Any) -> int | None:
    return int(age) if age is not None and 0 <= age < 130 else None


def _time(at: datetime | None) -> str:
    return at.isoformat() if at is not None else ""
