"""What a reply concludes is no step, however it is headed; what only speaks of a diagnosis is one."""

import pytest
from reasoned import judged, played, values

from wardround.evaluators.reasoning.evaluator import PublishedReasoning
from wardround.evaluators.reasoning.steps import ReplyContext, split

ENDS = [
    "### Diagnosis:\nGout",
    "**Diagnosis:** Gout",
    "**Diagnosis**: Gout\n\n**Treatment:** Colchicine",
    "### Treatment Plan:\n1. Colchicine\n2. Rest",
    "### Recommended Treatment\nColchicine",
    "### Most Likely Diagnosis:\nGout",
    "### Impression:\nGout",
    "Impression: Gout",
    "Diagnosis:\nGout",
    "Final Diagnosis - Gout",
    "### Conclusión:\nGota",
    "### Respuesta:\nGota",
    "### Diagnóstico final\nGota",
    "Réponse finale : goutte",
    "### Fazit\nGicht",
    "### Conclusione:\nGotta",
    "### 最可能的诊断\n痛风",
    "因此，最终诊断为痛风。",
    "Therefore, the final diagnosis is gout.",
    "The answer is gout",
    "In conclusion, it is gout.",
    "\\boxed{Gout}",
    "### Diagnosis:\nGout\n\n### Treatment Plan:\nColchicine",
]


@pytest.mark.parametrize("body", ["<step 1> a\n<step 2> b", "1. a\n2. b", "- a\n- b", "a\n\nb", "a\nb"])
def test_every_heading_of_a_conclusion(body: str) -> None:
    steps = {end: split(f"### Chain of Thought:\n{body}\n\n{end}").steps for end in ENDS}
    assert steps == dict.fromkeys(ENDS, ("a", "b"))


@pytest.mark.parametrize(
    "text",
    [
        "<step 1> a\n<step 2> b\n<step 3> Final diagnosis: appendicitis",
        "<step 1> a\n<step 2> b\n<step 3>\n**Conclusion:** appendicitis",
        "1. a\n2. b\n3. Conclusion: x",
        "1. a\n2. b\n3. Therefore, the most likely diagnosis is x.",
        "- a\n- b\n- **Diagnosis**: x\n- Treatment: y",
        "一、a\n二、b\n三、结论：阑尾炎",
        "a\n\nb\n\nSo the diagnosis is x.",
        "Diagnosis: x\na\nb",
        "a\n\nb\n\nAppendicitis",
        "<step 1> a\n<step 2> b\n<step 3> **Appendicitis.**",
        "### Razonamiento:\nPaso 1: a\nPaso 2: b\n### Respuesta:\nApendicitis",
    ],
)
def test_a_step_that_is_nothing_but_the_answer(text: str) -> None:
    assert split(text, played=ReplyContext(answer="Appendicitis")).steps == ("a", "b")


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("Fever is high. Therefore, the final diagnosis is gout.", ("Fever is high.",)),
        ("1. a\n2. The joint is red. Final answer: gout", ("a", "The joint is red.")),
        ("### Diagnosis\ngout\n\nThe joint is red.\n\nUrate is high.", ("The joint is red.", "Urate is high.")),
    ],
)
def test_a_conclusion_leaves_what_stands_beside_it(text: str, steps: tuple[str, ...]) -> None:
    assert split(text).steps == steps


@pytest.mark.parametrize(
    "step",
    [
        "The differential diagnosis: gout, flu.",
        "Differential diagnosis: gout, flu.",
        "The diagnosis of flu is unlikely.",
        "The diagnosis is not clear yet.",
        "The diagnosis is still open.",
        "Appendicitis is the answer that the scan points to.",
        "Diagnosis: gout, because the joint is red and urate is high.",
        "The most likely diagnosis is gout, since the joint is red.",
        "In conclusion, the scan shows that it is gout.",
        "诊断：痛风，因为关节红肿。",
        "The treatment plan depends on the kidneys.",
        "A woman whose diagnosis: of old was gout came back.",
    ],
)
@pytest.mark.parametrize("body", ["<step 1> a\n<step 2> {}", "1. a\n2. {}", "a\n\n{}", "<step 1> {}\n<step 2> b"])
def test_what_speaks_of_a_diagnosis_or_gives_its_reasons_is_a_step(body: str, step: str) -> None:
    found = split(body.format(step)).steps
    assert step in found
    assert len(found) == 2


def test_a_chapter_of_the_reasoning_is_no_conclusion() -> None:
    assert split("a\n\n### Differential Diagnosis:\ngout, flu").steps == ("a", "### Differential Diagnosis:\ngout, flu")
    plan = "Management Plan\n\nIt depends on the kidneys."
    assert split(f"1. a\n\nx\n\n2. {plan}").steps == ("a\n\nx", plan)
    assert split("<step 1> a\n**Diagnosis:** maybe gout\n<step 2> b").steps == ("a\n**Diagnosis:** maybe gout", "b")


