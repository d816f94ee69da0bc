"""Reads the times of an order: a day, a clock time, a span, an event, or which of repeated measurements it wants."""

from collections.abc import Callable, Iterator, Sequence

import msgspec
from msgspec.structs import replace

from wardround.engine.text import regex
from wardround.scenarios.orders import axes
from wardround.scenarios.orders.catalogue import Catalogue, catalogue, scope
from wardround.scenarios.orders.name_lookup import link
from wardround.scenarios.orders.order_parser import LAST, Repeat, Understood, understand
from wardround.scenarios.orders.stated_days import COUNT, StatedDay, counted, in_full, stated_days
from wardround.scenarios.terms.wording import key

_MIDDAY = 12 * 60
_CLOCK = regex(
    r"(?i)(?:\bat |@ ?|\baround |\babout |\bof |\bthe )?"
    r"(?:\b(?P<hour>[01]?\d|2[0-3])(?:(?::|(?<=\d)h(?=\d))(?P<minute>[0-5]\d))?"
    r" ?(?P<half>[ap](?:\.m\.|m\b))|\b(?P<hour2>[01]\d|2[0-3]):(?P<minute2>[0-5]\d)(?::\d\d)?(?: ?(?:h|hrs|hours)\b)?"
    r"|(?<=at )(?P<hour3>\d):(?P<minute3>[0-5]\d)\b"
    r"|(?<=at )(?P<hour4>[01]\d|2[0-3])(?P<minute4>[0-5]\d)(?: ?(?:h|hrs|hours))?\b"
    r"|\b(?P<named>noon|midday|midnight)\b)"
)
NEAR = 30
"""Minutes before and after a clock time within which a result is of this time."""
_PARTS = {"morning": (4 * 60, 12 * 60), "afternoon": (12 * 60, 18 * 60), "evening": (17 * 60, 24 * 60)}
_PARTS |= {"night": (20 * 60, 30 * 60)}
_PART = regex(
    r"(?i)\b(?P<this>this )?(?:on |in )?(?:the )?(?P<part>morning|afternoon|evening|night)(?P<own>['\u2019]s|(?= of )|)"
    r"(?: of(?: the)?\b)?"
)
"""A part of the day; it counts beside a day, and before a test ('morning sodium')."""


class When(msgspec.Struct, frozen=True):
    """The time of an order in its own words, `said`; without any of the rest every time fits.

    `days` are one day, or the first and last of a span whose end may be open (None). `clock` are minutes of the day;
    `hours` those since the stay began, or before it ended if they are negative. `pick` and `nth` choose among repeated
    measurements. `event` is what the record may not tell the time of, `before` whether the order is before it.
    """

    said: str = ""
    days: tuple[StatedDay | None, ...] = ()
    clock: tuple[int, int] | None = None
    hours: int = 0
    pick: Repeat = ""
    nth: int = 0
    event: str = ""
    before: bool = False

    @property
    def dated(self) -> bool:
        """Whether a result needs a time to answer this, and not merely to be the first or last."""
        start = all(day is not None and (day.stay == 1 or day.relative == 0) for day in self.days)
        return bool(self.clock or self.event or self.hours or not start)


class _Mark(msgspec.Struct, frozen=True):
    """Words of time from `start` to `end`; a soft mark is left in the text, for the parser reads it itself."""

    start: int
    end: int
    when: When
    soft: bool = False


