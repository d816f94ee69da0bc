"""Loads vignettes as cases for a consultation: AgentClinic's NEJM file, MediQ, CRAFT-MD and MedCaseReasoning."""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from wardround.engine.records import Json
from wardround.engine.text import regex
from wardround.scenarios.case import Case, Finding, Investigation, Provenance, Truth
from wardround.scenarios.loaders.source import Loader, Refused, misfit
from wardround.scenarios.loaders.values import day_of, diagnosis_names, group

_SENTENCE = regex(r"(?<=[.?!])\s+(?=[A-Z\"'(])|\s+-\s+(?=\*{0,2}[A-Z])")
_EXAMINED = regex(
    r"(?i)\b(?:(?:physical |skin |dermatologic |ocular |neurologic |pelvic )?exam(?:ination)?\b"
    r"|on (?:examination|auscultation|palpation|inspection)|vital signs|auscultation|palpation|blood pressure"
    r"|heart rate|pulse is|temperature (?:is|was|of)|(?:are|is|was|were) (?:identified|observed|visible|palpable)"
    r"|(?:lymph nodes?|abdomen|lungs?|lesions?|plaques?|papules?|nodules?) (?:is|was|were|are) \w+)\b"
)
_TESTED = regex(
    r"(?i)\b(?:biops\w*|histopatholog\w*|laborator\w*|blood (?:tests?|count)|serum|leukocyte|hemoglobin|platelet"
    r"|cultures?|radiograph\w*|x-?rays?|ct\b|computed tomograph\w*|mri|magnetic resonance|ultraso\w*|echocardiogra\w*"
    r"|angiogra\w*|electrocardiogra\w*|ecg|ekg|endoscop\w*|colonoscop\w*|dermoscop\w*|smears?|staining|stains?|immunohisto\w*"
    r"|koh|potassium hydroxide|pcr|serolog\w*"
    r"|(?:auto)?antibod\w+|(?:immuno)?fluorescence|urinalysis|spirometry|catheterization|imaging|scan)\b"
)
_ASKED = regex(r"\s*(?:What|Which)\b[^.?]*\?\s*$")
_DIRECTED = regex(r"(?i)\b(?:role|actor|remember|not aware|unaware|portray\w*|diagnos\w*|you haven't seen|extracted)\b")
"""Sentences of a patient's sheet that direct the actor, or name what a patient does not know."""
_ROLE = regex(r"(?i)^(?:for your role )?as (?:a|the) patient(?: actor)?, (?=you\b)")
"""How a direction begins that goes on with what the patient has: 'For your role as a patient, you are ...'."""
_AGED = regex(
    r"(?i)\b(?:an? )?(?:previously healthy |otherwise healthy )?(\d{1,3}[- ](?:year|month|week|day)s?[- ]old"
    r"(?:[ -](?!with|who|presents?|presented|is|was|has|had|comes?)[\w-]+){0,4})"
)


def sentences_of(text: str) -> list[str]:
    """The sentences of a vignette, without a question at its end."""
    return [part for part in _SENTENCE.split(_ASKED.sub("", text).strip()) if part.strip()]


def sort_sentences(sentences: Iterable[str]) -> tuple[list[str], list[str], list[str]]:
    """(history, examination, tests) of a vignette, sentence by sentence."""
    history: list[str] = []
    examination: list[str] = []
    tests: list[str] = []
    parts = (part for one in sentences for part in (_SEMICOLON.split(one) if _examined_and_tested(one) else [one]))
    for sentence in parts:
        if _TESTED.search(sentence):
            tests.append(sentence)
        elif _EXAMINED.search(sentence):
            examination.append(sentence)
        else:
            (examination if examination and not _spoken(sentence) else history).append(sentence)
    return history, examination, tests


_SEMICOLON = regex(r"(?<=;)\s+")


def _examined_and_tested(sentence: str) -> bool:
    """Whether a sentence tells of an examination and of a test; its parts between semicolons are then sorted apart."""
    return bool(_EXAMINED.search(sentence) and _TESTED.search(sentence))


def _spoken(sentence: str) -> bool:
    """Whether a sentence after the examination continues the history."""
    return bool(
        re.search(r"(?i)\b(?:reports?|denie[sd]|states?|stated|history|takes|medications?|lives|smok\w+)\b", sentence)
    )


