"""The typed verb `answer` of the scenario `questions`: its arguments by form, and how they are read."""

from wardround.engine.records import Action, Json
from wardround.scenarios.parsers.choices import Answered
from wardround.scenarios.parsers.moves import Unusable, schema_of
from wardround.scenarios.question_item import LETTERS, QuestionItem


def answer_schemas(item: QuestionItem) -> dict[str, Json]:
    """The verb `answer` with the arguments of the item's form."""
    letters = {"type": "string", "enum": list(LETTERS[: len(item.options)])}
    if not item.closed:
        text = {"type": "string", "description": "The answer."}
        return {"answer": schema_of("Answer the question.", text=text)}
    if item.form == "choice":
        option = {**letters, "description": "The letter of the right option."}
        return {"answer": schema_of("Choose the right option.", option=option)}
    holds = {"type": "boolean", "description": _HOLDS[item.form]}
    if item.form == "rectification":
        right = {
            "type": "string",
            "enum": ["", *letters["enum"]],
            "description": "The right one, if the answer is not.",
        }
        return {"answer": schema_of("Judge the offered answer.", holds=holds, option=right)}
    return {"answer": schema_of("Say true or false.", holds=holds)}


_HOLDS = {
    "statement": "Whether the statement is true.",
    "existence": "Whether the right answer is among the options.",
    "rectification": "Whether the offered answer is right.",
}


def written_answer(item: QuestionItem, action: Action) -> str:
    """A typed answer as it would be written."""
    letter, holds = action.args.get("option"), action.args.get("holds")
    match item.form:
        case "choice":
            return f"Answer: {letter}"
        case "statement":
            return f"Answer: {'true' if holds else 'false'}"
        case "existence":
            return f"Answer: {'yes' if holds else 'no'}"
        case "rectification":
            return "Answer: correct" if holds else f"Answer: incorrect, the correct answer is {letter}"
    return action.text.strip()


def typed_answer(item: QuestionItem, action: Action) -> Answered | Unusable:
    """What the verb answers, by the options as shown; any JSON is accepted, and what makes no answer is unusable."""
    letter, holds = action.args.get("option"), action.args.get("holds")
    if not item.closed:
        return Answered() if action.text.strip() else Unusable("empty", "an answer without text", "bad_arguments")
    if item.form != "choice" and not isinstance(holds, bool):
        return Unusable("unreadable", "an answer without `holds`, true or false", "bad_arguments")
    if item.form in ("statement", "existence") or (item.form == "rectification" and holds):
        return Answered(holds=holds)
    named = letter.strip().upper() if isinstance(letter, str) else ""
    index = LETTERS[: len(item.options)].find(named) if len(named) == 1 else -1
    if index < 0:
        wrong = item.form == "rectification" and not letter
        return Answered(holds=False) if wrong else Unusable("unreadable", "no option by its letter", "bad_arguments")
    return Answered(index, False if item.form == "rectification" else None)