_AHEAD = r"(?:^|(?<=the )|(?<=her )|(?<=his )|(?<=[,;] )|(?<=and ))"
_WHOSE = r"(?:the |his |her |their |any |our )?"
_LATEST = r"(?:last|latest|most recent|newest|current|final|discharge)"
_EARLIEST = r"(?:first|initial|baseline|admission|earliest)"
_VALUES = r"(?:values?|results?|measurements?|readings?|levels?|determinations?)"
_BROAD = (
    r"(?!(?:of )?(?:the )?(?:labs?|bloods?|tests?|imaging|images|stud(?:y|ies)|scans?|exam\w*|investigations?|four"
    r"|limbs?|joints?|\w+ nerves?|over|in one|other|relevant|available|appropriate|routine|necessary|normal)\b)"
)
EVENTS = {
    "surgery": r"surg(?:ery|ical\w*)|operations?|operative\w*|op\b|theatre",
    "procedure": r"procedur(?:es?|al)",
    "transfusion": r"transfusions?",
    "dialysis": r"(?:ha?emo)?dialysis|hd\b",
    "delivery": r"delivery|birth|partum",
    "treatment": r"treatment|therapy|antibiotics?|chemotherapy|chemo\b|steroids?|diuresis|fluids|resuscitation|bolus",
    "intubation": r"intubation",
    "extubation": r"extubation",
}
"""Events of a stay and the words for them, behind 'before', 'pre', 'after' or 'post'."""
_ANY_EVENT = "|".join(f"(?P<{name}>{words})" for name, words in EVENTS.items())
_BEFORE = r"(?P<before>before|prior to|preceding|pre)"
_SIDE = rf"(?:{_BEFORE}|(?:after|following|post|since))"
_ROWS: tuple[tuple[str, When], ...] = (
    (rf"\b{_EARLIEST}(?: and | & |/| to |, )(?:the )?{_LATEST}\b(?: {_VALUES} of)?", When(pick="ends")),
    (r"\bfrom admission (?:to|until|through) discharge\b|\bbetween admission and discharge\b"
     r"|\b(?:during|throughout|over) the (?:whole |entire )?(?:stay|admission|hospitali[sz]ation)\b"
     r"|\bthroughout\b|\b(?:so|thus) far\b|\bto date\b|\bover time\b|\bover the course\b", When(pick="series")),
    (rf"\b(?:all|each|every|any)(?: single)?(?: of)?(?: {_WHOSE.strip()[:-1]})?(?: (?:available|recorded|previous))?"
     rf" {_VALUES} (?:of|for) {_WHOSE}", When(pick="series")),
    (rf"\b(?:all|every)(?: single)?(?: of)? {_BROAD}{_WHOSE}(?!\d|day\b|hour|morning)(?:available |recorded )?",
     When(pick="series")),
    (r"\b(?:highest|lowest|max(?:imum|imal)?|minimum|worst|nadir"
     r"|peak(?! (?:flow|exp\w*|level|and|vanc\w*|gent\w*|tobra\w*)\b))"
     rf"(?: {_VALUES} of)? {_WHOSE}(?=\w)", When(pick="series")),
    (r"\b(?:(?:on|at|upon|from) (?:the )?(?:day of |time of )?(?:admission|presentation|arrival)"
     r"|on the day (?:of admission|(?:she|he|they) w\w+ admitted)|when (?:(?:she|he|they|the patient) )?(?:first )?"
     r"(?:was |were )?(?:admitted|presented|arrived))\b", When(days=(StatedDay(stay=1),))),
    (rf"{_AHEAD}admission (?=\w)", When(days=(StatedDay(stay=1),))),
    (r"\b(?:at|on|upon|before|prior to|by) (?:the |her |his )?(?:time of |day of )?discharge\b"
     r"|\bwhen (?:(?:she|he|they|the patient) )?(?:was |were )?discharged\b", When(pick="last")),
    (rf"{_AHEAD}discharge (?=\w)(?!swab|cultur|pcr|gram|from|plan|summ|medi"
     r"|home|letter|microsc|cytol|mc&?s|exam|him|her|the|patient|to\b|on\b|today|tomorrow|with|after|if|when|now)",
     When(pick="last")),
    (rf"\bfinal (?:{_VALUES} of )?(?=\w)(?!diagnos|path|report|histo|cultur)", When(pick="last")),
    (rf"\b(?:in|over|within|during|for|of) the (?:first|initial) (?P<span>{COUNT})[ -]?"
     r"(?P<unit>h|hr|hrs|hours?|days?)\b", When(pick="series")),
    (rf"\b(?:in|over|within|during|for|of) the (?:last|past|final) (?P<back>{COUNT})[ -]?"
     r"(?P<unit>h|hr|hrs|hours?|days?)\b", When(pick="series")),
    (rf"\b(?:last|previous|past) (?:week|month|year)\b|\b(?:{COUNT}|a) (?:days?|weeks?|months?|years?) ago\b"
     r"|\b(?:on|from|during|at) (?:the |her |his )?(?:last|previous|prior) (?:admission|visit|stay)\b",
     When(days=(None, StatedDay(relative=-1)), pick="series")),
    (rf"\b(?:before|pre) ?(?:and|&|/|-) ?(?:after|post)[ -]?{_WHOSE}(?:{_ANY_EVENT})(?!\w)", When(pick="ends")),
    (r"\b(?:on )?(?:pod|post-?op(?:erative)? day) ?#?\d+\b", When(event="surgery")),
    (rf"\b{_SIDE}[ -]?{_WHOSE}(?:start of |end of |first |last )?(?:{_ANY_EVENT})(?!\w)", When()),
    (rf"\b(?:previous|prior) {_VALUES} of {_WHOSE}|{_AHEAD}(?:previous|prior) (?=\w)(?!to\b)",
     When(event="previous", before=True)),
)  # fmt: skip
"""Words of time and what they mean; the first row that fits at a place counts."""
_TABLE = tuple((regex(f"(?i){pattern}"), when) for pattern, when in _ROWS)
_NTH = regex(
    rf"(?i){_AHEAD}(?P<nth>second|third|fourth|fifth|2nd|3rd|4th|5th)"
    r" (?=\w)(?!opinion|line|day|trimester|toe|finger|nerve|heart|degree|void|look|stage|dose)"
)
_NTHS = {
    word: place
    for place, pair in enumerate(("second 2nd", "third 3rd", "fourth 4th", "fifth 5th"), 2)
    for word in pair.split()
}
_SPAN = regex(
    r"(?i)(?:(?P<from>from|between) |(?P<since>since|after) |(?P<until>until|till|up to|before) |"
    r"(?:on|from|at|of|for|during) )?(?:the )?$"
)
_TO = regex(r"(?i)\s*(?:to|until|till|through|and|-|\u2013)\s*(?:the )?")
_ONWARDS = regex(r"(?i)\s*on(?:wards?)?\b(?! [a-z])")