def vignette_case(
    case_id: str, sentences: list[str], diagnosis: str, where: Provenance, complaint: str = "", reasoning: str = ""
) -> Case:
    """A case of a vignette: history asked of the patient, examination and tests to be ordered; the whole as opening."""
    history, examination, tests = sort_sentences(sentences)
    named, synonyms = diagnosis_names(diagnosis)
    aged = next((match[1] for text in sentences if (match := _AGED.search(text))), "")
    return Case(
        id=case_id,
        opening=" ".join(history) or " ".join(sentences),
        complaint=complaint or (f"A {aged}." if aged else ""),
        opening_source="composed",
        history={"History": " ".join(history)} if history else {},
        examination=(Finding(section="Physical examination", text=" ".join(examination)),) if examination else (),
        investigations=tuple(
            Investigation(name=_test_name(text, place), text=text) for place, text in enumerate(tests, 1)
        ),
        truth=Truth(diagnosis=named, synonyms=synonyms, reasoning=reasoning),
        group=group(named),
        provenance=where,
        data_class="public",
    )


def _test_name(text: str, place: int) -> str:
    match = _TESTED.search(text)
    name = match[0] if match else "Test"
    return f"{name[:1].upper()}{name[1:]} ({place})" if place > 1 else f"{name[:1].upper()}{name[1:]}"


_DIAGNOSES = regex(r"(?i)\bdiagnos(?!tic)|\bcondition\b|most likely (?:cause|etiology)|explains")
_NO_DIAGNOSIS = "asks for no diagnosis; its answer cannot be a case's truth"


def other_question(text: str) -> str:
    """Why the answer to the question at the end of a vignette is no diagnosis; "" where it is, or nothing is asked."""
    last = _SENTENCE.split(text.strip())[-1]
    return "" if not last.endswith("?") or _DIAGNOSES.search(last) else _NO_DIAGNOSIS


_NO_RESULTS = regex(
    r"(?i)\b(?:(?:text|information|report)\b[^.]{0,60}\bdo(?:es)? not (?:include|contain|mention|provide)"
    r"|no (?:numerical|specific|instrument)[^.]{0,40}(?:results|readings)|cannot generate|no instrument readings)\b"
)
"""A sheet of results that only says that the report has none."""


def _check_fields(
    record: Mapping[str, Json],
    texts: Iterable[str],
    *,
    maybe: Iterable[str] = (),
    others: Mapping[str, type] = MappingProxyType({}),
) -> None:
    """Raise Refused for `texts` that are missing, blank or no text, and for `others` that are not of their type.

    `maybe` names texts that a record need not have.
    """
    fields = {**dict.fromkeys((*texts, *maybe), str), **others}
    stated = {name: kind for name, kind in fields.items() if name not in maybe or record.get(name) is not None}
    faults = ((name, misfit(record.get(name), kind, may_be_empty=name in maybe)) for name, kind in stated.items())
    if wrong := [(name, why) for name, why in faults if why]:
        raise Refused(wrong)


class NejmVignettes(Loader):
    """AgentClinic's image challenges: question, patient's sheet, results, five answers of which one is right."""

    TITLE = "AgentClinic NEJM JSONL, one object with question, patient_info, physical_exams and answers a line"
    MARK = '"patient_info"'

    def knows(self, record: Json) -> float:
        """Match an object with a patient's sheet and answers."""
        return float(isinstance(record, dict) and {"question", "patient_info", "answers"} <= record.keys())

    def case(self, number: int, name: str, record: Json) -> Case:
        """The case of a line; the image is named in the provenance and not fetched."""
        _check_fields(record, ("question", "patient_info"), maybe=("physical_exams",), others={"answers": list})
        answers = record["answers"]
        if not _DIAGNOSES.search(record["question"].rpartition(". ")[2] or record["question"]):
            raise Refused([("question", _NO_DIAGNOSIS)])
        right = [one.get("text", "") for one in answers if isinstance(one, dict) and one.get("correct") is True]
        if len(right) != 1 or not str(right[0]).strip():
            raise Refused([("answers", f"must mark one answer as correct, marks {len(right)}")])
        case = vignette_case(
            f"nejm-{number:03d}",
            sentences_of(record["question"]),
            str(right[0]),
            Provenance(
                source="AgentClinic NEJM", record=str(record.get("image_url", number)), licence="see the data set"
            ),
        )
        said = (_ROLE.sub("", part) for part in _SENTENCE.split(record["patient_info"].replace("**", "").strip()))
        account = [part[:1].upper() + part[1:] for part in said if not _DIRECTED.search(part)]
        results = str(record.get("physical_exams") or "").strip()
        sheet = {"Patient's account": " ".join(account)} if account else {}
        if _NO_RESULTS.search(results):
            results = ""
        more = (Investigation(name="Results of the report", text=results),) if results else ()
        return case.model_copy(update={"history": sheet, "investigations": (*more, *case.investigations)})


