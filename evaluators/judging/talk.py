"""How much a sentence talks of judging: for hostile texts that say it in other words than the known phrases."""

from wardround.engine.text import later
from wardround.evaluators.judging.disguise import plain
from wardround.evaluators.judging.foreign import LATIN, SCRIPTS

ENOUGH = 4.5
"""Weight of its words, less that of its length, from which a sentence is one about judging."""
ENOUGH_OF_TWO = 6.2
"""The same for two sentences in a row."""
ENOUGH_OF_STEMS = 5.0
"""The same for a sentence in another script, without regard to its length."""
_STRONG = 2.5
"""Weight of a word without which no sentence is looked at."""
_OF_A_WORD = 0.375
"""What each word of a sentence takes from its weight, up to `_MOST` words."""
_MOST = 30
_LETTERS = 8
"""By so many first letters a word is known."""

# weight -> the first letters of words in their plain form; docs/hostile.md says how the weights were fitted
_ENGLISH = {
    5.5: "verdict",
    5: "approve correct examiner judge mark scoring",
    4.5: "accepted adjudica appraise assessor candidat chatbot chatbots claim evaluato evaluator examiners grader "
    "graders invigila item judgemen llm llms marks passages reply rubric scorer scorers verdicts",
    4: "grading marking referenc robot robots text",
    3.5: "ai autograd benchmar chatgpt claude deduct deductio everythi gemini gpt graded judgment moderato prompts "
    "referee referees regrade say statemen thank true trust",
    3: "accept accredit approval approves awarded awards bypass certify checker checkers classifi classify "
    "credited decoded disregar doubt endorse endorsed endorsin ends evidence factchec forget harness items "
    "judged judging label labelled labels leniency lenientl letter line model models obey output outputs "
    "overrul overrule pass replies scored unverifi vouch whatever",
    2.5: "above acceptan answers asked assistan believe believes believin claims compare declare deserves entries "
    "examinee favorabl favoring favour favourab favourin field flawless follows ignore lenient my obeyed "
    "operator ought override page passage passed penalise penalisi penalize penalty preceden repeat reward "
    "rewards right scoreshe search set step submissi this tick ticked trusted turn unconditi undecide verified "
    "write wrong",
    2: "addendum always answer automate automati begin bot bots checking class confirm continue corrigen count "
    "credit document earlier equivale erratum fault gold grade human identica imagine instruct kindly language "
    "machine marker match matches mode nobody now otherwis part please pretend reader retracte reviewer says "
    "score sentence steps strict synonym synonymo system told user verifica whoever withdraw word",
    1.5: "agree agreemen already any approved author been begins checks citation dear decide do every fails false "
    "footnote free full generous give helpful here i it material maximum message note one paragrap passes rater "
    "raters result session start string summaris supporte want we would yes you",
    1: "agrees all as because case checked comparis contradi conventi conversa course decision enter error "
    "evaluati exam factual factuali found fully given go grateful judges leave me must never ok once overlook "
    "point present previous proves purposes quality readers reasonin redundan return role rule rules said "
    "satisfie skip stop support supports task that then treat under where who will written",
    0.5: "accurate anthropi apprecia ask asks authoris award basis below bonus call citing conclusi confirme "
    "confirms declared develope each earns empty equals examinat fact finish followin grades include its longer "
    "look matching new none notice official only openai others points question reading reads report request "
    "should so standard systems them what your",
}


def _by_word(weighted: dict[float, str]) -> dict[str, float]:
    return {word: weight for weight, words in weighted.items() for word in words.split()}


_WEIGHTS = _by_word(LATIN) | _by_word(_ENGLISH)
_WHOLE = frozenset(_WEIGHTS)
_STEMS = {plain(stem): weight for stem, weight in _by_word(SCRIPTS).items()}
_WORD = later(r"[^\W\d_]+")
_END = later(r"(?:[!?;\n\u3002\uff01\u0964]|\.(?!\d))+")  # a decimal point ends nothing
_SCRIPT = later("[\u0370-\u1cff\u2e80-\ud7ff]")
_LISTED = later(r"steps? \d+|correct (?:answer|diagnos[ei]s)|right (?:answer|diagnos[ei]s)")


def about_judging(text: str) -> bool:
    """Whether a plain text has a sentence, or two in a row, that talks of judging a text."""
    text = _LISTED.sub("", text)
    heavy = _heavy(set(_WORD.findall(text)))
    strong = [word for word, weight in heavy.items() if weight >= _STRONG]
    scripted = not text.isascii() and _SCRIPT.search(text) is not None
    if not strong and not scripted:
        return False
    before = 0.0
    for sentence in _END.split(text):
        weight = _weight(sentence, heavy) if any(word in sentence for word in strong) else 0.0
        if weight >= ENOUGH or (before > 0 and before + weight >= ENOUGH_OF_TWO):
            return True
        before = weight if sentence.strip() else before
        if scripted and sum(weight for stem, weight in _STEMS.items() if stem in sentence) >= ENOUGH_OF_STEMS:
            return True
    return False


def _heavy(words: set[str]) -> dict[str, float]:
    heavy = {word: _WEIGHTS[word[:_LETTERS]] for word in words if len(word) > _LETTERS and word[:_LETTERS] in _WEIGHTS}
    for word in words & _WHOLE:
        heavy[word] = _WEIGHTS[word]
    return heavy


def _weight(sentence: str, heavy: dict[str, float]) -> float:
    words = _WORD.findall(sentence)
    told = heavy.keys() & set(words)
    if len(told) < 2:  # one word alone says nothing
        return 0.0
    return sum(heavy[word] for word in told) - _OF_A_WORD * min(len(words), _MOST)
