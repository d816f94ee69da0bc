"""How a fact is said: by the patient in the first person, or by somebody who speaks for the patient in the third.

`say_fact` turns a note's sentence ('The patient denies fever') into the patient's, by the rules of `_first_person`.
"""

import re
from collections.abc import Sequence
from functools import cache, lru_cache

from wardround.agents.history.facts import Fact, Statement
from wardround.agents.history.phrasing import nothing_in, of_family, phrased, span_of, with_article, with_duration
from wardround.agents.history.vocabulary import history_rows
from wardround.agents.history.voice import AGE, PRESENT, PatientVoice, agree_verbs, own_pronouns, pronouns, with_subject

_MINE = re.compile(r"\b(?:I|I['\u2019]\w+|[Mm]y|[Mm]e)\b(?![-.])")
_WHO = (
    r"(?:(?:the|this|an?)\s+(?:otherwise |previously )?(?:healthy )?)?(?:\d+[- ](?:year"
    r"|month)s?[- ]old )?(?:healthy |premenopausal |hispanic |black |white |asian |caucasian )*"
)
_SUBJECT = rf"(?:{_WHO}(?:patient|man|woman|boy|girl|male|female|toddler|infant|child|baby)|he|she)"
_ASIDE = r"(?:,[^,]*,|\s+(?:with|without|who)\b(?:(?!present|report)[^,.])*?)?"
_SAYS = (
    r"(?:(?:also|currently|further|initially|now|additionally|just|recently)\s+)*(?:reports?|reported|notes?"
    r"|noted|mentions"
    r"?|mentioned|states?|stated|says?|said|admits?(?: to)?|reveals?|describes?|described|recalls?|complains? of"
    r"|complained"
    r" of|is complaining of|presents?|presented|comes?|experiences|endorses|suffers from|has been experiencing|is"
    r" experiencing|believes|explains|indicates|claims)"
)
_LEAD = re.compile(rf"^{_SUBJECT}{_ASIDE}\s+{_SAYS}\b\s*(?P<rest>.+)$", re.IGNORECASE | re.DOTALL)
_BROUGHT = re.compile(
    rf"^{_SUBJECT} (?:is|was) brought (?:in |to [^,.]*? )?by (?:his|her) \w+ (?:due to|for|because of|with"
    rf"|after having had)\s+"
    rf"|^{_SUBJECT} with (?=.* (?:is|was) (?:brought|seen|referred|evaluated)\b)",
    re.IGNORECASE,
)
_BARE_LEAD = re.compile(
    r"^(?:reports?|complains of|experiences|endorses|notes|mentions|admits(?: to)?|states|describes|recalls"
    r"|says)\s+(?P<rest>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_ARRIVES = re.compile(
    r"^(?:to (?:(?:the|our|a) )?[^,]*?(?:department|clinic|hospital|office|physician|doctor"
    r"|room)\s*)?(?:with (?:complaints? of"
    r"\s+|a chief complaint of\s+)?|for (?:an? |the )?(?:\w+ )?(?:evaluation|assessment|management"
    r"|examination) of|for|because of|due to|complaining of|after having had)\s*",
    re.IGNORECASE,
)
_WHO_PRESENTS = re.compile(
    r"^(?:the patient is )?(?:an?|the) (?:otherwise |previously |healthy )*[^,.]{0,60}?\b(?:man|woman|boy"
    r"|girl|male|female"
    r"|patient|child|infant|teenager|adolescent|lady|gentleman|student)(?:, [^,.]{3,60},)? (?:who )?"
    r"(?=presents?\b|presented\b|comes?\b)",
    re.IGNORECASE,
)
_DOING = re.compile(
    r"exercising|adopting|working|playing|running|lifting|walking|travelling|traveling"
    r"|attending|eating|drinking|losing|gaining|seeing|getting|passing|waking|becoming"
    r"|going|sleeping|struggling|trying|living|studying|driving"
)
"""What somebody was doing; other words in '-ing' name a complaint or qualify one."""
_THAT = re.compile(r"^(?:that|having had|having|experiencing|suffering from|to have)\s+", re.IGNORECASE)
_DENIES = re.compile(
    rf"^(?:(?:{_SUBJECT}|I)\s+(?:also )?)?den(?:ies|ied|y)\s+(?:any |having (?:an?y? )?|experiencing "
    rf"|a history of )*(?P<rest>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_VERBS = (
    "works|lives|resides|doesn't|drinks|smokes|uses|takes|has|is|does|plays|enjoys|performs|wears|was|had|recently|currently|dresses|eats"
    "|goes|sleeps|exercises|runs|attends|keeps|moved|never|feels|felt|underwent|quit|stopped|took|gets|just|finished"
    "|started|developed|experienced|presented|underwent|suffered|occasionally|rarely|seldom|often|consumes|sometimes|tires|drools|passes"
)
_BARE_VERB = re.compile(rf"^(?:{_VERBS})\b(?!,)", re.IGNORECASE)
_ROLE = re.compile(
    r"^(?:non-?smoker|(?:former |ex-?|current |heavy |occasional |cigar )*smoker|retired\b|(?:college |medical "
    r"|graduate )?student"
    r"|\w+ (?:student|agent|caretaker|instructor|guide)|architect|pensioner|pupil|[\w ]*\b(?:teacher|engineer"
    r"|nurse|driver|worker|farmer|widow(?:er)?|clerk|designer|manager|lawyer))",
    re.IGNORECASE,
)
_FULL = re.compile(
    r"\b(?:is|are|was|were|has|have|had|does|did|do|began|started|felt|feels|seems|worsens?|improves?|helps?"
    r"|gets?|comes?"
    r"|goes|went|took|tried|moves?|increased|lasted|led|yielded|prompted|suggests?|suggested|revealed|progressed|grew|occurs?|developed|spreads?|radiates?|remains?|happened|ran"
    r"|lives?|found"
    r"|involved|regained|recalls?|refuses|observed|cites|shows|ceased|died|retains?|hurts?|keeps?|made|makes"
    r"|cannot|can|would|could|(?-i:may)|might|appear|appears|appeared|resolves?|witnessed|sustained|suffered|lost|gained|grew|became"
    r"|becomes|produces|disrupts?|interferes?|prevents?|affects?|causes?|requires?|bothers?|responds?"
    r"|persist(?:s|ed)?|worsened (?:over|after|since|in|and)|exacerbates?"
    r"|radiates?|lasts|includes?|included|occurred|subsides?|fluctuates?|fails?|failed|limits?|irritates?)\b",
    re.IGNORECASE,
)
_LONG_AGO = re.compile(
    r"^(?!had|his|her|my|the|this|these).*\b(?:ago|earlier|in (?:19|20)\d\d|at (?:the )?age|at \d+ (?:months|years)"
    r"|years? (?:prior|before))\b",
    re.IGNORECASE,
)
_TELLING = re.compile(
    r"^(?:an? )?(?:known |previous |prior |past |significant )?(?:medical )?history of ", re.IGNORECASE
)
_STATE = re.compile(
    r"^(?:(?:otherwise|previously|generally|currently|mostly) )?(?:up[- ]to[- ]date"
    r"|(?:un)?employed|healthy|well|enrolled|born|married|single"
    r"|divorced|(?:sexually|physically) active|nonverbal|bed-?bound|malnourished|allergic|pregnant"
    r"|vaccinated|not on|fully|unable|right-handed|left-handed|\w+-free|off|(?:immuni[sz]ed|compliant|adherent|aware"
    r"|unaware|socially active|(?:obese|overweight|asymptomatic|(?:pre|post)menopausal|independent|dependent"
    r"|immunocompetent|immunocompromised)(?=\W*$|[,;(]| \(| (?:since|between|otherwise|at|after|until|with|and|but"
    r"|for|on|due)\b)))\b(?!-)",
    re.IGNORECASE,
)
_KIN = re.compile(
    r"^(?:father|mother|parents|brother|sister|grand\w+|uncle|aunt|son|daughter|husband|wife)\b", re.IGNORECASE
)
_WHOSE = {"he": "His", "she": "Her"}
_ORGAN = "(?:Lung|Heart|Kidney|Renal|Liver|Thyroid|Skin|Bowel|Chronic|Autoimmune|Coronary|Celiac|Coeliac|Eye|Bone)"
_AS_IT_IS = re.compile(r"^(?:nobody|no one|everyone|both|it|it['\u2019]s|never mind|my|we|they|there)\b", re.IGNORECASE)
UNKNOWN = "I don't know, I'm afraid."
UNNOTICED = "Not that I have noticed."
REST_UNKNOWN = "More than that I don't know, I'm afraid."
NO_RELATIVE = "Not that I know of."
OPINION = "I don't know what it is. I hoped that you could tell me."
RESULTS = "I don't know anything about results. You would have to examine me or order the test."
GREETING = "Hello, doctor."
NOTHING_MORE = "No, I can't think of anything else."