def _day_marks(text: str) -> Iterator[_Mark]:
    """The days and spans of days of a text, with their prepositions."""
    days = stated_days(text)
    at = 0
    while at < len(days):
        start, end, day = days[at]
        lead = _SPAN.search(text[:start])
        begin = lead.start() if lead else start
        span = _TO.fullmatch(text[end : days[at + 1][0]]) if at + 1 < len(days) else None
        said = {name for name, value in lead.groupdict().items() if value} if lead else set()
        ranged = span is not None and ("from" in said or not span[0].strip().startswith("and"))
        if ranged:
            yield _Mark(begin, days[at + 1][1], When(days=(day, days[at + 1][2]), pick="series"))
            at += 2
            continue
        on = _ONWARDS.match(text, end)
        if "since" in said or on:
            yield _Mark(begin, on.end() if on else end, When(days=(day, None), pick="series"))
        elif "until" in said:
            yield _Mark(begin, end, When(days=(None, day), pick="series"))
        else:
            yield _Mark(begin, end, When(days=(day,)))
        at += 1


def _clock_marks(text: str) -> Iterator[_Mark]:
    for match in _CLOCK.finditer(text):
        named = {name.rstrip("234"): value.casefold() for name, value in match.groupdict().items() if value}
        hour, minute = int(named.get("hour", 0)), int(named.get("minute", 0))
        if "half" in named and not 1 <= hour <= _HALF:
            continue
        hour = hour % _HALF + (_HALF if named["half"][0] == "p" else 0) if "half" in named else hour
        at = hour * 60 + minute if "named" not in named else 0 if named["named"] == "midnight" else _MIDDAY
        yield _Mark(match.start(), match.end(), When(clock=(at - NEAR, at + NEAR)))


_HALF = 12


def _part_marks(text: str, days: Sequence[_Mark]) -> Iterator[_Mark]:
    """Parts of the day beside a day, before a test, or as 'this morning' and 'last night'."""
    for match in _PART.finditer(text):
        clock = _PARTS[match["part"].casefold()]
        before = text[: match.start()].rstrip()
        beside = any(-3 <= match.start() - mark.end <= 2 or -3 <= mark.start - match.end() <= 1 for mark in days)
        if before.casefold().endswith("last") and match["part"].casefold() == "night":
            yield _Mark(len(before) - 4, match.end(), When(days=(StatedDay(relative=-1),), clock=clock))
        elif match["this"]:
            yield _Mark(match.start(), match.end(), When(days=(StatedDay(relative=0),), clock=clock))
        elif beside or (match["part"] == match[0].strip() and (not before or before[-1] in ",;") and days):
            yield _Mark(match.start(), match.end(), When(clock=clock))


def _marks(text: str) -> list[_Mark]:
    """All words of time of a text from the left; of two that overlap the one that begins first counts."""
    marks = [*_day_marks(text), *_clock_marks(text)]
    marks += _part_marks(text, marks)
    for pattern, when in _TABLE:
        for match in pattern.finditer(text):
            named = {name: value for name, value in match.groupdict().items() if value}
            mark = _Mark(match.start(), match.end(), _meant(when, named))
            if not _clash(mark, marks):
                marks.append(mark)
    marks += [
        _Mark(match.start(), match.end(), When(nth=_NTHS[match["nth"].casefold()])) for match in _NTH.finditer(text)
    ]
    for pattern in (LAST, axes.NEXT, axes.SERIES):
        soft = (_Mark(match.start(), match.end(), When(), soft=True) for match in pattern.finditer(text))
        marks += [mark for mark in soft if not _clash(mark, marks)]
    return sorted(marks, key=lambda mark: mark.start)