@pytest.mark.parametrize(
    ("text", "how", "steps"),
    [
        ("### Reasoning: <step 1> a <step 2> b <step 3> as <step 1> says ### Answer: x", "tags", 3),
        ("<step 1> a <step 2> b", "tags", 2),
        ("[Step 1] a\n[Step 2] b", "tags", 2),
        ("**[Step 1]** a\n**[Step 2]** b", "tags", 2),
        ("- [Step 1]: a\n- [Step 2]: b", "tags", 2),
        ("【步骤1】a\n【步骤2】b", "tags", 2),
        ("<step-1> a\n<step_2> b", "tags", 2),
        ("< step 1 > a\n< step 2 > b", "tags", 2),
        ("<Step One> a\n<Step Two> b", "tags", 2),
        ("Step 1: a. Step 2: b. Final answer: x", "numbers", 2),
        ("①a\n②b", "numbers", 2),
        ("①a ②b ③c", "numbers", 3),
        ("Étape 1 : a\nÉtape 2 : b", "numbers", 2),
        ("Schritt 1: a\nSchritt 2: b", "numbers", 2),
    ],
)
def test_marks_in_every_shape(text: str, how: str, steps: int) -> None:
    found = split(text)
    assert (found.how, len(found.steps)) == (how, steps)
    assert [step[0] for step in found.steps] == ["a", "b", "a" if "as <" in text else "c"][:steps]
    assert all(sign not in "".join(found.steps) for sign in ("②", "Final", "【", "[Step"))
    assert len(split(text.partition("###" if text[0] != "#" else "### A")[0], "thinking").steps) == steps


def test_a_title_in_a_tag_is_kept() -> None:
    assert split("<step 1: Fever> It is high.\n<step 2: Scan> It is clear.").steps == (
        "Fever: It is high.",
        "Scan: It is clear.",
    )


@pytest.mark.parametrize(
    "text",
    [
        "The protocol has a <step 1> that nobody reads.",
        "He took the first [Step 1] and fell.",
        "In the criteria ② counts most.",
        "At step 2: nothing. At step 3: less.",
    ],
)
def test_a_word_about_a_step_is_no_mark(text: str) -> None:
    assert split(text).steps == (text,)


def test_nothing_but_questions_is_no_reasoning() -> None:
    assert split("Since when does it hurt? Any fever?").reason == "no_reasoning"
    assert split("疼痛多久了？").reason == "no_reasoning"
    assert split("Is it gout? The joint is red.").steps == ("Is it gout? The joint is red.",)


@pytest.mark.parametrize(
    ("scenario", "asks", "answers"),
    [
        ("workup", "Rationale: The pain moved.\nAction: LAB", "Diagnosis: Appendicitis"),
        ("consultation", "The pain moved. REQUEST TEST: CT_Abdomen", "DIAGNOSIS READY: Appendicitis"),
        ("consultation", "The pain moved.\nORDER: CT", "Appendicitis"),
    ],
)
async def test_a_judge_is_asked_about_the_reasoning_alone(scenario: str, asks: str, answers: str) -> None:
    scores, account = await judged(played(asks, answers, scenario=scenario))
    assert values(scores, "examination_steps_formal", "examination_efficiency_formal") == [(1.0, ""), (1.0, "")]
    assert values(scores, "efficiency_formal", "factuality_formal") == [(None, "no_reasoning")] * 2
    assert [step.text for part in account.parts for step in part.steps] == ["The pain moved."]
    assert values(scores, "completeness_formal") == [(1.0, "")]
    published, _ = await judged(played(asks, answers, scenario=scenario), by=PublishedReasoning)
    names = [f"published_{name}_formal" for name in ("efficiency", "factuality", "completeness")]
    assert values(published, *names) == [(0.0, "")] * 3


@pytest.mark.long
@pytest.mark.parametrize(
    "piece",
    [
        "Diagnosis: x\n",
        "### Diagnosis:\nx\n\n",
        "**Diagnosis:** x\n\n",
        "Therefore, the diagnosis is x. ",
        "a. Diagnosis: x. ",
        "ORDER: x\n",
        "DIAGNOSIS READY: x\n",
        "[Step 1] a\n",
        "<step 1: a",
    ],
)
def test_a_megabyte_of_conclusions_is_split(piece: str) -> None:
    """Ends at all: quadratic work would outlast the time limit of a test."""
    told = split(piece * (1_000_000 // len(piece)), played=ReplyContext("workup", asking=True, answer="x"))
    assert bool(told.steps) != bool(told.reason == "no_reasoning")