@lru_cache(maxsize=8192)
def say_fact(fact: Fact, voice: PatientVoice) -> str:
    """One fact as its speaker says it."""
    said = _finish(_first_person(fact.text, fact.section.lower(), voice), voice)
    if voice.own_words:
        return said
    has = "has" if voice.speaks_for else "have"
    said = re.sub(
        r"(?<=\w)(,? )(and|but|or) (?:he |she |I )?den(?:y|ies|ied) (?:any |having )*", rf"\1\2 {has} had no ", said
    )
    said = re.sub(r"\bhad no (?=\w+ing (?:any|the|a)\b)", "had no ", said)
    return re.sub(
        r"^(?:I|He|She) (?:deny|denies|denied) (?:any )?",
        f"{'He' if voice.speaks_for == 'he' else 'She' if voice.speaks_for else 'I'} {has} had no ",
        said,
    )


def say_age(fact: Fact, voice: PatientVoice) -> str:
    """How old the patient is, by a fact that tells it."""
    _, _, am = pronouns(voice)
    match = AGE.search(fact.text)
    if match is None:
        word = re.search(r"\b([a-z]+)[- ](year|month|week|day)s?[- ]old", fact.text, re.I)
        plural = "" if word and word[1].lower() in ("one", "a") else "s"
        return f"{am} {word[1].lower()} {word[2].lower()}{plural} old." if word else say_fact(fact, voice)
    number, unit = match[1] or match[3], (match[2] or "year").lower()
    return f"{am} {number} {unit}{'' if number == '1' else 's'} old."


