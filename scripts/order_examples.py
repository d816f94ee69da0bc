"""Writes docs/records/order_examples.md: twenty orders and twenty questions with the answers of a bundled case.

`python -m scripts.order_examples`
"""

from collections.abc import Iterator
from pathlib import Path

from wardround.agents.history.interview import answer_from_story
from wardround.scenarios.case import Case, case_results
from wardround.scenarios.loaders.load import bundled, load
from wardround.scenarios.orders.chart import read_chart
from wardround.scenarios.orders.examiner_lookup import answer
from wardround.scenarios.orders.order_reading import Piece, read_order

PAGE = Path(__file__).resolve().parents[1] / "docs/records/order_examples.md"
CASE = "wa-001"
ORDERS = (
    "CBC, BMP and LFTs",
    "urine culture, blood culture",
    "CSF glucose and serum glucose",
    "urine Na, serum Na",
    "pelvic exam, CT abdomen",
    "repeat troponin in 3 hours",
    "vancomycin trough",
    "pleural fluid LDH, protein, glucose and cytology",
    "CMV IgM, CMV PCR",
    "CT abdomen and pelvis, no contrast",
    "hold the metformin and check an A1c",
    "RPR; if positive, confirm with FTA-ABS",
    "24 hr urine collection for protein and creatinine",
    "I'd like inflammatory markers (ESR, CRP) and a ferritin",
    "CT",
    "hemglobin, platlets, blorbogram",
    "Natrium im Urin, Röntgen Thorax",
    "échographie abdominale, pas de scanner",
    "hemograma y radiografía de tórax",
    "血常规、腹部B超",
)

QUESTIONS = (
    "Hello, what brings you in today?",
    "When did it start?",
    "And what were you doing?",
    "Where exactly does it hurt?",
    "Does it go anywhere else?",
    "What does it feel like?",
    "Does anything make it better?",
    "Any fever or cough?",
    "Have you been sick?",
    "Are you short of breath?",
    "You haven't had this before, have you?",
    "What illnesses have you had?",
    "Which tablets do you take?",
    "Are you allergic to anything?",
    "Any heart trouble in the family?",
    "Do you smoke, and do you drink?",
    "What do you do for a living?",
    "Have you got any pets?",
    "What did your blood tests show?",
    "What do you think it is?",
)


def main(page: Path = PAGE) -> None:
    """Write the page to a file."""
    cases = [case for path in bundled() for case in load(path)]
    case = next(case for case in cases if isinstance(case, Case) and case.id == CASE)
    page.write_text("\n".join(_page(case)) + "\n", encoding="utf-8")


def _page(case: Case) -> Iterator[str]:
    yield "# Twenty orders and twenty questions"
    yield ""
    yield f"`python -m scripts.order_examples` writes this page. The answers are those of the bundled case {case.id}."
    yield "Each order is read as `wardround orders TEXT` shows it; `labs[3]` and the like cite the field of the case."
    chart = read_chart(case_results(case))
    for number, order in enumerate(ORDERS, 1):
        reading = read_order(order)
        yield f"\n## {number}. {order}\n"
        yield "| piece | status | tests |"
        yield "|---|---|---|"
        yield from (f"| {piece.text} | {piece.status} | {_tests(piece)} |" for piece in reading.pieces)
        if reading.context:
            yield f"\nContext: {' '.join(reading.context)}"
        yield ""
        for line in answer(chart, order):
            cited = f" ({', '.join(line.refs)})" if line.refs else ""
            yield f"- {line.state}: {' '.join(line.text.split())[:160]}{cited}"
    yield "\n## Twenty questions\n"
    yield "What the record patient (`--patient record`) of the same case says, one talk from the first to the last.\n"
    yield "| question | answer |"
    yield "|---|---|"
    before = ""
    for number, question in enumerate(QUESTIONS, 1):
        said = answer_from_story(case.history, case.complaint, QUESTIONS[:number], before).text
        before = f"{before} {said}".strip()
        yield f"| {question} | {said} |"


def _tests(piece: Piece) -> str:
    said = []
    for one in piece.concepts:
        axes = ", ".join(part for part in (one.specimen, one.method, one.timing) if part)
        said.append(f"{one.name}{f' ({axes})' if axes else ''}")
    return "; ".join(said) or piece.why


if __name__ == "__main__":
    main()