class FactVignettes(Loader):
    """MediQ and its CRAFT-MD part as patients: the context sentence by sentence; `facts` are the history to ask for.

    The same file is read as questions by `lettered-choice`, which `--cases` prefers; `cases import --from mediq` asks
    for patients.
    """

    TITLE = "MediQ vignettes JSONL, one object with context, facts, options and answer_idx a line"

    def knows(self, record: Json) -> float:
        """Match a lettered question with facts, less surely than the loader of questions."""
        known = isinstance(record, dict) and {"context", "facts", "options", "answer_idx"} <= record.keys()
        return 0.5 if known else 0.0

    def case(self, number: int, name: str, record: Json) -> Case:
        """The case of a line; raises Refused where the question asks for no diagnosis."""
        _check_fields(record, ("question", "answer_idx"), others={"context": list, "facts": list, "options": dict})
        if not _DIAGNOSES.search(record["question"]):
            raise Refused([("question", "asks for no diagnosis; read the file as questions instead")])
        right = record["options"].get(record["answer_idx"])
        if not isinstance(right, str) or not right.strip():
            raise Refused([("answer_idx", f"{record['answer_idx']!r} is none of the options")])
        answer = record.get("answer")
        if isinstance(answer, str) and answer.strip() and answer.strip() != right.strip():
            raise Refused([("answer", f"is not the text of option {record['answer_idx']}")])
        sentences = [str(one).strip().rstrip(".") + "." for one in record["context"] if str(one).strip()]
        if not sentences:
            raise Refused([("context", "must not be empty")])
        where = Provenance(source="MediQ", record=str(record.get("id", number)), licence="CC BY 4.0")
        case = vignette_case(f"mediq-{record.get('id', number)}", sentences, right, where)
        facts = [re.sub(r"^\s*\d+[.)]\s*", "", str(fact)).strip() for fact in record["facts"]]
        own = [fact for fact in facts if fact and not _EXAMINED.search(fact) and not _TESTED.search(fact)]
        seen = {_flat(text) for part in case.examination for text in _SENTENCE.split(part.text)}
        spoken = [fact for fact in own if _flat(fact) not in seen]
        return case.model_copy(update={"history": {"Facts": "\n".join(spoken)}}) if spoken else case


def _flat(text: str) -> str:
    return re.sub(r"\W+", " ", text).strip().casefold()


class CaseReasoning(Loader):
    """MedCaseReasoning: the presentation, the clinicians' reasoning and the final diagnosis of case reports."""

    TITLE = "MedCaseReasoning JSONL, one object with case_prompt, diagnostic_reasoning and final_diagnosis a line"
    MARK = '"case_prompt"'

    def knows(self, record: Json) -> float:
        """Match an object with a case prompt and its final diagnosis."""
        return float(isinstance(record, dict) and {"case_prompt", "final_diagnosis"} <= record.keys())

    def case(self, number: int, name: str, record: Json) -> Case:
        """The case of a line."""
        _check_fields(record, ("case_prompt", "final_diagnosis"), maybe=("diagnostic_reasoning",))
        origin = str(record.get("pmcid") or number)
        dated = day_of(record.get("publication_date"))
        where = Provenance(source="MedCaseReasoning", record=origin, dated=dated, licence="CC BY 4.0")
        said = [part for line in record["case_prompt"].splitlines() for part in _SENTENCE.split(line.strip()) if part]
        reasoning = record.get("diagnostic_reasoning")
        return vignette_case(
            f"mcr-{origin}",
            said,
            record["final_diagnosis"],
            where,
            reasoning=(reasoning or "").strip(),
        )
