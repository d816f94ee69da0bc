"""The scenario `questions`: one item of a question set, closed or open, in one turn or several.

It deals an item (order of the options, examples, attack), shows it, reads the answer and says how the episode ended.
"""

import json
import random
from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal, Self

import msgspec
from pydantic import BaseModel, ConfigDict, Field, model_validator

from wardround.engine.events import Acted
from wardround.engine.prompts import Prompts
from wardround.engine.records import Action, Ending, Json, Said, View
from wardround.engine.seat import seed_of
from wardround.scenarios.case import Provenance, image_reference
from wardround.scenarios.encounters.question_attacks import Attack, alter_question, claim, why_unalterable, wrong_answer
from wardround.scenarios.parsers.choices import (
    TIED,
    Answered,
    answer_schemas,
    is_scored,
    likeliest,
    option_logprobs,
    read_choice,
    read_rectification,
    read_verdict,
    typed_answer,
    written_answer,
)
from wardround.scenarios.parsers.moves import Conclusion, GameState, Unusable, checked_move
from wardround.scenarios.parsers.nonanswers import Instructions
from wardround.scenarios.parsers.reply_text import answer_part
from wardround.scenarios.published import question_tasks as published
from wardround.scenarios.question_item import LETTERS, EarlierMessage, QuestionItem, QuestionTruth, solution
from wardround.scenarios.record import Record

SYSTEM = "questions/system"
"""The prompt that becomes a model's system message, in place of the one for encounters. Older runs have none."""
POOL = "questions/pool"
"""The name under which the possible demonstrations are stored with a run's prompts."""
_LARGEST_POOL = 400
_LARGEST_PUBLISHED = 8_000
_MOST_TOKENS = 20
"""Number of alternatives for a token that are asked for: no endpoint gives more."""
_EMPTY = Unusable("empty", "the reply is empty")
_with = msgspec.structs.replace