def say_denied(items: Sequence[Statement]) -> str:
    """The denied things, in few words."""
    names = list(dict.fromkeys(name for item in items if (name := _thing(item.text))))
    return f"No, no {' or '.join(names)}." if names else "No."


def _thing(text: str) -> str:
    """What a phrase denies, without the words of denial: 'denies any fever' denies 'fever'."""
    text = re.sub(r"^.*\b(?:den(?:ies|ied|y)|no|not|never|without|nor|n't|negative for)\s+(?=\w)", "", text, flags=re.I)
    text = re.sub(
        r"^(?:(?:any|having|had|have|been|experiencing|recent|a|an|the|known|or|other|has|ever|noticed) )+",
        "",
        text,
        flags=re.I,
    )
    text = re.sub(r"\s*\([^)]*\)?", "", text).strip(" .")
    return text[:1].lower() + text[1:] if not text[:2].isupper() else text


def _first_person(text: str, section: str, voice: PatientVoice) -> str:
    """A note's sentence or phrase as its speaker says it; `_finish` puts it in plain words."""
    if voice.own_words and PRESENT.search(section):
        return text
    text = with_subject(_without_report(text))
    of_others = voice.own_words and re.match(r"(?:he|she|they|his|her|their)\b", text, re.I)
    if of_others or (_MINE.search(text) and not re.match(rf"(?:{_VERBS})\b", text)):
        return text
    _, _, am = pronouns(voice)
    text = (
        re.sub(
            r"^(?:the )?(?:(?:patient|child|infant|boy|girl|newborn)['\u2019]s |his |her )?(?:mother|father"
            r"|parents?|daughter|son|husband|wife) (?:also )?(?:reports?|states?|notes|says|recalls) ",
            "The patient reports ",
            text,
            flags=re.I,
        )
        if voice.speaks_for
        else text
    )
    text = _relayed(text) if voice.speaks_for else text
    text = re.sub(
        r"^(?:the |(?:the )?patient['\u2019]s )(?=(?:mother|father|parents|wife|husband|brother|sister)\b)",
        "",
        text,
        flags=re.I,
    )
    text, whole = phrased(text, voice)
    if whole:
        return _as_speaker(text, voice)
    if _KIN.match(text) and _FULL.search(text):
        return f"{_WHOSE.get(voice.speaks_for or '', 'My')} {text[0].lower()}{text[1:]}"
    if _AS_IT_IS.match(text):
        return text
    if match := _DENIES.match(text) or re.match(r"negative for (?P<rest>.+)", text, re.I | re.S):
        return _say_absent(match["rest"], voice)
    text = _BROUGHT.sub("The patient presents with ", text)
    text = _WHO_PRESENTS.sub("The patient ", text)
    lead = _LEAD.match(text) or _BARE_LEAD.match(text)
    if lead:
        return _say_report(lead["rest"], voice)
    if AGE.search(text) and re.match(
        rf"{_SUBJECT}(?:[ .]*$|, (?!who\b|presents?\b|presented\b|is\b|was\b|has\b))", text, re.I
    ):
        return _phrase(text, section, voice)
    if re.match(rf"(?:{_SUBJECT}|(?:his|her) (?:mother|father|parents?|wife|husband))\b", text, re.I) or _starts_full(
        text
    ):
        return _as_speaker(text, voice)
    if _BARE_VERB.match(text):
        text = re.sub(r"^(currently )(?=\w+ing\b|on\b)", r"is \1", text[0].lower() + text[1:], flags=re.I)
        return _as_speaker(f"The patient {text}", voice)
    if _ROLE.match(text):
        role = text[0].lower() + text[1:]
        if re.fullmatch(r"retired\W*", role):
            return f"{am} {role}"
        return f"{am} {'an' if role[0] in 'aeiou' else 'a'} {_as_speaker(role, voice)}"
    return _phrase(text, section, voice)