def _clash(mark: _Mark, others: Sequence[_Mark]) -> bool:
    return any(other.start < mark.end and mark.start < other.end for other in others)


def _meant(when: When, named: dict[str, str]) -> When:
    """A row's meaning with what its pattern has read: a number of hours, or an event and its side."""
    event = next((name for name in EVENTS if name in named), "")
    if event:
        return replace(when, event=event, before="before" in named)
    if "span" in named or "back" in named:
        hours = counted(named.get("span") or named["back"]) * (24 if named["unit"].casefold()[0] == "d" else 1)
        return replace(when, hours=hours if "span" in named else -hours)
    return when


def _together(marks: Sequence[_Mark], text: str) -> When | None:
    """What several words of time of one request mean together."""
    hard = [mark for mark in marks if not mark.soft]
    if not hard:
        return None
    whens = [mark.when for mark in hard]
    return When(
        said=" ".join(_bare(text[mark.start : mark.end]) for mark in hard),
        days=next((when.days for when in whens if when.days), ()),
        clock=next((when.clock for when in whens if when.clock), None),
        hours=next((when.hours for when in whens if when.hours), 0),
        pick=next((when.pick for when in whens if when.pick), ""),
        nth=next((when.nth for when in whens if when.nth), 0),
        event=next((when.event for when in whens if when.event), ""),
        before=any(when.before for when in whens),
    )


def _bare(said: str) -> str:
    return said.strip().removesuffix("'s").removesuffix("\u2019s")


Orders = Callable[[str], bool]
"""Whether a text names a test and says nothing else."""

_FEW = 4
"""Most words of an order that is no name of one test ('Na/K', 'ECG and echo')."""
_PUNCTUATION = regex(r"[][():;?>=\u2022]|\s[-\u2013]\s")


def names_tests(text: str, table: Catalogue) -> bool:
    """Whether a text names a test, or many, and tells nothing beside."""
    if _PUNCTUATION.search(text):
        return False
    if link(text, table) is not None or scope(text) is not None or key(text) in table.ambiguous:
        return True
    read = understand(text, table) if len(text.split()) <= _FEW else Understood()
    return bool(read.phrases) and not read.unknown and not read.withheld


class _Piece(msgspec.Struct):
    """One item of a list: its text, without its time if it has one, the joint before it, and where the time stands."""

    text: str
    joint: str
    when: When | None = None
    blocked: bool = False
    leads: bool = False


_JOINT = regex(r"(?i)\s*[,;\n]\s*(?:and |& |then )?|\s+(?:and|&|\+|then)\s+|\.\s+(?=[A-Z])")
_LINKS = regex(r"(?i)\b(?:and|then)\b|[&+]")
_ENDS = regex(r"[;\n.]")


def _pieces(text: str, marks: Sequence[_Mark], orders: Orders) -> list[_Piece]:
    """The items of a list with their times; an item that orders nothing without its words of time keeps them."""
    joints = _JOINT.finditer(text)
    cuts = [one for one in joints if not any(mark.start < one.end() and one.start() < mark.end for mark in marks)]
    pieces: list[_Piece] = []
    for before, behind in zip([None, *cuts], [*cuts, None], strict=True):
        start, end = before.end() if before else 0, behind.start() if behind else len(text)
        joint, whole = before[0] if before else "", text[start:end]
        own = [mark for mark in marks if start <= mark.start < end]
        when = None if key(whole) in catalogue().names else _together(own, text)  # 'peak expiratory flow'
        left = _without([mark for mark in own if not mark.soft], text, start, end) if when is not None else whole
        bare = next((form for form in (left, _courteous(left)) if orders(form)), "")
        again = when is not None and not _courteous(left) and bool(pieces) and pieces[-1].when is not None
        leads = bool(own) and not _courteous(text[start : own[0].start])
        if pieces and left and key(f"{pieces[-1].text}{joint}{left}") in catalogue().names:  # 'group and save'
            pieces[-1].text += f"{joint}{left}"
            pieces[-1].when = pieces[-1].when or when
            continue
        last = pieces[-1] if pieces else None
        if when is not None and last is not None and not _courteous(left) and _completes(when, last, orders):
            last.when, last.blocked = _both(last.when, when), True
        elif again:  # 'creatinine on admission and at discharge'
            pieces.append(_Piece(pieces[-1].text, joint, when, blocked=True))
        elif when is not None and bare:
            pieces.append(_Piece(bare, joint, when, blocked=True, leads=leads))
        else:
            pieces.append(_Piece(whole, joint, None, bool(own) or not orders(whole)))
    return pieces


