"""A draft that passed every rule becomes a case."""

from wardround.scenarios.case import Case, Category, Provenance, Truth
from wardround.scenarios.mimic import opening
from wardround.scenarios.mimic.codes import other_names
from wardround.scenarios.mimic.draft import Draft
from wardround.scenarios.mimic.options import Options
from wardround.scenarios.mimic.pool import Disease
from wardround.scenarios.mimic.systems import OTHERS, body_system
from wardround.scenarios.terms.wording import key


def case(draft: Draft, options: Options, source: str, licence: str) -> Case:
    """The case; its label is the disease, without notes the title of the code that stands for it."""
    disease = draft.disease or Disease(draft.label)
    structured = not draft.told
    label = draft.label if structured else disease.name
    names = [*disease.names, *_titled(draft)] if structured else disease.synonyms
    synonyms = {key(name): name for name in reversed(names) if key(name) != key(label)}
    system = _system(draft, disease)
    return Case(
        id=f"mimic-{draft.hadm}",
        opening=opening.structured(draft.person) if structured else opening.history(draft.told),
        opening_source="structured" if structured else "note",
        complaint="" if structured else draft.complaint,
        history=dict(draft.told),
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


def _titled(draft: Draft) -> tuple[str, ...]:
    return other_names(draft.first) if draft.first and draft.first.title == draft.label else ()


def _system(draft: Draft, disease: Disease) -> str:
    """By the disease's own families; for a disease without any, by the code that stands for it."""
    if disease.icd10:
        return body_system(disease.icd10[0], 10)
    if disease.icd9:
        return body_system(disease.icd9[0], 9)
    return body_system(draft.first.code, draft.first.version) if draft.first else OTHERS