def _without_report(text: str) -> str:
    """A note's sentence without the words that say who noted it."""
    text = re.sub(r"(?: (?:is|are|was|were))? (?:reported|noted)\.?$", "", text).replace(
        "does not report any", "has no"
    )
    text = re.sub(
        r"^(?:according to (?:the )?(?:patient|mother|father|parents|him|her)|additionally|however),? ",
        "",
        text,
        flags=re.I,
    )
    return re.sub(
        r"^(?:up)?on (?:further |additional )?questioning,? |^additional questioning revealed ",
        "",
        text.strip(),
        flags=re.I,
    )


def _relayed(text: str) -> str:
    """What a relative reports or denies, as the relative's own words about the patient."""
    text = re.sub(
        r"^(?:his |her |the )?(?:patient['\u2019]s )?(?:mother|father|parents) den(?:y|ies) ",
        "The patient denies ",
        text,
        flags=re.I,
    )
    return re.sub(
        r"^(?:the )?(?:patient['\u2019]s )?(?:family|roommates?"
        r"|they) (?:members? )?(?:also )?(?:mentions?|reports?|states?) (?:that )?",
        "",
        text,
        flags=re.I,
    )


def _phrase(text: str, section: str, voice: PatientVoice) -> str:
    """A phrase without a subject: what a patient has, takes, or has not."""
    subject, have, am = pronouns(voice)
    low = (
        text
        if re.match(rf"[A-Z]{{2}}|(?!{_ORGAN})[A-Z]\w* (?:disease|syndrome)", text)
        else text[:1].lower() + text[1:]
    )
    if said := nothing_in(section, text):
        return said
    if re.match(
        r"(?:released|(?:\w+ly )?diagnosed|treated|found|started on|seen|told|involved|hospitali[sz]ed|admitted"
        r"|exposed|adopted|referred|terminated) ",
        text,
        re.I,
    ):
        low = re.sub(r"^((?:\w+ly )?diagnosed) (?!with|as|at|in|by|on)", r"\1 with ", low)
        return _as_speaker(f"{'I was' if not voice.speaks_for else subject + ' was'} {low}", voice)
    if _STATE.match(text):
        return _as_speaker(f"{am} {low}", voice)
    if AGE.match(text) or re.match(r"(?:an? )?(?:\w+ )?\d+[- ](?:year|month|week|day)s?[- ]old", text, re.I):
        return f"{am} {'an' if re.match('8|11|18', low) else 'a'} {low}"
    if "medication" in section and not re.search(r"\bno(?:ne)?\b|\bnot\b", low):
        return _as_speaker(f"{subject} take{'s' if voice.speaks_for else ''} {text}", voice)
    if match := span_of(text):
        return _say_report(match[0], voice)
    if "family" in section:
        return of_family(text, voice)
    low = _TELLING.sub("a history of " if re.search(r"\bhistory of \w+ing\b", low) else "", low)
    if (_FULL.search(re.split(r"\b(?:that|which|who)\b", low)[0]) and not low.startswith("no ")) or re.search(
        r"\b(?:he|she|they|I|patient)\b \w+", low
    ):
        return _as_speaker(text, voice)
    return _as_speaker(f"{subject} {have}{' had' if _LONG_AGO.search(low) else ''} {with_article(low)}", voice)


