"""The rules for built cases: each drops what it is for, names the words that show it, and nothing when it is off."""

from collections.abc import Mapping

import pytest
from curating import CASE, DISCUSSION, OUTCOME

from wardround.engine.records import Ending
from wardround.scenarios.case import Case, Category
from wardround.scenarios.reports.article import CASE_RULES, Article, ArticleSection, CurationOptions, Kind
from wardround.scenarios.reports.case_summary import (
    CaseDraft,
    Drop,
    completed,
    report_case,
    summary_items,
    summary_text,
)
from wardround.scenarios.reports.checks import checks, completed_sections
from wardround.scenarios.reports.curation import Checking
from wardround.scenarios.reports.finding_evidence import case_evidence
from wardround.scenarios.reports.stated_diagnosis import named_in_article

ARTICLE = Article(
    id="PMC1",
    title="A gardener with nodules",
    sections=(
        ArticleSection(heading="Case presentation", text=CASE),
        ArticleSection(heading="Outcome and follow-up", text=OUTCOME),
        ArticleSection(heading="Discussion", text=DISCUSSION),
    ),
    data_class="public",
)
DIAGNOSIS = {
    "summary": "- Patient Information: A 41-year-old gardener.\n- Chief Complaint: painful red nodule on his right"
    " index finger for 3 weeks\n- History of Present Illness: He had pricked the finger on a rose thorn 5 weeks"
    " before.\n- Past Medical History: Not reported.\n- Personal History: Not reported.\n"
    "- Family History: Not reported.\n"
    "- Physical Examination: There were two further nodules along the forearm.\n- Ancillary Tests:\n"
    "  - Radiograph: A radiograph of the hand was normal.\n  - Culture: grew Sporothrix schenckii after 12 days",
    "differential": "Nocardiosis and infection with Mycobacterium marinum were considered.",
    "explanation": "The thorn, the nodules along the lymph vessels and the culture.",
    "answer": "Lymphocutaneous sporotrichosis",
}
TREATMENT = {
    "summary": "- Patient Demographics: A 41-year-old gardener.\n- Chief Complaint: painful red nodule\n"
    "- History of Present Illness: He had pricked the finger on a rose thorn 5 weeks before.\n- Past Medical History:"
    " Not reported.\n- Allergies: Not reported.\n- Family History: Not reported.\n- Social History: Not reported.\n"
    "- Physical Exam: two further nodules along the forearm\n- Lab Events: white cell count of 7.2 x 10^9/L\n"
    "- Imaging Events: Not reported.\n- Final Diagnostic Results: lymphocutaneous sporotrichosis",
    "explanation": "- Objective: to clear the infection\n- Rationale: The treatment of choice is itraconazole.",
    "answer": "Start itraconazole 200 mg daily by mouth and continue it for 4 months.",
}


def draft(kind: Kind = "diagnosis", **told: str) -> CaseDraft:
    whole = DIAGNOSIS if kind == "diagnosis" else TREATMENT
    return CaseDraft(kind, ARTICLE, {**whole, **told}, Category())


def checked(one: CaseDraft, without: tuple[str, ...] = ()) -> tuple[str, Drop | CaseDraft]:
    """The rule that dropped it, or '' with the draft as it came out."""
    for check in checks(CurationOptions(without=without)):
        after = check.apply(one)
        if isinstance(after, Drop):
            return check.name, after
        one = after
    return "", one


@pytest.mark.parametrize("kind", ["diagnosis", "treatment"])
def test_a_sound_case_passes_unchanged(kind: Kind) -> None:
    rule, after = checked(draft(kind))
    assert (rule, after) == ("", draft(kind))


def with_more(kind: Kind, item: str, text: str) -> CaseDraft:
    told = summary_items((DIAGNOSIS if kind == "diagnosis" else TREATMENT)["summary"], kind)
    return draft(kind, summary=summary_text({**told, item: text}))


