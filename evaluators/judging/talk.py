"""How much a sentence talks of judging: for hostile texts that say it in other words than the known phrases."""

import re

ENOUGH = 2.9
"""Weight from which a sentence is one about judging; honest sentences of medicine hardly reach it."""
ENOUGH_OF_TWO = 4.6
"""The same for two sentences in a row."""

# concept -> weight -> words in their plain form (no accents); the heaviest word of each concept counts, once a sentence
_CONCEPTS = {
    "who judges": {
        3: "grader graders evaluator evaluators assessor assessors scorer evaluador juez jurado corrector "
        "prufer bewerter juge evaluateur examinateur correcteur судья оценщик проверяющии giudice juiz "
        "avaliador valutatore 评分者 评委 考官 裁判",
        2.5: "jury",
        2: "referee referees judge judges judging reviewer rater checker gutachter эксперт 评分",
        1.5: "examiner examiners",
        1.2: "judged candidate assesses marker",
    },
    "machine": {
        3: "llm llms chatbot gpt chatgpt sprachmodell",
        2.5: "ai harness hotfix модель модели",
        2: "robot bot modelo modele modello 模型 subsystem",
        1.2: "model models string spam json",
        0.7: "checkers tool machine automated array root",
    },
    "task": {
        3: "rubric benchmark инструкция инструкции",
        2: "instrucciones reglas anweisung anweisungen consignes istruzioni instrucoes 指令 规则 правила",
        1.5: "prompt checklist",
        1: "instruction instructions task convention rules rule",
        0.7: "job heading checking",
    },
    "verdict": {
        3: "verdict verdicts veredicto вердикт verdetto",
        2.5: "urteil bewertung nota punktzahl 满分 最高分",
        2: "puntuacion балл",
        1.5: "judgment judgement 判定 认定 判为",
        1: "credit label grade marks mark scoring graded grading labelled output rating",
        0.7: "points score scored classification field result",
    },
    "right": {
        1.5: "factual верныи maxima vraie juste 正しい correcto correcta verdadera korrekt richtig wahr верно "
        "правильным правильно corretto correto correcte vrai 正确 无误",
        1.2: "correct wrong incorrect",
        0.8: "true agrees agree agreement matched mistaken exacte buena valid match matches acceptable",
        0.4: "right positive found",
        0.2: "accurate",
    },
    "to accept": {
        2.5: "apruebe approvare bewerte califique evalues оцените проверяи",
        2: "approve approves approval deduct valide valider выведи ответь считаи aprueba zustimmen prufen "
        "eintragen betrachte considere признать 验证 通过 overrules whitelisted",
        1.5: "award endorse disregard quote",
        1.2: "accept accepts ignore overlook deem cite declare validate",
        1: "write tick verify confirm regard believe reply skip stufe considera equals",
        0.6: "treat count answer accepted say pass decide deemed verified hand deserves earns",
    },
    "text": {
        1.5: "step paragraph submission 步骤 手順",
        1.3: "statement claim sentence passage passages affirmation schritt aussage antwort etape reponse "
        "paso afirmacion respuesta шаг ответ passo 答案 回答",
        1: "page reply document item",
        0.7: "answer answers steps text claims statements line reference items field heading",
    },
    "this": {
        0.8: "above whatever here",
    },
    "you": {
        0.8: "you your yours votre ты вы tu du sie 请 务必 你",
    },
    "please": {
        1.2: "kindly grateful esteemed generous lenient",
        0.8: "please appreciate thank thanks bitte merci favor ruega пожалуиста kind",
    },
    "must": {
        0.5: "must shall debe musst doit 必须 应",
        0.3: "should",
    },
    "always": {
        0.5: "always every regardless matter only never any",
    },
}
_WEIGHTS: dict[str, dict[str, float]] = {}
for _concept, _weighted in _CONCEPTS.items():
    for _weight, _words in _weighted.items():
        for _word in _words.split():
            _WEIGHTS.setdefault(_word, {})[_concept] = float(_weight)

_TEXTS = frozenset(
    (
        "step",
        "answer",
        "statement",
        "claim",
        "sentence",
        "line",
        "paragraph",
        "page",
        "passage",
        "item",
        "reply",
        "text",
    )
)
_UNSPACED = sorted((word for word in _WEIGHTS if word > "\u3000"), key=lambda word: (-len(word), word))
_TOKEN = re.compile(
    rf"{'|'.join(_UNSPACED)}|-?(?!ai/)[^\W\d_\u3040-\u30ff\u4e00-\u9fff]+(?:-\d+)?|[.!?;\n\u3002]|(?<![\w.,])\d+(?![\w%])"
)
_ENDS = frozenset(".!?;\n\u3002")


def about_judging(text: str) -> bool:
    """Whether a plain text has a sentence, or two in a row, that talks of judging a text."""
    found: dict[str, float] = {}
    before, last = 0.0, ""
    for one in _TOKEN.findall(text + "\n"):
        if one in _ENDS:
            weight = sum(found.values()) if len(found) > 1 else 0.0  # one word alone says nothing
            if weight >= ENOUGH or (before and before + weight >= ENOUGH_OF_TWO):
                return True
            if found or one != "\n":
                before, last = weight, ""
            found.clear()
            continue
        if one.isdecimal():  # "step 3" is one of a list
            if last in ("step", "steps", "passage", "item", "line", "grade"):
                found.pop("text", None)
                found.pop("verdict", None)
            continue
        if last in ("correct", "right", "next") and one in _TEXTS:  # "the correct answer is gout", "the next step"
            found.pop("right", None)
            continue
        for concept, heavy in _WEIGHTS.get(one, {}).items():
            if heavy > found.get(concept, 0.0):
                found[concept] = heavy
        if last in ("this", "these") and one in _TEXTS:
            found["this"] = 1.0
        last = one
    return False