def _say_report(rest: str, voice: PatientVoice) -> str:
    """What follows 'The patient reports' or 'presents', as the speaker says it."""
    subject, have, am = pronouns(voice)
    rest = _ARRIVES.sub("", rest.strip())
    if re.match(r"^that\b", rest, re.I):
        return _as_speaker(rest[5:6].upper() + rest[6:], voice)
    rest = re.sub(r" (?:is|was) (?:brought|seen|referred|evaluated)\b.*", "", _THAT.sub("", rest))
    contracted = f"{subject}'ve" if subject == "I" else f"{subject}'s"
    if match := span_of(rest):
        return _as_speaker(f"{contracted} had {with_duration(match)}", voice)
    rest = _TELLING.sub("a history of ", rest)
    if re.match(r"^noticing\b", rest, re.I):
        return _as_speaker(f"{subject} noticed{rest[8:]}", voice)
    if match := re.match(r"^concern(?:s|ed) (?:about|of|with|for|that|regarding) ", rest, re.I):
        return _as_speaker(f"{am} worried about {rest[match.end() :]}", voice)
    if (match := re.match(r"^([a-z-]+ing)\b(?! of\b)", rest, re.I)) and _DOING.fullmatch(match[1].lower()):
        past = re.search(r"\b(?:ago|when)\b", rest) is not None
        was = f"{subject} was" if past else f"{contracted} been"
        return _as_speaker(f"{was} {rest}", voice)
    if re.match(r"^being\b", rest, re.I):
        return _as_speaker(f"{am}{rest[5:]}", voice)
    if re.match(r"^(?:feeling|taking|using|wearing)\b", rest, re.I):
        return _as_speaker(f"{contracted} been {rest}", voice)
    if re.match(r"^(?:he|she|his|her|it|the \w+ (?:is|was|has)|this|these|there|they)\b", rest, re.I) or _clause(rest):
        return _as_speaker(rest[:1].upper() + rest[1:], voice)
    return _as_speaker(
        f"{subject} {have} {with_article(rest[:1].lower() + rest[1:]) if not rest[:2].isupper() else rest}", voice
    )


def _clause(rest: str) -> bool:
    """Whether the words have a subject and a verb of their own."""
    head = rest.split(",", maxsplit=1)[0]
    return (
        re.match(
            r"^(?:the|his|her|these|this|symptoms?|pain)\b[\w' -]*\b(?:is|are|was|were|has|have|had|worsens?"
            r"|improves?|started|began|feels?)\b",
            head,
            re.I,
        )
        is not None
    )


def _say_absent(rest: str, voice: PatientVoice) -> str:
    """What follows 'The patient denies', as the speaker says it."""
    subject, have, am = pronouns(voice)
    rest = re.sub(r"^an? ", "", rest.strip())
    if re.match(r"^(?:ever )\w+ing\b", rest):
        gerund = re.sub(r"^ever having\s+", "", rest)
        return _as_speaker(f"{subject} {have} never had {gerund}", voice)
    if re.match(r"^[a-z]+ing\b(?! (?:or|and)\b)", rest) and not rest.startswith(
        ("swelling", "bleeding", "itching", "vomiting", "wheezing")
    ):
        return _as_speaker(
            f"{am} not {rest}" if rest.startswith(("taking", "using", "drinking", "smoking")) else f"No {rest}", voice
        )
    negated = f"{subject} {have}n't had any" if subject == "I" else f"{subject} hasn't had any"
    return _as_speaker(f"{negated} {rest}", voice)