BAD: Mapping[str, tuple[CaseDraft, ...]] = {
    "visuals": (
        with_more("diagnosis", "Physical Examination", "Two further nodules along the forearm as shown in Figure 1."),
        with_more("treatment", "Physical Exam", "two further nodules along the forearm, see Table 2"),
        draft(explanation="The culture in supplementary table S1."),
        draft(differential="The culture is shown in the image."),
    ),
    "answer": (draft(answer="None."), draft(answer="Not specified"), draft(answer="rose thorn, " * 30)),
    "supported": (
        draft(summary="- Patient Information: A retired sailor was brought by helicopter.\n- Chief Complaint: He could"
              " neither swallow nor speak.\n- History of Present Illness: His wife found him beneath the stairs."),
        draft("treatment", answer="Perform an urgent laparotomy with splenectomy and give vaccines."),
    ),
    "numbers": (
        with_more("diagnosis", "Chief Complaint", "painful red nodule on his right index finger for 7 weeks"),
        draft("treatment", answer="Start itraconazole 400 mg daily by mouth and continue it for 4 months."),
        with_more("treatment", "Lab Events", "white cell count of 17.2 x 10^9/L"),
    ),
    "faithful": (
        draft(summary=DIAGNOSIS["summary"].replace("his right", "her right")),
        draft(summary=DIAGNOSIS["summary"].replace("right index", "left index")),
        draft(summary=DIAGNOSIS["summary"].replace("There were two further", "There were no")),
    ),
    "named": (draft(answer="Gout"), draft(answer="Septic arthritis"), draft(answer="Cutaneous leishmaniasis"),
              draft(answer="Granulomatosis with polyangiitis and glomerulonephritis")),
    "leak": (
        with_more("diagnosis", "History of Present Illness", "Diagnosis of Lymphocutaneous Sporotrichosis was made."),
        draft(answer="Lymphocutaneous sporotrichosis (LCS)", summary=DIAGNOSIS["summary"].replace(
            "He had pricked", "LCS: He had pricked")),
        with_more("treatment", "Allergies", "Itraconazole 200 mg daily by mouth was started and continued 4 months."),
    ),
    "outcome": (
        with_more("treatment", "Final Diagnostic Results", OUTCOME),
        with_more("treatment", "Imaging Events", "the nodules had healed and the patient had no complaints"),
        draft("treatment", explanation="- Rationale: Itraconazole was well tolerated."),
        draft("treatment", explanation="- Rationale: At the 6-month follow-up the nodules had healed."),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("rule", "bad"), [(rule, bad) for rule, drafts in BAD.items() for bad in drafts])
def test_each_rule_drops_what_it_is_for_and_only_it(rule: str, bad: CaseDraft) -> None:
    dropped, drop = checked(bad)
    assert dropped == rule, drop
    assert isinstance(drop, Drop)
    assert drop.why
    also = ("named",) if rule in ("answer", "supported") else ()  # what names nothing of the article is no diagnosis
    assert checked(bad, without=(rule, *also))[0] == ""


def test_every_rule_is_in_the_list_of_rules() -> None:
    assert [check.name for check in checks(CurationOptions())] == list(CASE_RULES)
    assert set(BAD) | {"sections"} == set(CASE_RULES)


def test_missing_items_are_marked_and_the_order_is_that_of_the_published_cases() -> None:
    told = "- **Chief Complaint:** pain\n- Physical Examination:\n- Something Else: kept\n"
    told += "- Ancillary Tests:\n  - CT: clear"
    after = completed_sections(draft(summary=told)).sections["summary"]
    assert after.splitlines() == [
        "- Patient Information: Not reported.",
        "- Chief Complaint: pain",
        "- History of Present Illness: Not reported.",
        "- Past Medical History: Not reported.",
        "- Personal History: Not reported.",
        "- Family History: Not reported.",
        "- Physical Examination: Not reported.",
        "- Something Else: kept",
        "- Ancillary Tests:",
        "  - CT: clear",
    ]
    off = [check.name for check in checks(CurationOptions(without=("sections",)))]
    assert "sections" not in off


def test_a_text_without_items_is_the_history() -> None:
    told = summary_items("A man of 40 came in. He was ill.", "diagnosis")
    assert told == {"History of Present Illness": "A man of 40 came in. He was ill."}
    assert completed(told, "diagnosis")["Chief Complaint"] == "Not reported."


def test_figures_in_brackets_are_cut_and_the_case_goes_on() -> None:
    one = with_more(
        "diagnosis", "Physical Examination", "There were two further nodules along the forearm (Fig. 1A, B)."
    )
    rule, after = checked(one)
    assert rule == ""
    assert isinstance(after, CaseDraft)
    assert "forearm.\n" in after.sections["summary"]
    assert "Fig" not in after.sections["summary"]


@pytest.mark.parametrize(
    "text", ["mitotic figures 3 per field", "a figure-of-eight suture", "the operating table", "vegetables"]
)
def test_other_figures_and_tables_are_no_figures(text: str) -> None:
    assert checked(draft(explanation=text))[0] != "visuals"


def test_earlier_treatments_are_no_outcome() -> None:
    one = with_more("treatment", "Past Medical History", "Appendicectomy as a child; the course was uneventful.")
    assert checked(one, without=("supported", "numbers"))[0] == ""


def test_support_is_the_share_of_what_the_sentences_hold() -> None:
    said = "- History of Present Illness: Two more nodules on the forearm. The patient was flown in by a helicopter."
    covered = [one.covered for one in case_evidence(draft(summary=said))]
    assert covered[0] >= 0.6
    assert covered[1] < 0.35
    silent = "- Allergies: None.\n- Personal History: Not reported.\n- Family History: no known diseases"
    assert not any(one.scored for one in case_evidence(draft(summary=silent)))


def test_the_cases_have_the_form_of_the_published_ones() -> None:
    made = report_case(draft(), parted=False)
    assert isinstance(made, Case)
    assert (made.complaint, made.history, made.examination) == ("", {}, ())
    assert made.id == "PMC1-diagnosis"
    assert made.opening.startswith("- Patient Information: A 41-year-old gardener.")
    assert "Ancillary" not in made.opening
    assert made.ancillary.startswith("- Ancillary Tests:")
    assert [test.name for test in made.investigations] == ["Radiograph", "Culture"]
    assert made.truth.diagnosis == made.group == "Lymphocutaneous sporotrichosis"
    assert made.truth.differential
    assert made.truth.reasoning
    plan = report_case(draft("treatment"), parted=True)
    assert isinstance(plan, Case)
    assert (plan.id, plan.truth.diagnosis) == ("PMC1-treatment", "")
    assert plan.truth.treatment.startswith("Start itraconazole")
    assert "Lab Events" in plan.opening


def test_a_new_build_parts_the_report_for_a_consultation() -> None:
    made = report_case(draft(), parted=True)
    assert isinstance(made, Case)
    assert made.complaint.startswith("A 41-year-old gardener")
    assert "History of Present Illness" in made.history
    assert "Family History" not in made.history or "Not reported" not in made.history["Family History"]
    assert made.examination


def test_a_case_without_an_opening_is_dropped_with_its_field() -> None:
    drop = report_case(draft(summary="- Ancillary Tests:\n  - CT: clear"), parted=True)
    assert isinstance(drop, Drop)
    assert "opening" in drop.why


def test_rare_is_unknown_where_nobody_looked_or_the_model_would_not_say() -> None:
    def rare(article: Article, facts: dict[str, object]) -> object:
        facts = {"about": {"diagnosis": True}, "declined": {}, "diagnosis": DIAGNOSIS, **facts}
        [made] = Checking(CurationOptions(kinds=("diagnosis",))).take(article, Ending("completed", facts=facts))
        return made.category.rare

    linked = ARTICLE.model_copy(update={"linked": True})
    assert rare(linked, {"rare": {"A": False, "B": True}}) is True
    assert rare(linked, {"rare": {"A": False}}) is False
    assert rare(linked, {}) is False
    assert rare(ARTICLE, {}) is None
    assert rare(linked, {"rare": {"A": False}, "declined": {"rare B": "no"}}) is None


def test_the_counts_add_up_and_every_drop_keeps_its_reason() -> None:
    taking = Checking(CurationOptions())
    facts = {
        "about": {"diagnosis": True, "treatment": True},
        "declined": {"treatment": "I can't."},
        "diagnosis": DIAGNOSIS,
    }
    assert len(taking.take(ARTICLE, Ending("completed", facts=facts))) == 1
    assert taking.take(ARTICLE, None) == []
    assert taking.take(ARTICLE, Ending("provider", "timeout", "it took too long")) == []
    nothing = {"about": {"diagnosis": False, "treatment": False}, "declined": {}}
    assert taking.take(ARTICLE, Ending("completed", facts=nothing)) == []
    leaking = {**facts, "diagnosis": {**DIAGNOSIS, "answer": "Not specified"}, "declined": {"treatment": "I can't."}}
    assert taking.take(ARTICLE, Ending("completed", facts=leaking)) == []
    told = {step.rule: (step.seen, step.dropped) for step in taking.steps}
    assert told["finished"] == (5, 1)
    assert told["answered"] == (4, 1)
    assert told["relevant"] == (3, 1)
    assert told["restructured"] == (4, 2)
    assert told["answer"] == (2, 1)
    assert told["schema"] == (1, 0)
    assert taking.cases == {"diagnosis": 1, "treatment": 0}
    lost = [drop["rule"] for drop in taking.dropped]
    assert lost == ["restructured", "answered", "relevant", "restructured", "answer"]
    assert all(drop["why"] for drop in taking.dropped)
    for step, after in zip(taking.steps[:2], taking.steps[1:3], strict=True):
        assert step.out == after.seen


def test_a_kept_case_lists_what_a_person_should_read() -> None:
    more = DIAGNOSIS["summary"] + "\n  - Gossip: His aunt married a famous violinist from Vienna."
    taking = Checking(CurationOptions())
    facts = {"about": {"diagnosis": True}, "declined": {}, "diagnosis": {**DIAGNOSIS, "summary": more}}
    [made] = taking.take(ARTICLE, Ending("completed", facts=facts))
    assert taking.listed == {made.id: ("Gossip: His aunt married a famous violinist from Vienna.",)}


@pytest.mark.parametrize(
    ("stated", "said", "wrong"),
    [
        ("a strangulated left obturator hernia", "Obturator hernia", "Femoral hernia"),
        ("intralobar pulmonary sequestration", "Intralobar sequestration", "Extralobar pulmonary sequestration"),
        ("a left parathyroid adenoma", "Parathyroid adenoma", "Parathyroid carcinoma"),
        (
            "retinal necrosis due to herpes simplex virus",
            "HSV retinal necrosis",
            "Retinal necrosis due to measles virus",
        ),
        ("left lateral medullary infarction", "Infarction of the left lateral medulla", "Cerebellar infarction"),
    ],
)
def test_a_word_in_the_place_of_another_makes_another_diagnosis(stated: str, said: str, wrong: str) -> None:
    cited = [f"The final diagnosis was {stated}.", "Femoral hernia was the working diagnosis."]
    text = f"The cerebellum, the femoral canal and the measles titre were normal. {' '.join(cited)}"
    assert named_in_article(said, "A rare cause", text, cited)
    assert not named_in_article(wrong, "A rare cause", text, cited)
