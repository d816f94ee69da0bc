"""What a patient without a model recalls when asked: the facts that answer a question, or that there are none."""

import re
from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from wardround.agents.history import question_kinds
from wardround.agents.history.aims import aim_share
from wardround.agents.history.complaint import (
    ABOUT_THEM,
    ALONE,
    TELLS_AGE,
    is_present_illness,
    main_facts,
    presented_facts,
)
from wardround.agents.history.facts import COMPLAINT, TIME, Fact, Statement, distinct_facts
from wardround.agents.history.phrasing import nothing_in
from wardround.agents.history.question_kinds import ATTRIBUTES, HistoryQuestion
from wardround.agents.history.vocabulary import (
    Topic,
    all_meanings,
    concepts_in,
    is_about,
    little,
    units,
    with_wider,
)
from wardround.scenarios.terms.wording import RootWords, roots

_DETAIL_PATTERNS = {name: pattern for name, _, pattern in ATTRIBUTES}
_SOFT = frozenset(
    re.findall(
        r"\S+",
        """concern before tried exercise school accident contacts behaviour joints home eaten creams hospital stress sun
        adherence past children development drugs birth pregnancy sexual travel chemicals diet""",
    )
) | {"skin past", "painful sex", "after meals"}
"""Topics whose words have other uses: without a fact about them, the question is read as one about its symptoms."""

_TOGETHER = (("smoking", "alcohol", "drugs"), ("past", "surgery", "medication", "allergies", "hospital"))
_LOCAL = frozenset(
    re.findall(r"\S+", "pain swelling lump rash itch numbness weakness stiffness burning bleeding discharge trauma")
)
"""Findings that mean little without their site."""
_SURELY = 0.6
_RELATIVE = re.compile(r"\b(mother|mum|mom|father|dad|brother|sister|uncle|aunt|grand\w+|wife|husband)", re.IGNORECASE)
_SIMILAR = re.compile(
    r"(?i)\b(?:similar|prior|previous) (?:\w+ ){0,2}(?:episodes?|symptoms?|pain|complaints?|problems?|rash\w*|spots"
    r"|lesions?)\b|\bfirst time\b|\brecurr"
)
_KIN_SIDE = re.compile(r"\b(?:famil|relat|either side|anybody else|anyone else|nobody)", re.IGNORECASE)
_HABITS = frozenset(("work", "home", "married", "exercise"))
_BROAD = frozenset(("past", "medication", "allergies", "surgery", "smoking", "alcohol", "drugs"))
"""Topics that are asked for as a whole."""
_OF_PLACES = frozenset(("origin", "travel", "home"))
_OWN_WORDS = frozenset(("amount", "who", "colour", "place"))
_PRONOUN = re.compile(r"\b(?:it|they|them|this|that|these|those|symptoms?|things?|all)\b", re.IGNORECASE)
_NORMAL = re.compile(
    r"(?i)\b(?:all right|alright|ok|okay|normal(?:ly)?|well|properly|as usual|fine|regular(?:ly)?|still|good|on time)\b"
    r"|^(?:and |so )?(?:can|could) "
)
"""Asks whether all is well, to which a complaint is no 'yes'."""
_EITHER = re.compile(r"\bor\b(?! (?:any|some|every)\w*\b)", re.IGNORECASE)
"""Asks which of two things is true, to which 'yes' is no answer."""
_KIN_TOO = re.compile(r"\b(?:personal or|past or|medical or|or|and) family (?:medical )?history\b", re.IGNORECASE)
_ALIKE = re.compile(r"similar|same|like (?:this|that|yours)")
_OPEN = re.compile(r"^\W*(?:what (?!about)|how|where|when|who|why)\b", re.IGNORECASE)
_TELL_OF_IT = re.compile(r"(?i)\btell me (?:\w+ )?about (?:that|it|this)\b|\b(?:take|talk|walk|run) me through\b")
_JOINS = re.compile(r"\b(?:or|and|with)\b|,", re.IGNORECASE)
_ASKS = frozenset(
    (
        "first place",
        *re.findall(r"\S+", "colour bigger constant spread start =often =worst =bad =wors =long difference"),
    )
)
"""Meanings that a question for a detail has by its kind."""
_SINCE = RootWords("since")
_TAKES = re.compile(r"(?i)\b(?:takes?|taking|regimen|been on|current\w*|daily|as needed|mg|no medications?)\b")
_LIST = re.compile(r"^\W*(?:(?:he|she|the patient|i)\s+(?:also )?)?(?:den(?:ies|ied|y)|no|negative)\b", re.IGNORECASE)