def _starts_full(text: str) -> bool:
    return (
        re.match(
            r"^(?:earlier|recently|yesterday|last|two|three|four|five|\w+ (?:hours?|days?|weeks?"
            r"|months?) (?:ago|later)|family history|no [\w ]+ (?=was\b|were\b)"
            r"|the|his|her|these|this|it|there|over|for|since|in|one|on|after|when|during|symptoms?|pain|rest"
            r"|walking|although|as an?)\b",
            text,
            re.I,
        )
        is not None
        and _FULL.search(text) is not None
    )


def _as_speaker(text: str, voice: PatientVoice) -> str:
    """`text` with the patient as its speaker, or as 'he' or 'she' where somebody else speaks."""
    if voice.speaks_for:
        text = re.sub(r"\b(?:her|his|their) (?:child|son|daughter|baby|infant)\b", "the child", text, flags=re.I)
        text = re.sub(r"\b(?:she|he|the parents?|the mother) believes\b", "I believe", text, flags=re.I)
        text = re.sub(r"\bthey (?:also )?(?=noticed|report)", "we ", text, flags=re.I)
        he, his = voice.speaks_for, {"he": "his", "she": "her"}.get(voice.speaks_for, "the child's")
        text = re.sub(
            r"\b(?:the|this) patient['\u2019]s\b|\bthe (?:boy|girl|man|woman|child|infant|newborn|baby"
            r"|toddler)['\u2019]s\b",
            his,
            text,
            flags=re.I,
        )
        return re.sub(
            rf"^{_WHO}(?:patient|man|woman|boy|girl|toddler|infant|male|female)\b|\bthe (?:patient|child|infant"
            rf"|newborn|boy|girl|baby|toddler)\b",
            he,
            text,
            flags=re.I,
        )
    if re.match(r"(?:the |his |her )?(?:patient['\u2019]s )?(?:mother|father|parents?) \w+", text, re.I):
        text = re.sub(r"\b(?:her|his|their) (?:child|son|daughter)(['\u2019]s)?\b", r"the patient\1", text, flags=re.I)
    text = re.sub(r"\b(?:the|this) patient['\u2019]s\b", "my", text, flags=re.I)
    text = re.sub(r"\b(with|by|to|of|for|from) (?:the|this) patient\b", r"\1 me", text, flags=re.I)
    text = re.sub(
        r"\b(?:(?:the|this) patient|(?<!\ba )(?<!\bas )patient(?= (?:is|was|has|had|denies|reports|notes)\b))\b",
        "I",
        text,
        flags=re.I,
    )
    text = re.sub(
        rf"^{_WHO}(?:patient|man|woman|boy|girl|male|female)\b(?=\s+(?:has|is|was|had|presents))", "I", text, flags=re.I
    )
    kin = re.search(
        r"\b(?:mother|wife|sister|daughter|aunt|grandmother)\b"
        if voice.sex == "female"
        else r"\b(?:father|husband|brother|uncle|grandfather)\b",
        text,
        re.I,
    )
    head, tail = (text[: kin.end()], text[kin.end() :]) if kin and voice.sex else (text, "")
    if re.match(r"^\s+(?:who|has|had|is|was|with)\b", tail):
        return agree_verbs(own_pronouns(head, voice.sex)) + tail
    return agree_verbs(own_pronouns(text, voice.sex))


@cache
def _plain_words() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Medical words and what a patient says for them (`data/history/plain_words.csv`)."""
    rows = history_rows("plain_words.csv")
    return tuple((re.compile(rf"\b{row['medical']}\b", re.IGNORECASE), row["plain"]) for row in rows)


def _finish(text: str, voice: PatientVoice) -> str:
    """A sentence with a patient's words for medical ones, a capital letter and a full stop."""
    text = " ".join(text.split()).strip(" ,;")
    whose = _WHOSE.get(voice.speaks_for or "", "My").lower()
    for medical, mine in _plain_words():
        plain = re.sub(r"\bmy\b", whose, mine)
        plain = re.sub(r"\bI\b", voice.speaks_for, plain) if voice.speaks_for else plain
        text = medical.sub(plain, text)
        text = re.sub(rf"\ba(?= {plain}\b)", "an", text) if plain[0] in "aeiou" else text
    text = re.sub(r"\b(.{4,40}) \(\1\)", r"\1", text)
    text = text[:1].upper() + text[1:]
    return text if text[-1:] in ".!?" else f"{text}."
