"""Makes the items of finished episodes of `item_writing`, and counts what was left out."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version

from wardround.engine.records import Ending, Json
from wardround.engine.text import count_noun
from wardround.scenarios.build_steps import BuildStep, EpisodeIntake, RunAccount, steps_table
from wardround.scenarios.case import Provenance
from wardround.scenarios.level_items.item_writing import PIECES, WRITTEN, Piece
from wardround.scenarios.level_items.source_question import SourceQuestion
from wardround.scenarios.level_items.text_rules import CHECKED, DISTRACTOR_RULES, STATEMENT_RULES
from wardround.scenarios.question_item import QuestionItem, QuestionTruth

_TASKS = ("statement", "rectification", "existence")


@dataclass(frozen=True, slots=True)
class WrittenText:
    """One text that was kept, with the question from which it was made."""

    source: SourceQuestion
    piece: Piece
    text: str


class ItemMaking(EpisodeIntake):
    """Makes the items of one question after another, and counts.

    Items come in pairs, one true and one false. A pair is made whole or not at all, so that chance stays 1/2.
    """

    def __init__(self) -> None:
        super().__init__("question", "the models could be asked")
        self._written = {
            piece: BuildStep(WRITTEN[0], f"{WRITTEN[1]}: {piece.replace('_', ' ')}", "text") for piece in PIECES
        }
        self._rules = [
            *(BuildStep(name, what, "statement") for name, what in STATEMENT_RULES),
            *(BuildStep(name, what, "distractor") for name, what in DISTRACTOR_RULES),
        ]
        self._checked = BuildStep(*CHECKED, "text")
        self._paired = BuildStep("paired", "both statements of the question were kept", "question")
        self.items: Counter[str] = Counter()
        self.texts: list[WrittenText] = []

    @property
    def steps(self) -> tuple[BuildStep, ...]:
        """The steps in their order."""
        return (self.finished, self.answered, *self._written.values(), *self._rules, self._checked, self._paired)

    def take(self, source: SourceQuestion, ending: Ending | None) -> list[QuestionItem]:
        """The items of one question; `ending` is None while its episode is open."""
        facts = self.facts(source.id, ending)
        if facts is None:
            return []
        texts: Mapping[Piece, str] = facts["texts"]
        for piece in PIECES:
            self._count(source, piece, facts)
        self.texts += [WrittenText(source, piece, texts[piece]) for piece in PIECES if piece in texts]
        made = [*self._statements(source, texts), *_rectifications(source), *_existences(source, texts)]
        self.items.update(item.form for item in made)
        return made

    def lost(self, name: str, rule: str, why: str) -> None:
        """Add a question to `dropped` about which the models could not be asked."""
        self.dropped.append({"id": name, "piece": "", "rule": rule, "why": why})

    def _statements(self, source: SourceQuestion, texts: Mapping[Piece, str]) -> list[QuestionItem]:
        self._paired.seen += 1
        if "true_statement" not in texts or "false_statement" not in texts:
            self._paired.drop()
            return []
        pair = ((texts["true_statement"], True), (texts["false_statement"], False))
        return [_item(source, "SV", holds, form="statement", question=text, options=()) for text, holds in pair]

    def _count(self, source: SourceQuestion, piece: Piece, facts: Mapping[str, Json]) -> None:
        """Count what became of a piece, rule by rule; a piece that was never asked for is not counted."""
        lost = facts["lost"].get(piece)
        if lost is None and piece not in facts["texts"]:
            return
        rule = "" if lost is None else str(lost["rule"])
        unit = "distractor" if piece == "distractor" else "statement"
        for step in (self._written[piece], *(one for one in self._rules if one.unit == unit), self._checked):
            step.seen += 1
            if step.rule == rule:
                step.drop()
                self.dropped.append({"id": source.id, "piece": piece, **lost})
                return


def _item(source: SourceQuestion, task: str, holds: bool, **fields: Json) -> QuestionItem:
    item = source.item
    base = {
        **dict(item),
        "id": f"{task}-{item.id}{'ab'[not holds]}",
        "level": "middle",
        "truth": QuestionTruth(holds=holds, rationale=item.truth.rationale),
        "source_group": item.source_group or item.id,
        "kind": (task, *item.kind),
        "variants": (),
        "provenance": Provenance(
            source=f"{item.provenance.source}, middle level by Wardround",
            record=item.provenance.record or item.id,
            licence=item.provenance.licence,
        ),
    }
    return QuestionItem.model_validate({**base, **fields})


def _rectifications(source: SourceQuestion) -> list[QuestionItem]:
    """Two rectifications: one offers the right option, the other a wrong one."""
    sides = ((source.right, True), (source.offered, False))
    return [
        _item(
            source,
            "MR",
            holds,
            form="rectification",
            offered=offered,
            truth=QuestionTruth(option=source.right, holds=holds, rationale=source.item.truth.rationale),
        )
        for offered, holds in sides
    ]


def _existences(source: SourceQuestion, texts: Mapping[Piece, str]) -> list[QuestionItem]:
    """Two questions of existence: the options as they are, and with the distractor in place of the right option."""
    if "distractor" not in texts:
        return []
    options = list(source.item.options)
    without = [*options[: source.right], texts["distractor"].rstrip(".。"), *options[source.right + 1 :]]
    sides = ((options, True), (without, False))
    return [_item(source, "AE", holds, form="existence", options=tuple(some)) for some, holds in sides]


@dataclass(slots=True, kw_only=True)
class ItemAccount(RunAccount):
    """The account of a build of items: `models` are by seat, `sheet` is the number of texts on the sheet for people."""

    models: Mapping[str, str]
    sheet: int = 0

    @property
    def one_model(self) -> bool:
        """Whether the texts were checked by the model that wrote them."""
        return len(set(self.models.values())) == 1

    def json(self) -> dict[str, Json]:
        """The whole account as JSON."""
        return {
            "source": self.source,
            "run": self.run,
            "models": dict(self.models),
            "checked_by_its_writer": self.one_model,
            "questions": self.read,
            "items": sum(self.made.values()),
            "forms": dict(self.made),
            "open": self.open,
            "seed": self.seed,
            "sheet": self.sheet,
            "flow": [step.json() for step in self.steps],
            "spent": dict(self.spent),
            "skipped": [{"question": name, "why": why} for name, why in self.skipped],
            "dropped": list(self.dropped),
            "options": self.options.model_dump(mode="json"),
            "versions": {"wardround": version("wardround"), "rapidfuzz": version("rapidfuzz")},
        }

    def text(self, most: int = 5) -> str:
        """The table for readers, with the first reasons."""
        models = ", ".join(f"{seat} {model}" for seat, model in self.models.items())
        said = [f"{self.source}: {count_noun(self.read, 'question')} read, run {self.run or '(none)'}, {models}"]
        said += steps_table(self.steps)
        forms = ", ".join(f"{self.made.get(form, 0):,} {form}" for form in _TASKS)
        said.append(f"{count_noun(sum(self.made.values()), 'item')} ({forms})")
        if self.one_model:
            said.append("the model that wrote the texts also checked them: name another by --checker")
        return "\n".join(
            (*said, *self.closing_lines("question", "item was made", "lost after the models were asked", most))
        )