class QuestionSettings(BaseModel):
    """The rules of the scenario `questions`."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    rules: Literal["default", "published"] = Field(
        default="default",
        description="How a reply is read and examples are drawn: without guessing, or as MultiCogEval's code does.",
    )
    max_warnings: int = Field(
        default=1, ge=0, le=100, description="Unreadable replies answered by a warning; one more ends the episode."
    )
    shots: int = Field(default=0, ge=0, le=20, description="Solved examples before the question, from other items.")
    thinking: bool = Field(default=False, description="Whether the model is asked to think step by step first.")
    options: Literal["reply", "logprobs"] = Field(
        default="reply",
        description="How options are compared: by what is replied, or by the log-probability of their first token.",
    )
    permute: bool = Field(default=False, description="Whether options are shown in an order drawn for each repeat.")
    images: Literal["none", "shown"] = Field(
        default="none", description="Whether questions with images are played: their images go to the model."
    )
    hide_question: bool = Field(
        default=False, description="Whether only the options are shown: what their form alone gives away."
    )
    attack: Attack = Field(
        default="none", description="How questions are altered, to see whether answers stand on what is asked."
    )
    seed: int = Field(default=0, ge=0, description="Seed of the options' order and of the examples.")

    @model_validator(mode="after")
    def _scored(self) -> Self:
        if self.options == "logprobs" and (self.thinking or self.rules == "published"):
            raise ValueError("options=logprobs reads the first token of a reply: leave thinking and rules out")
        return self


class DealtItem(QuestionItem):
    """An item as it is shown in one repeat: options in their shown order, and the examples before it.

    `order` gives the source's index of each shown option; readings are stored by these indices. `misled` is the wrong
    answer at which an authority hints, if the attack is `wrong_hint`.
    """

    repeat: int = 1
    misled: QuestionTruth | None = None
    order: tuple[int, ...] = ()
    examples: tuple[str, ...] = ()


_BLANK = DealtItem(
    id="-", form="free", question="-", truth=QuestionTruth(), provenance=Provenance(source="-"), data_class="public"
)
"""Each dealt item is a copy of this one. Its fields were checked when the item was read; a second check is slow."""


class Demonstration(Record):
    """A solved item that may stand before another one as an example."""

    id: str
    group: str
    form: str
    holds: bool | None
    text: str


class DemonstrationPool:
    """The items of a run from which examples are drawn: at most 400, chosen by seed, whatever the order of the items.

    Under the published rules they are the first 8,000 in the order of the source.
    """

    def __init__(self, scenario: "Questions") -> None:
        self._scenario, self._seed = scenario, scenario.settings.seed
        self._published = scenario.settings.rules == "published"
        self._most = _LARGEST_PUBLISHED if self._published else _LARGEST_POOL
        self._kept: list[tuple[int, Demonstration]] = []

    def add(self, item: QuestionItem) -> None:
        """Take an item into the pool, if it is closed and the run wants examples."""
        if self._scenario.settings.shots == 0 or not item.closed:
            return
        place = len(self._kept) if self._published else seed_of(self._seed, "pool", item.id)
        self._kept.append((place, self._scenario.demonstration(item)))
        if len(self._kept) > 2 * self._most:
            self._cut()

    def texts(self) -> Mapping[str, str]:
        """The pool as a text to be stored with the prompts of the run; empty if no examples are wanted."""
        self._cut()
        kept = [demonstration.model_dump() for _, demonstration in self._kept]
        return {POOL: json.dumps(kept, ensure_ascii=False)} if kept else {}

    def _cut(self) -> None:
        self._kept = sorted(self._kept, key=lambda pair: (pair[0], pair[1].id))[: self._most]


class QuestionState(GameState, frozen=True):
    """The state of a question: the item as shown, its text, the turn, and the event numbers of the usable answers."""

    item: DealtItem
    brief: str
    turn: int = 0
    answered: tuple[int, ...] = ()


class Questions:
    """A question and its answer, of one seat.

    ::

        question --answer--> completed
        question --unreadable reply--> warning, the same question; one too many: parser/unreadable
        open question with turns --answer--> next turn ... last turn --answer--> completed

    Reading never guesses: a reply that states no single answer is unreadable and counts against the model. Under the
    published rules, those of MultiCogEval's code, the first reply ends the episode. An answer that these rules cannot
    read is drawn by seed, and the fact `guessed` says so. Levels and forms are those of MultiCogEval (sections 3.1 and
    3.2) and LLMEval-Med (section 3.1).
    """

    name = "questions"
    goal = "answer"
    seats: Sequence[str] = ("doctor",)
    Settings = QuestionSettings
    Item = QuestionItem
    SAMPLING: ClassVar[dict[str, float]] = {"temperature": 0.0}
    REPEATS = 1

    def __init__(self, settings: QuestionSettings, prompts: Prompts) -> None:
        self.settings = settings
        self._published = settings.rules == "published"
        self._prompts = prompts
        texts = prompts.texts()
        self._system = prompts[SYSTEM].text if SYSTEM in texts else ""
        self._instructions = Instructions(
            text for name, text in texts.items() if name.startswith("questions/") and name != POOL
        )
        self._pool = tuple(Demonstration.model_validate(one) for one in json.loads(texts.get(POOL, "[]")))

    def lacks(self, item: QuestionItem) -> str | None:
        """Why an item cannot be played; None if it can."""
        if item.images and self.settings.images == "none":
            return "it has images: play it with --set images=shown and a model that reads them"
        return why_unalterable(item, self.settings.attack)

    def pool(self) -> DemonstrationPool:
        """A new pool, which collects possible examples while the items of a run are read."""
        return DemonstrationPool(self)

    def deal(self, item: QuestionItem, repeat: int) -> DealtItem:
        """The item as it is shown in a repeat: the order of its options and its examples are drawn by seed."""
        item = alter_question(item, self.settings.attack)
        order = list(range(len(item.options)))
        if self.settings.permute and item.form in ("choice", "rectification", "existence"):
            random.Random(seed_of(self.settings.seed, "options", item.id, repeat)).shuffle(order)
        changes = {
            "options": tuple(item.options[index] for index in order),
            "truth": _reorder_truth(item.truth, order),
            "offered": None if item.offered is None else order.index(item.offered),
            "repeat": repeat,
            "order": tuple(order),
            "examples": self._examples(item, repeat),
        }
        fields = {**dict(item), **changes}
        # what an attack changed was never checked
        dealt = _BLANK.model_copy(update=fields) if self.settings.attack == "none" else DealtItem(**fields)
        if self.settings.attack != "wrong_hint":
            return dealt
        draw = random.Random(seed_of(self.settings.seed, "hint", item.id, repeat))
        return dealt.model_copy(update={"misled": wrong_answer(dealt, draw)})

    def start(self, case: QuestionItem) -> QuestionState:
        """The state before the answer."""
        item = case if isinstance(case, DealtItem) else self.deal(case, 1)
        question = self._question_text(item)
        if item.examples:
            examples = "\n\n".join(item.examples)
            question = self._prompts["questions/demonstration"].render(examples=examples, question=question)
        if item.misled is not None:
            question += "\n\n" + self._prompts["questions/hint"].render(claim=claim(item, item.misled))
        if not item.before:
            return QuestionState(item, question)
        first, heard = _earlier(item.before)
        return QuestionState(item, first, heard=(*heard, Said(0, "desk", "question", question)))

    def turn(self, state: QuestionState) -> str:
        """The doctor, the only seat."""
        return "doctor"

    def view(self, state: QuestionState, seat: str) -> View:
        """The question, what was said since, and the options by letter."""
        item = state.item
        known: dict[str, Json] = {"form": item.form, "options": dict(zip(LETTERS, item.options, strict=False))}
        if self._system:
            known["system"] = self._system
        if item.offered is not None:
            known["offered"] = LETTERS[item.offered]
        if item.images:
            known["images"] = [image_reference(image) for image in item.images]
        if self._is_scored(item):
            known["logprobs"] = _MOST_TOKENS
        schemas = {} if self._published and item.closed else answer_schemas(item)
        return View(seat, state.brief, state.heard, ("reply", *schemas), known, schemas=schemas)

    def ending(self, state: QuestionState) -> Ending | None:
        """How the episode ended; None if it is still running."""
        return state.ending

    def apply(self, state: QuestionState, event: Acted) -> QuestionState:
        """The state after an answer."""
        state = state.replied(event)
        typed = event.action.verb == "answer"
        text = written_answer(state.item, event.action) if typed else answer_part(event.action.text).strip()
        if self._published and state.item.closed:
            return self._as_published(state, event.seq, event.action.text)
        reading = self._read(state.item, event.action)
        if not state.item.closed or event.finish in ("content_filter", "refusal"):
            whole = checked_move(Conclusion(text) if text else _EMPTY, event, self._instructions)
            reading = whole if isinstance(whole, Unusable) else reading
        elif isinstance(reading, Unusable):
            reading = checked_move(reading, event, self._instructions)
        if self._is_scored(state.item) and is_scored(event.action):
            return self._scored(state, event.seq, text, event.action)
        if not isinstance(reading, Unusable):
            return self._answered(state, event.seq, text, reading)
        warning = self._prompts["questions/warning"].render(why=reading.why)
        return state.warned(event.seq, reading, warning, self.settings.max_warnings, "unreadable")

    def demonstration(self, item: QuestionItem) -> Demonstration:
        """An item with its answer, as an example for others."""
        shown = DealtItem(**dict(item), order=tuple(range(len(item.options))))
        text = f"{self._question_text(shown, example=True)}\n{solution(item)}"
        return Demonstration(id=item.id, group=_group(item), form=item.form, holds=item.truth.holds, text=text)

    def _examples(self, item: QuestionItem, repeat: int) -> tuple[str, ...]:
        """Examples of the same form from other source questions; true and false ones alternate."""
        if not self.settings.shots or not item.closed:
            return ()
        draw = random.Random(seed_of(self.settings.seed, "examples", item.id, repeat))
        if self._published:
            return self._published_examples(item, draw)
        fitting = [one for one in self._pool if one.form == item.form and one.group != _group(item)]
        draw.shuffle(fitting)
        side, chosen = draw.random() < 0.5, list[str]()
        while fitting and len(chosen) < self.settings.shots:
            example = next((one for one in fitting if one.holds in (None, side)), fitting[0])
            chosen.append(example.text)
            fitting = [one for one in fitting if one.group != example.group]
            side = not side
        return tuple(chosen)

    def _published_examples(self, item: QuestionItem, draw: random.Random) -> tuple[str, ...]:
        """Examples by the rule of MultiCogEval's code: all rows but the one at the place that the item's number gives.

        Where numbers and places in the set differ, an item may therefore be among its own examples.
        """
        rows: dict[str, list[Demonstration]] = {}
        for one in self._pool:
            if one.form == item.form:
                rows.setdefault(one.group, []).append(one)
        number = int(item.source_group) if item.source_group.isdecimal() else -1
        count = min(self.settings.shots, len(rows) - 1, published.MOST_EXAMPLES)
        if count < 1:
            return ()
        drawn = published.sample(len(rows), number, count, draw)
        groups = list(rows.values())
        sides = [(groups[place], side) for place, side in zip(drawn.places, drawn.sides, strict=True)]
        return tuple(group[min(side, len(group) - 1)].text for group, side in sides)

    def _question_text(self, item: QuestionItem, *, example: bool = False) -> str:
        """The question with its options and documents, as the doctor reads it."""
        documents = "\n\n".join(item.context)
        thinks = self.settings.thinking and not example
        values = {
            "context": self._prompts["questions/context"].render(documents=documents) + "\n\n" if documents else "",
            "question": "" if self.settings.hide_question else item.question,
            "options": "\n".join(f"{letter}: {option}" for letter, option in zip(LETTERS, item.options, strict=False)),
            "offered": "" if item.offered is None else f"{LETTERS[item.offered]}: {item.options[item.offered]}",
            "reasoning": f"{self._prompts['questions/thinking'].text}\n" if thinks else "",
        }
        if self._is_scored(item) and not example:
            del values["reasoning"], values["offered"]
            return self._prompts[f"questions/{item.form}_scored"].render(**values).strip()
        return self._prompts[f"questions/{item.form}"].render(**values).strip()

    def _is_scored(self, item: QuestionItem) -> bool:
        """Whether the answers to an item are compared by the log-probability of their first token."""
        return self.settings.options == "logprobs" and item.form in ("choice", "statement", "existence")

    def _scored(self, state: QuestionState, seq: int, text: str, action: Action) -> QuestionState:
        """The state after a reply whose first token has alternatives: the likeliest option is the answer."""
        item = state.item
        words = {letter: letter for letter in LETTERS[: len(item.options)]}
        if item.form != "choice":
            words = {"true": "true", "false": "false"} if item.form == "statement" else {"true": "yes", "false": "no"}
        scores = option_logprobs(action, words)
        if isinstance(scores, str):
            return self._answered(state, seq, text or "(empty)", Answered(), {"unscored": scores})
        best = likeliest(scores)
        if item.form == "choice":
            scores = {str(item.order[LETTERS.index(letter)]): score for letter, score in scores.items()}
            reading = Answered(item.order[LETTERS.index(best)] if best else None)
        else:
            reading = Answered(holds=best == "true" if best else None)
        facts: dict[str, Json] = {} if best else {"unscored": TIED}
        facts["option_logprobs"] = dict(sorted(scores.items()))
        return self._answered(state, seq, text or "(empty)", reading, facts)

    def _read(self, item: DealtItem, action: Action) -> Answered | Unusable:
        """What a reply answers, by the source's indices."""
        letters = LETTERS[: len(item.options)]
        if action.verb == "answer":
            read = typed_answer(item, action)
        elif item.form == "choice":
            read = read_choice(action.text, item.options, letters)
        elif item.form == "rectification":
            read = read_rectification(action.text, item.options, letters)
        elif item.closed:
            read = read_verdict(action.text)
        else:
            return Answered()
        if isinstance(read, Unusable) or read.option is None:
            return read
        return read._replace(option=item.order[read.option])

    def _as_published(self, state: QuestionState, seq: int, reply: str) -> QuestionState:
        """The state after a closed answer under the published rules, which guess and never warn."""
        item = state.item
        letters = LETTERS[: len(item.options)]
        draw = random.Random(seed_of(self.settings.seed, "guess", item.id, item.repeat))
        if item.form == "choice":
            read = published.read_published_choice(reply, dict(zip(item.options, letters, strict=True)), draw)
        elif item.form == "statement":
            read = published.read_statement(reply)
        elif item.form == "existence":
            read = published.read_existence(reply, draw)
        else:
            read = published.read_published_rectification(reply, LETTERS[item.offered or 0], draw)
        at = letters.find(read.option) if read.option else -1
        answered = Answered(item.order[at] if at >= 0 else None, read.holds)
        return self._answered(state, seq, reply.strip() or "(empty)", answered, {"guessed": read.guessed})

    def _answered(
        self, state: QuestionState, seq: int, text: str, reading: Answered, facts: Mapping[str, Json] | None = None
    ) -> QuestionState:
        """The next turn after a usable answer, or the end; `facts` say more about how the answer was read."""
        state = _with(state, tally=state.tally.usable().turned(), answered=(*state.answered, seq))
        if state.turn < len(state.item.turns):
            question = Said(seq, "desk", "question", state.item.turns[state.turn].question)
            return _with(state, heard=(*state.heard, question), turn=state.turn + 1)
        ending = state.tally.completed(answer=text)
        read = {name: value for name, value in reading._asdict().items() if value is not None}
        facts = {**ending.facts, **({"reading": read} if read else {}), **(facts or {})}
        if state.item.misled is not None:
            facts["hinted"] = _by_source(state.item, state.item.misled)
        if self.settings.attack == "changed_fact":
            facts["truth"] = _by_source(state.item, state.item.truth)
        if state.item.turns:
            facts["answered"] = list(state.answered)
        return _with(state, ending=msgspec.structs.replace(ending, facts=facts))


def _reorder_truth(truth: QuestionTruth, order: Sequence[int]) -> QuestionTruth:
    option = None if truth.option is None else order.index(truth.option)
    return truth if option == truth.option else truth.model_copy(update={"option": option})


def _by_source(item: DealtItem, truth: QuestionTruth) -> dict[str, Json]:
    """A right or a wrong answer by the source's indices, in the form of the facts."""
    option = None if truth.option is None else item.order[truth.option]
    return {"option": option, "holds": truth.holds, "answers": list(truth.answers)}


def _earlier(before: Sequence[EarlierMessage]) -> tuple[str, list[Said]]:
    """Split a conversation before the question into its opening, up to the first message of the user, and the rest."""
    seats = {"assistant": "doctor", "user": "desk"}
    first = next((place for place, one in enumerate(before) if one.role == "user"), len(before) - 1)
    opening = "\n\n".join(one.content for one in before[: first + 1])
    return opening, [Said(0, seats[one.role], "message", one.content) for one in before[first + 1 :]]


def _group(item: QuestionItem) -> str:
    return item.source_group or item.id