def _completes(when: When, last: _Piece, orders: Orders) -> bool:
    """Whether a time behind a comma belongs to the item before it ('creatinine, 20/11', 'Na on 9 May, evening')."""
    if last.when is None:
        return orders(last.text)
    return when.clock is not None and not when.days and bool(last.when.days) and last.when.clock is None


def _both(first: When | None, second: When) -> When:
    return second if first is None else replace(first, said=f"{first.said} {second.said}", clock=second.clock)


def _without(marks: Sequence[_Mark], text: str, start: int, end: int) -> str:
    left, at = "", start
    for mark in marks:
        left, at = f"{left}{text[at : mark.start]} ", mark.end
    return " ".join((left + text[at:end]).split())


def _courteous(text: str) -> str:
    """A text without the words around an order; '' if it has no other."""
    left = _IDLE.sub("", text).strip(" ?.!,:")
    return " ".join(left.split()) if any(letter.isalpha() for letter in left) else ""


_IDLE = regex(
    r"(?i)\b(?:the|his|her|their|please|get|order|check|show|give|me|what|was|is|were|i|we|would|like|want|to|see)\b"
)


def timed_requests(text: str, orders: Orders) -> tuple[tuple[str, When | None], ...]:
    """The parts of an order that have the same time, each without the words of its time; None where it states none.

    `orders` tells which texts name a test: an item that does not without its words of time keeps them. A time behind a
    list ('Na, K and creatinine on day 4') or before it ('yesterday's Na and K') is that of all its items. A time alone
    ('creatinine on admission and at discharge') orders the test before it once more. A day that opens a text, or stands
    in its heading ('Day 3 labs: Na') or in brackets, is that of the whole text.

    ::

        timed_requests("sodium at 14:00", bool)  # (("sodium", When(said="at 14:00", clock=(810, 870))),)
    """
    written = in_full(text)
    marks = _marks(written)
    if all(mark.soft for mark in marks):
        return ((text, None),)
    pieces = _pieces(written, marks, orders)
    _spread(pieces)
    parts: list[tuple[str, When | None]] = []
    for piece in pieces:
        again = bool(parts) and key(piece.text) == key(parts[-1][0])
        if parts and parts[-1][1] == piece.when and not again:
            parts[-1] = (f"{parts[-1][0]}{piece.joint}{piece.text}", piece.when)
        else:
            parts.append((piece.text, piece.when))
    if any(when for _, when in parts):
        return tuple(parts)
    days = [mark for mark in marks if mark.when.days]
    return ((text, _together(days, written) if len(days) == 1 and _heads(days[0], written) else None),)


def _heads(mark: _Mark, text: str) -> bool:
    """Whether a time opens a text, or stands in its heading, in brackets ('sodium (day 3)') or before them."""
    before, behind = text[: mark.start].rstrip(), text[mark.end :].lstrip()
    in_heading = (
        ":" in behind and not _ENDS.search(before) and not _JOINT.search(f"{before} {behind.partition(':')[0]}")
    )
    in_brackets = before.endswith("(") and behind.startswith(")")
    return not before or in_heading or in_brackets or behind.startswith("(")  # 'labs of day 4 (sodium, CRP)'


def _spread(pieces: Sequence[_Piece]) -> None:
    """Give the time behind or before a list to those of its items that have none."""
    lists: list[list[_Piece]] = []
    linked = False
    for piece in pieces:
        ends = bool(_ENDS.search(piece.joint)) or (linked and not _LINKS.search(piece.joint))
        linked = bool(_LINKS.search(piece.joint))
        if ends or not lists:
            lists.append([])
        lists[-1].append(piece)
    for items in lists:
        if len(items) > 1 and not items[0].leads and not _LINKS.search(items[-1].joint):
            continue  # 'sodium on day 1, CT head', but 'on day 3: sodium, potassium'
        timed: When | None = None
        for piece in items:
            timed = piece.when if piece.leads else None if piece.blocked else timed
            piece.when = piece.when or (None if piece.blocked else timed)
        timed = None
        for piece in reversed(items):
            timed = (piece.when if not piece.leads else None) if piece.blocked else timed
            piece.when = piece.when or (None if piece.blocked else timed)