class Recollection(msgspec.Struct, frozen=True):
    """The facts that answer, or the kind of an answer without facts.

    `kind`: facts, yes, no (with the `denied` items), unknown, unnoticed, family, opinion, results, age, nothing_more.
    `sure`: `weighing` keeps it. `nearest`: the fact comes near what was asked, and more is not known.
    """

    kind: str
    facts: tuple[Fact, ...] = ()
    denied: tuple[Statement, ...] = ()
    sure: bool = False
    nearest: bool = False


UNKNOWN = Recollection("unknown")
UNNOTICED = Recollection("unnoticed")


class Memory:
    """A story's facts, and what it is mainly about."""

    def __init__(self, facts: Sequence[Fact]) -> None:
        self.facts = facts
        self.main = main_facts(facts)
        self.presented = presented_facts(facts, self.main)
        self.topic_sites = frozenset(site for fact in self.main for site in fact.sites)
        self.topic_findings = frozenset(name for fact in self.main for name in fact.findings)

    def recall(self, question: HistoryQuestion, earlier: Sequence[HistoryQuestion], said_before: str) -> Recollection:
        """The answer to one question; the `earlier` ones, newest first, say what 'it' is."""
        if question_kinds.RESULTS.search(question.text):
            return Recollection("results", sure=True)
        if question_kinds.OPINION.search(question.text):
            return Recollection("opinion", sure=True)
        if question_kinds.AGE.search(question.text):
            old = [fact for fact in self.facts if TELLS_AGE.search(fact.text)]
            return Recollection("age", tuple(old[:1]), sure=True) if old else UNKNOWN
        if question_kinds.ELSE.search(question.text) and (
            alone := [fact for fact in self.facts if ALONE.search(fact.text)]
        ):
            return Recollection("facts", tuple(alone[:1]), sure=True)
        if question_kinds.MORE.search(question.text) and question.bare:
            return replace(self._recall_more(said_before), sure=True)
        if opening := self._opening(question, earlier):
            return opening
        own = not (question.findings or _RELATIVE.search(question.text) or _KIN_SIDE.search(question.text))
        if own and aim_share("healthy", question.text) > _SURELY and (none := self._nothing("past")):
            return Recollection("facts", tuple(none), sure=True)
        leaning = question.bare and bool(question.details)
        of_complaint = leaning and question.words <= _SINCE and all(map(question_kinds.is_opening, earlier[:1]))
        if leaning:
            question = self._leaning(question, earlier)
        if of_complaint:
            question = replace(question, meanings=frozenset())
        recalled = self._specific(question)
        no_plain_yes = _NORMAL.search(question.text) or (recalled.kind == "yes" and _EITHER.search(question.text))
        if no_plain_yes and recalled.kind in ("yes", "no"):
            return Recollection("facts", recalled.facts)
        if recalled.kind in ("unknown", "unnoticed"):
            return self._last_resort(question, earlier, recalled)
        if leaning and recalled.kind in ("yes", "no"):
            return UNNOTICED
        sure = recalled.sure or of_complaint or _asks_only_topic(question)
        return replace(recalled, sure=bool(recalled.facts) and sure)

    def _opening(self, question: HistoryQuestion, earlier: Sequence[HistoryQuestion]) -> Recollection | None:
        """Why the patient came, and what worries them; None for another question, or one about something else."""
        if _TELL_OF_IT.search(question.text) and question.findings & self.topic_findings:
            return Recollection("facts", self.main, sure=True)
        why = question_kinds.OPENING.search(question.text) is not None or _asks_why(question)
        opens = why or question_kinds.TROUBLE.search(question.text) is not None
        only = question_kinds.is_opening(question)
        if not opens or question_kinds.MIND.search(question.text):
            return None
        if not only and (question.yes_no or set(question.details) - {"character"}):
            return None
        concern = [topic for topic in question.topics if topic.name == "concern"]
        worried = [fact for fact in self.facts if concern and is_about(concern[0], fact.section, fact.text)]
        if worried:
            return Recollection("facts", tuple(worried[:1]), sure=True)
        about = frozenset(name for fact in (*self.main, *self.presented) for name in all_meanings(fact.text))
        beside = [
            unit
            for unit in units(question_kinds.trouble_part(question.text))
            if unit.weight >= 1.0
            and not unit.meanings & about
            and frozenset(roots(unit.text)).difference(question_kinds.OPENING_WORDS)
        ]
        elsewhere = any(unit.meanings & all_meanings(fact.text) for unit in beside for fact in self.facts)
        asks_why = _asks_why(question)
        only = only or (not elsewhere and (asks_why or all(concepts_in(unit.text, "site") for unit in beside)))
        if only and (asks_why or not (earlier and question_kinds.OF_BEFORE.search(question.text))):
            return Recollection("facts", self.presented, sure=True)
        return Recollection("facts", self.main) if why or len(beside) <= 1 else None

    def _last_resort(
        self, question: HistoryQuestion, earlier: Sequence[HistoryQuestion], silent: Recollection
    ) -> Recollection:
        """A fact with most of the question's meanings, where nothing else found one; a bare question ('Whereabouts?')
        gets that of the question before it."""
        if question.bare and not question.meanings and earlier and not earlier[0].bare:
            last = self._specific(earlier[0])
            of_places = any(topic.name in _OF_PLACES for topic in earlier[0].topics)
            return Recollection("facts", last.facts[:1], sure=of_places) if last.facts and not last.denied else silent
        family = any(topic.name == "family" for topic in question.topics)
        best: tuple[int, Fact] | None = None
        for fact in self.facts:
            if fact.family and not family:
                continue
            shared = len(question.meanings & question_kinds.meanings(fact.text))
            if 2 * shared > len(question.meanings) and (best is None or shared > best[0]):
                best = (shared, fact)
        return Recollection("facts", (best[1],)) if best else silent

    def _leaning(self, question: HistoryQuestion, earlier: Sequence[HistoryQuestion]) -> HistoryQuestion:
        """A question such as 'And since when?' with what it leans on: what was asked last, or the complaint."""
        last = next(iter(earlier), None)
        if last is None or last.bare or last.of_relatives:
            return question
        if last.findings or last.sites or set(question.details) & {"onset", "length", "amount"}:
            return question.after(last)
        return question

    def _specific(self, question: HistoryQuestion) -> Recollection:
        if any(topic.name == "family" for topic in question.topics) and question.topics[0].name != "siblings":
            return self._family(question)
        for recalled in (self._by_topic(question), self._by_detail(question), self._by_finding(question)):
            if recalled is not None:
                return recalled
        return self._by_words(question)

    def _recall_more(self, said_before: str) -> Recollection:
        own = [fact for fact in self.facts if not (ABOUT_THEM.search(fact.section) or fact.denied)]
        own = [fact for fact in own if fact.section != COMPLAINT]
        fresh = [
            fact for fact in own if fact not in self.main and fact.text.strip(" .").lower()[-40:] not in said_before
        ]
        return Recollection("facts", tuple(fresh[:1])) if fresh else Recollection("nothing_more")

    def _family(self, question: HistoryQuestion) -> Recollection:
        facts = [fact for fact in self.facts if fact.family or _KIN_TOO.search(fact.text)]
        facts = facts or [fact for fact in self.facts if re.search(r"\bfamily (?:members?|history)\b", fact.text)]
        diseases = question.findings - {"trauma"}
        relatives = {name.lower() for name in _RELATIVE.findall(question.text)}
        if relatives:
            facts = [fact for fact in facts if relatives & {name.lower() for name in _RELATIVE.findall(fact.text)}]
        if diseases:
            wide = with_wider(diseases)
            general = [fact for fact in facts if fact.denied and not fact.findings]
            facts = [fact for fact in facts if diseases & with_wider(fact.findings) or wide & fact.findings] or general
        elif not relatives and question.words and _ALIKE.search(question.text):
            facts = [fact for fact in facts if re.search(r"similar|same", fact.text)] or facts
        broad = not (question.findings or relatives or _ALIKE.search(question.text))
        named = bool(diseases & concepts_in(question.text, "disease")) and not relatives
        nothing = self._nothing("family") if question.findings else []
        facts = facts or nothing
        if question_kinds.RELATED.search(question.text) or not (relatives or _KIN_SIDE.search(question.text)):
            facts = [fact for fact in facts if not nothing_in("family", fact.text)]
        broad = (bool(facts) and facts == nothing) or (broad and aim_share("family illness", question.text) > _SURELY)
        silent = Recollection("family", sure=named) if question.yes_no else UNKNOWN
        return Recollection("facts", tuple(facts[:2]), sure=broad) if facts else silent

    def _nothing(self, section: str) -> list[Fact]:
        """The sentence of a section that says that there is nothing ('Family history: none')."""
        return [fact for fact in self.facts if section in fact.section.lower() and nothing_in(section, fact.text)][:1]

    def _by_topic(self, question: HistoryQuestion) -> Recollection | None:
        """The facts on the first topic of the question; several habits in one question are answered together."""
        recalled = self._by_first_topic(question) if question.topics else None
        if recalled is None and question.topics[1:] and question.topics[0].name == "home":
            return self._by_first_topic(replace(question, topics=question.topics[1:]))
        return recalled

    def _by_first_topic(self, question: HistoryQuestion) -> Recollection | None:
        first = question.topics[0]
        if first.name == "before" and question.findings:
            similar = [fact for fact in self.facts if _SIMILAR.search(fact.text) and not fact.family]
            if similar:
                return Recollection("facts", tuple(similar[:1]))
        groups = [group for group in _TOGETHER if first.name in group]
        together = [topic for topic in question.topics if groups and topic.name in groups[0]]
        if not re.search(r"\b(?:or|and)\b|,", question.text):
            together = []
        if question.findings - {"trauma", "burning"} and first.name in _SOFT:
            return None
        asked = together if len(together) > 1 and first in together else [first]
        hits: list[Fact] = []
        for topic in asked:
            hits += [fact for fact in self._facts_on(topic, question) if fact not in hits][: 2 if len(asked) > 1 else 3]
        if hits:
            return Recollection("facts", tuple(hits[:3]))
        return None if first.name in _SOFT else UNKNOWN

    def _facts_on(self, topic: Topic, question: HistoryQuestion) -> list[Fact]:
        relatives = topic.name == "siblings"
        facts = [fact for fact in self.facts if fact.family <= relatives and topic.in_text.search(fact.text)]
        if relatives:
            facts = facts or [fact for fact in self.facts if topic.in_text.search(fact.text)]
        if topic.sections and not facts:
            facts = [fact for fact in self.facts if any(name in fact.section.lower() for name in topic.sections)]
        if topic.sections and topic.name != "surgery":
            sheet = [fact for fact in self.facts if any(name in fact.section.lower() for name in topic.sections)]
            facts = (sheet or facts) if topic.name == "past" else sheet + facts
        details = [_DETAIL_PATTERNS[name] for name in question.details if name in ("amount", "who", "colour")]
        for pattern in details:
            facts = [fact for fact in facts if pattern.search(fact.text)] or facts
        if topic.name == "past" and question.findings:
            wanted = with_wider(question.findings)
            facts = [fact for fact in facts if wanted & with_wider(fact.findings)]
        if topic.name in _HABITS:
            social = [fact for fact in facts if re.search("social|demograph|occupation", fact.section, re.IGNORECASE)]
            facts = social or facts
        if topic.name == "medication":
            facts = [fact for fact in facts if _TAKES.search(fact.text)] + facts
        if "onset" in question.details:
            facts = [fact for fact in facts if fact.timed] or facts
        shared = [fact for fact in facts if question.words & frozenset(roots(fact.text))]
        sectioned = [fact for fact in facts if any(name in fact.section.lower() for name in topic.sections)]
        if not question.yes_no:
            facts = [fact for fact in facts if not fact.denied] + [fact for fact in facts if fact.denied]
        ordered = [*(shared if not sectioned else []), *sectioned, *facts]
        return distinct_facts(ordered)

    def _by_detail(self, question: HistoryQuestion) -> Recollection | None:
        """The fact that tells a detail which was asked for, or UNKNOWN; None if another way should look for it."""
        for name in question.details:
            pattern = TIME if name == "onset" else _DETAIL_PATTERNS[name]
            hits = [fact for fact in self.facts if not fact.family and pattern.search(fact.text)]
            causes = [fact for fact in hits if "trauma" in fact.findings and not fact.denied] if name == "cause" else []
            hits = causes or self._concerning(question, hits, place=name == "place")
            if hits:
                return Recollection("facts", tuple(hits[:1]))
        if not question.details or (question.yes_no and question.findings):
            return None
        if set(question.details) <= {"who", "amount", "place", "colour"} and question.words:
            return None
        if question.words - set().union(*(set(roots(name)) for name in question.findings | question.sites), {"x"}):
            by_words = self._by_words(question)
            if by_words.facts:
                return by_words
        return UNKNOWN

    def _concerning(self, question: HistoryQuestion, facts: Sequence[Fact], *, place: bool) -> list[Fact]:
        """Those of the facts that are about what the question is about: the complaint, if it does not say."""
        now = [fact for fact in facts if not ABOUT_THEM.search(fact.section) and is_present_illness(fact)]
        if place:
            now = [fact for fact in now if fact.sites and not fact.denied]
        if not (question.findings or question.sites):
            about = question.meanings - _ASKS
            near = [fact for fact in now if about & question_kinds.meanings(fact.text)]
            if about and not near and (set(question.details) <= _OWN_WORDS or not _PRONOUN.search(question.text)):
                return []
            return sorted(near or now, key=lambda fact: (fact not in self.main, fact.section != COMPLAINT, fact.place))
        strict = [fact for fact in facts if self._matches(question, fact)]
        if strict:
            wanted = question.meanings & {"start"} if place else question.meanings
            return sorted(strict, key=lambda fact: -len(wanted & question_kinds.meanings(fact.text)))
        wanted = with_wider(question.findings) | with_wider(question.sites)
        if wanted & (with_wider(self.topic_findings) | with_wider(self.topic_sites)):
            return now
        return []

    def _matches(self, question: HistoryQuestion, fact: Fact) -> bool:
        if question.findings:
            return any(self._hit(question, item, fact) for item in fact.items)
        return sites_agree(question.sites, fact.sites)

    def _hit(self, question: HistoryQuestion, item: Statement, fact: Fact) -> bool:
        hit = question.findings & with_wider(item.findings)
        if item.denied and "recent illness" in item.findings & with_wider(question.findings):
            return True
        if not hit:
            return False
        if question.sites and hit & _LOCAL and hit <= _LOCAL:
            return sites_agree(question.sites, item.sites or fact.sites | self.topic_sites)
        return True

    def _by_finding(self, question: HistoryQuestion) -> Recollection | None:
        """Whether the patient has what was asked about."""
        if not question.findings:
            return None
        if question.details and "night" in question.details:
            return UNNOTICED
        new = question.findings - with_wider(self.topic_findings)
        if new and new != question.findings and not _JOINS.search(question.text):
            question = replace(question, findings=new)
        ranked: list[tuple[tuple[int, ...], Fact, Statement]] = []
        for fact in self.facts:
            if fact.family and not fact.denied:
                continue
            for item in fact.items:
                if self._hit(question, item, fact) and not (fact.family and "family" in item.text.lower()):
                    ranked.append((self._rank(question, fact, item), fact, item))
        if _OPEN.search(question.text):
            ranked = [row for row in ranked if not row[2].denied]
        if not ranked:
            return self._unsaid(question)
        ranked.sort(key=lambda row: row[0])
        _, fact, item = ranked[0]
        if item.denied:
            same = [row[2] for row in ranked if row[2].denied and row[1] is fact]
            listed = (
                _LIST.search(fact.text) is not None
                and not re.search(r"\bchanges?\b", fact.text)
                and "painless" not in fact.text.lower()
            )
            return Recollection("no", (fact,), tuple(same[:3]) if listed else ())
        return Recollection("yes" if question.yes_no else "facts", (fact,))

    def _rank(self, question: HistoryQuestion, fact: Fact, item: Statement) -> tuple[int, ...]:
        """The key that sorts answers, the best first: of a named site, of most findings and words, of the present."""
        exact = len(question.findings & item.findings)
        site = sites_agree(question.sites, item.sites) if question.sites else True
        words = len(question.words & frozenset(roots(fact.text)))
        past = bool(ABOUT_THEM.search(fact.section) and "review" not in fact.section.lower())
        off = item.denied and not question.yes_no
        return (int(off), -int(site), -exact, -words, int(past), fact.place)

    def _unsaid(self, question: HistoryQuestion) -> Recollection:
        by_words = self._by_words(question, least=2)
        if by_words.facts:
            return by_words
        diseases = question.findings & concepts_in(question.text, "disease")
        own = diseases == question.findings and question.yes_no and not _RELATIVE.search(question.text)
        if own and (none := self._nothing("past")):
            return Recollection("facts", tuple(none), sure=True)
        return UNKNOWN if diseases else UNNOTICED

    def _by_words(self, question: HistoryQuestion, least: int = 1) -> Recollection:
        """The fact that shares most rare words with the question, at least half of the question's."""
        sites = question.sites
        best: tuple[int, Fact] | None = None
        for fact in self.facts:
            shared = question.words & frozenset(roots(fact.text))
            enough = len(shared) >= least and 2 * len(shared) >= len(question.words) and not fact.family
            if enough and (best is None or len(shared) > best[0]):
                best = (len(shared), fact)
        if best:
            return Recollection("facts", (best[1],))
        near = [fact for fact in self.facts if sites and sites_agree(sites, fact.sites) and fact.findings]
        if near and least == 1 and not question.findings and len(question.words) <= 2:
            return Recollection("facts", (near[0],))
        return UNKNOWN


def _asks_only_topic(question: HistoryQuestion) -> bool:
    """Whether it asks for a topic and for nothing else ('Any past illnesses?' 'Do you smoke or drink?')."""
    particular = re.search(r"^\W*(?:how|where|when|who|why)\b", question.text, re.IGNORECASE) is not None
    broad = all(topic.name in _BROAD for topic in question.topics) and not particular
    if question.details or question.findings or not question.topics or not broad:
        return False
    rest = re.sub(r"\bpast\b", " ", question.text)
    for topic in question.topics:
        rest = topic.in_question.sub(" ", rest)
    still = re.search(r"\bstill\b", rest) is not None
    return not still and not [word for word in roots(rest) if word not in little() and len(word) > 2]


def _asks_why(question: HistoryQuestion) -> bool:
    """Whether it asks why the patient came, in whatever words."""
    return aim_share("why come", question.text) > _SURELY


def sites_agree(asked: frozenset[str], sites: frozenset[str]) -> bool:
    """Whether a site asked about is, belongs to, or contains a site that the story names."""
    return bool(asked & with_wider(sites)) or any(site in with_wider(asked) for site in sites)
