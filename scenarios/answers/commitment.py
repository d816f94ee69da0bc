"""Reads the diseases that a final answer asserts, and how it joins them, without knowing the truth."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

import msgspec
from msgspec.structs import replace

from wardround.engine.text import regex
from wardround.scenarios.answers.answer_markup import (
    MOST_NAMED,
    brackets_apart,
    headed_answer,
    legible,
    unfilled,
    unmarked,
)
from wardround.scenarios.answers.grounds import without_reasons
from wardround.scenarios.answers.joined_phrases import ADDING, JOINER, Choice, Link, phrases, weakened
from wardround.scenarios.answers.open_choice import left_open, weighed
from wardround.scenarios.answers.remarks import is_finding, remarks
from wardround.scenarios.answers.stance import StanceClause, asserting, clauses
from wardround.scenarios.answers.taken_back import standing
from wardround.scenarios.diseases.contradiction import genus_in_full, organism
from wardround.scenarios.diseases.disease_heads import (
    SHARED,
    adds_detail,
    bare_name,
    dealing,
    disease_like,
    general,
    glued,
    is_detail,
    loose,
)
from wardround.scenarios.diseases.foreign_diseases import diseases_in_english
from wardround.scenarios.diseases.mondo import one_name
from wardround.scenarios.diseases.names_within import kinds_within, names_within, unrelated_names
from wardround.scenarios.terms.cues import cue, cue_words, cues_in_english, every_word
from wardround.scenarios.terms.wording import key, list_words, plain_lines, tokens, vocabulary

MOST_CAUSES = 2
"""Most consecutive causes that count as detail of one disease; later causes of the chain are asserted separately."""
LONG_BRACKET = 3
"""Most words of a short bracket; a longer one may name a disease, whatever its words."""
MOST_ALIASES = 2
"""Most other names that an answer may give to a disease."""

_WORDS: dict[Link, str] = {
    "first": "", "and": ", ", "with": " with ", "then": " with ", "shown": " with ", "due": " due to "
}  # fmt: skip
_NUMBERED = regex(r"(?:^|(?<=\s))\(?(\d{1,2})[.):]\s+(?=[A-Za-z])")
_ENTRY = regex(r"\s*[;\n]\s*(?:\(?\d{1,2}[.):]\s|[-*•]\s)?|(?:^|\s)\(?\d{1,2}[.):]\s|\s*>\s*")
_GRADED = regex(r"\bWHO (?=(?i:(?:CNS )?(?:grade|class|group|type|stage)|functional))")
"""The organisation in 'WHO grade 3', which is not the word 'who'."""
_INFECTING = regex(r"(?i)\s+(?:co-?|super-?)?(infection|pneumonia)$")
"""The noun that two infections share: 'Legionella and Bordetella coinfection'."""
_TWO_LETTERS = regex(r"\b((?i:hepatitis|influenza))(?: virus)? ([A-E]) (?:and|with|plus|\+) ([A-E])\b")
_INFECTED = regex(
    r"(?i)\b(infection|infestation)\s+(?:with|by)\s+(?:(?:the|an?)\s+)?((?:(?!(?:and|or|with|by|in|of)\b)[\w-]+\s+){1,2}"
    r"(?:virus|mite|parasite|bacillus|bacteri(?:um|a)|fungus|worm|louse|spirocha?ete)|(?<=infestation with )"
    r"(?-i:[A-Z][a-z]{3,} [a-z]{4,}))(?=\s*(?:$|[,.;\n)]))"
)
_IN_BRACKETS = regex(r"\([^()]{0,400}\)")
_CALLED = (
    r"(?:also (?:called|known as|termed|named|referred to as)|a\.?k\.?a\.?|otherwise known as"
    r"|formerly(?: called| known as)?|previously known as|i\.e\.,?|alias|that is,|known as|synonym:?)"
)
_ALSO_CALLED = regex(rf"(?i),?\s*\b{_CALLED}\s+((?:(?!\band\b)[^,;])+),?")
_ROUND = {ord("("): " ", ord(")"): " "}
_GOES_ON = regex(rf"(?i)[(\[]\s*({cue_words('due', 'then')}\s+[^()\[\]]{{3,200}})[)\]]")
"""A bracket that continues the sentence: 'mitral regurgitation (due to endocarditis)'."""
_BRACKETED = regex(rf"(?i)[(\[]\s*{_CALLED}\s+(?=[^()\[\]]*[)\]])")
_INDUCED = regex(r"(?i)^(?P<cause>.{2,80}?)[-–](?:induced|related|associated|triggered)\s+(?P<head>\S.*)$")
_LEADING = regex(
    rf"(?i)^(?:\W|(?:{cue_words('hedging', 'adverb', 'ranking')}|either|both|a|an|the|as|of|to be|be|it|is|only"
    rf"|case of|diagnosis of"
    r"|evidence of|(?:co-?infections?|coexistence|combination|presence|co-?occurrence)\s+(?:of|with|by)|combined"
    r"|synchronous|concurrent|coexisting|concomitant|superimposed|underlying|first|second|third|then|next|secondly"
    r"|thirdly"
    r"|primary diagnosis|secondary diagnosis|case \d+:?|even|all|some|his|her|their|your|my|has|have"
    r"|having)(?=[\W_]|$))+"
)
_SEVERAL = regex(
    r"(?i)^\W*(?:(?:(?:the|patient|has|with|a|synchronous|multiple|several|two|three|concurrent|simultaneous|primary|combined"
    r"|mixed|coexisting)\s+)+(?:infections|malignancies|tumou?rs|cancers|primaries|conditions|diseases|disorders"
    r"|diagnoses|pathologies)\s*(?:[:：,]|including|of|with|namely)\s+(?=\w)"
    r"|(?:(?:a|an|the|concurrent|simultaneous|mixed)\s+)*"
    r"(?:co-?infections?|coexistence|combination|co-?occurrence)\s+(?:of|with|by)\b)"
)
"""Words that announce several diseases, which follow: 'two infections: dengue and malaria', 'coinfection with'."""
_TRAILING = regex(
    rf"(?i)(?:\s+(?:{cue_words('likelihood')}|{cue_words('hedging')}|in both cases|in this case|here|too|either))+$"
)
_EXAMPLE = regex(
    rf"(?i)^\W*(?:such as|e\.?g|for example|like|including|likely|ddx|differential\w*)\b"
    rf"|{cue_words('or', 'apart', 'weak', 'denying', 'denied')}"
)
"""The beginning of a bracket that gives examples or guesses and asserts nothing."""
_SITED = regex(r"(?i)\b(?:of|in|involving|affecting|at|to|on)\s+(?:the\s+)?\w+(?:\s\w+)?$")
_EMPTY = list_words(
    """diagnosis diagnoses answer disease patient case cause condition finding findings symptom symptoms nothing
    anything something unknown none n/a na unclear undetermined insertdiagnosis placeholder insert final name likely
    there it this that these those he she they who what other another others more further doubt here everything
    presentation picture features signs yes no ok sure text template your my the a an is are of and to"""
)


class Asserted(msgspec.Struct, frozen=True):
    """One disease that an answer asserts.

    `name` is without brackets. `text` adds every stated detail (site, stage, organism). `aliases` are the contents of
    brackets and of phrases such as 'also called'. `link` says how the disease is joined to the one before it.
    """

    name: str
    text: str
    link: Link = "first"
    aliases: tuple[str, ...] = ()
    hedged: bool = False


class CommittedAnswer(msgspec.Struct, frozen=True):
    """What an answer commits to.

    `asserted` lists the diseases in order. `undecided` are alternatives in place of a diagnosis; none of them is
    asserted. `dropped` is what the answer denies or refuses to say. `ranked`: the answer declares a list by likelihood,
    so only its first entry counts. `simple`: nothing was left out, and the text is exactly what is asserted.
    """

    asserted: tuple[Asserted, ...] = ()
    undecided: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    ranked: bool = False
    hedged: bool = False
    refused: bool = False
    simple: bool = True


@lru_cache(maxsize=2048)
def read_answer(answer: str) -> CommittedAnswer:
    """Read the diseases of a final answer, without the truth; never raises, and takes time linear in the length.

    Reading begins at the last heading `Diagnosis:`. A clause that declares a final diagnosis cancels those before it.

    ::

        read_answer("Gout, not lupus").asserted[0].name  # 'Gout'
    """
    raw, answer = legible(answer), cues_in_english(diseases_in_english(standing(weighed(unmarked(answer)))))
    said = list(clauses(_prepared(answer)))
    taken_back = [place for place, clause in enumerate(said) if clause.retracts]
    said = said[taken_back[-1] :] if taken_back else said
    stated = asserting(said)
    finals = [place for place, clause in enumerate(stated) if clause.final]
    asserted, undecided = _asserted(_decided(stated[finals[0] if finals else 0 :]))
    if not asserted and not undecided:
        asserted, undecided = _asserted([clause for clause in map(_suggested, said) if clause is not None])
    offered = [] if asserted or undecided else _offered(said)
    if len(offered) == 1:
        asserted = [replace(one, hedged=True) for one in offered]
    elif offered:
        undecided = [one.name for one in offered]
    ranked = any(clause.ranked for clause in said) and _is_list(said)
    dropped = tuple(
        loose(clause.text.strip()) for clause in said if clause.stance in ("denied", "refused") and clause.text.strip()
    )
    asserted = _without_remarks(asserted)
    kept = tuple(asserted[:1] if ranked else asserted[:MOST_NAMED])
    return CommittedAnswer(
        kept,
        tuple(undecided[:MOST_NAMED]),
        dropped,
        ranked,
        hedged=bool(kept) and kept[0].hedged,
        refused=any(clause.stance == "refused" for clause in said),
        simple=len(said) == 1
        and bool(kept)
        and not dropped
        and raw.split() == answer.split()
        and not _left_out(answer, kept),
    )


def _without_remarks(asserted: Sequence[Asserted]) -> list[Asserted]:
    """The asserted diseases without findings, plans and courtesies among them; a cause stays unless it is a finding."""
    listed = [place for place, one in enumerate(asserted) if one.link in ("first", "and", "then")]
    silent = remarks([asserted[place].name for place in listed]) if len(asserted) > 1 else frozenset()
    leads = {place - 1 for place, one in enumerate(asserted) if one.link == "then"}
    gone = {
        listed[place]
        for place in silent
        if not asserted[listed[place]].aliases
        and (listed[place] not in leads or is_finding(asserted[listed[place]].name))
    }
    kept = [one for place, one in enumerate(asserted) if place not in gone]
    return [replace(kept[0], link="first"), *kept[1:]] if kept else list(asserted)


_ORDER = regex(r"(?i)\bin (?:\w+ )?order\b|\branked\b|\b(?:then|next|second|secondly|followed by|less)\b")


def _is_list(said: Sequence[StanceClause]) -> bool:
    """Whether the clauses are a list: more than one bullet, or words of order that only a list needs."""
    marked = sum(clause.marked for clause in said) > 1
    return marked or any(clause.in_order or _ORDER.search(clause.text) for clause in said)


def _left_out(text: str, kept: Sequence[Asserted]) -> bool:
    """Whether the answer has words that belong neither to an asserted disease nor to the wording of assertion."""
    known = {word for item in kept for word in tokens(" ".join((item.text, item.name)))} | every_word() | _EMPTY
    return any(len(word) > 1 and word not in known for word in tokens(loose(text)))


def entries(answer: str) -> tuple[str, ...]:
    """The entries of a list, separated by lines, numbers or semicolons; without any of these, by commas."""
    parts = [part.strip(" .,") for part in _ENTRY.split(loose(_prepared(unmarked(answer))))]
    parts = [part for part in parts if any(map(str.isalnum, part))]
    if len(parts) == 1:
        parts = [part.strip() for part in parts[0].split(",")]
    return tuple(part for part in parts if any(map(str.isalnum, part)))


def join_asserted(items: Sequence[Asserted]) -> str:
    """The diseases as one text, joined as in the answer."""
    return "".join((_WORDS[item.link] if place else "") + item.text for place, item in enumerate(items))


def _prepared(answer: str) -> str:
    """The answering part of a reply, in plain characters; "" for an unfilled template."""
    text = genus_in_full(_GRADED.sub("", re.sub(r"[\x00-\x03]", " ", legible(answer))))
    text = _TWO_LETTERS.sub(r"\1 \2 and \1 \3", _INFECTED.sub(r"\2 \1", text))
    text = plain_lines(text).replace("*", "").replace("__", "").replace("’", "'")
    text = re.sub(r"\s*\n\s*", "\n", re.sub(r"[^\S\n]+", " ", cues_in_english(glued(text))))
    text = headed_answer(_IN_BRACKETS.sub(lambda match: re.sub(r"[;:\n]|\.\s", ", ", match[0]), text))
    if unfilled(text):
        return ""
    numbers = [int(match[1]) for match in _NUMBERED.finditer(text)]
    return _NUMBERED.sub(r"\n\1. ", text) if numbers[:2] in ([1, 2], [1, 1]) else text


def _decided(stated: Sequence[StanceClause]) -> list[StanceClause]:
    """Drop clauses that only add a possibility to a more certain one."""
    if stated and not stated[0].weak:
        return [clause for clause in stated if not clause.weak]
    return list(stated)


def _suggested(clause: StanceClause) -> StanceClause | None:
    """The disease that an explanation suggests, used if nothing else is asserted: 'the crystals confirm gout'."""
    verb = cue("suggesting").search(clause.text) if clause.stance == "tells" else None
    return replace(clause, text=clause.text[verb.end() :]) if verb else None


def _asserted(stated: Sequence[StanceClause]) -> tuple[list[Asserted], list[str]]:
    """(the diseases of the clauses in order, the alternatives if the first clause with a disease leaves it open)."""
    asserted: list[Asserted] = []
    if len(stated) > 1 and all(clause.weak for clause in stated):
        return [], [item.name for clause in stated for item in _named(clause.text)[0]]
    for clause in stated:
        items, options = _named(clause.text)
        if options and not asserted:
            return [], options
        for item in items:
            link: Link = "and" if item.link == "first" and asserted else item.link
            asserted.append(replace(item, link=link, hedged=clause.hedged))
    return asserted, []


def _offered(said: Sequence[StanceClause]) -> list[Asserted]:
    """The possibilities that an answer without assertions leaves open, part by part."""
    names: list[Asserted] = []
    for items, options in (_named(clause.text) for clause in said if clause.stance == "open"):
        names += [Asserted(option, option) for option in options] or items
    return names


def _named(text: str) -> tuple[list[Asserted], list[str]]:
    """(the diseases that a clause names, in order; the alternatives that it leaves open in place of the first)."""
    text = _GOES_ON.sub(r"\1", _SEVERAL.sub("", without_reasons(text)))
    text, aliases = brackets_apart(
        _ALSO_CALLED.sub(lambda name: f" ({name[1].translate(_ROUND)}) ", _BRACKETED.sub("(", text))
    )
    if JOINER.search(text) and one_name(loose(re.sub("\x02\\d+\x03", " ", text))):
        return [one for one in [_written(text, aliases)] if one], []
    pieces = list(phrases(text))
    if left_open([(piece.text, piece.choice) for piece in pieces]):
        return [], [one.name if (one := _written(piece.text, aliases)) else piece.text.strip() for piece in pieces]
    named: list[tuple[Asserted, Choice]] = []
    reach = ""
    for piece in weakened(pieces):
        name = _bare_piece(piece.text)
        reach = dealing(name) or (reach if reach == "clause" or piece.link in ADDING else "")
        if not reach and (one := _written(piece.text, aliases)):
            named.append((replace(one, link=piece.link), piece.choice))
    return _joined(named)


def _written(piece: str, glosses: Sequence[str]) -> Asserted | None:
    """A phrase with its marks undone; None if it names nothing."""
    aliases = [loose(glosses[int(number)]) for number in re.findall("\x02(\\d+)\x03", piece)]
    name = _bare_piece(piece)
    if not [word for word in tokens(name) if word not in _EMPTY] or dealing(name):
        return None
    named = [alias for alias in aliases if key(alias) and not _EXAMPLE.search(alias)]
    return Asserted(name, " ".join((name, *(f"({alias})" for alias in named))), aliases=tuple(named))


def _bare_piece(piece: str) -> str:
    name = re.sub("\x02\\d+\x03", " ", piece)
    return bare_name(_TRAILING.sub("", _LEADING.sub("", " ".join(loose(name).split()))).strip(" .,:;-–—\"'<>[]{}"))


def _joined(pieces: Sequence[tuple[Asserted, Choice]]) -> tuple[list[Asserted], list[str]]:
    """(the diseases among the phrases, the alternatives); a phrase that only adds detail joins the one before it."""
    joined: list[Asserted] = []
    options: list[str] = []
    causes, seen, main = 0, 0, True
    for place, (one, choice) in enumerate(pieces):
        link = one.link
        causes += link == "due"
        if not joined:
            joined += _apart(replace(one, link="first"))
            continue
        last = joined[-1]
        main, seen = main and all(each.link in ("first", "and") for each in joined[seen:]), len(joined)
        head, detail = main and link in ("first", "and"), is_detail(one.name)
        # 'with' and a phrase that is no disease; but not 'ranula with plunging ranula'
        adding = link in ADDING and causes <= MOST_CAUSES and not disease_like(one.name)
        adding = adding and tokens(one.name)[-1:] != tokens(last.name)[-1:]
        if not detail and ((choice and head) or (choice == "apart" and _whole(one, last))):
            options = [*(options or [each.name for each in joined]), one.name]
            joined.append(replace(one, link="and"))
        elif choice and not head and not detail:
            continue  # the alternative in a side part ('due to A or B') is not asserted
        elif adding or adds_detail(one.name, last.text):
            how: Link = "due" if link == "and" and organism(one.name) else link
            joined[-1] = replace(last, text=last.text + _WORDS[how] + _with_detail(one))
            options = [*options[:-1], last.name] if options else options
        elif options and head:
            options.append(one.name)
            joined.append(replace(one, link="and"))
        elif link == "and" and _SITED.search(last.name) and not (disease_like(one.name) or names_within(one.name)):
            # 'aspergillosis involving lungs and right eye'
            joined[-1] = replace(last, name=f"{last.name} and {one.name}", text=f"{last.text} and {one.text}")
        elif place == 1 and link == "and" and _shared(joined[0], one) and (kind := _INFECTING.search(one.name)):
            joined[0] = replace(joined[0], name=f"{joined[0].name} {kind[1]}", text=f"{joined[0].text} {kind[1]}")
            name, text = (_INFECTING.sub(r" \1", written) for written in (one.name, one.text))
            joined.append(replace(one, name=name, text=text, link="and"))
        elif place == 1 and link == "and" and (glue := _opens(joined[0], one)):
            name, text = f"{joined[0].name}{glue}{one.name}", f"{joined[0].text}{glue}{one.text}"
            joined[:1] = _separate(replace(one, name=name, text=text, link="first"))
        else:
            joined += _apart(one)
    return [each for one in joined for each in _separate(one)], options


def _opens(one: Asserted, other: Asserted) -> str:
    """What joins two phrases of one name: 'Stage 1B, grade 2 endometrial cancer', 'hand and foot syndrome'; else ""."""
    detail = organism(one.name) or (is_detail(one.name) and not any(map(may_name, one.aliases)))
    return " " if detail else " and " if _shared(one, other) else ""


def _shared(one: Asserted, other: Asserted) -> bool:
    """Whether two phrases share the last noun of the second: 'Legionella and Bordetella coinfection'."""
    return (
        not (disease_like(one.name) or one.aliases)
        and tokens(other.name)[-1:] != ()
        and tokens(other.name)[-1] in SHARED
    )


def _with_detail(one: Asserted) -> str:
    """A phrase of detail, without brackets that name other diseases."""
    return " ".join((one.name, *(f"({alias})" for alias in one.aliases if is_detail(alias) or alias.isupper())))


def _whole(one: Asserted, before: Asserted) -> bool:
    """Whether a phrase after 'versus' or a slash is an alternative; 'HSV/VZV' and 'fever/cough' hold none."""
    states = general(one.name) and general(before.name)
    return disease_like(one.name) and not one.name.isupper() and not states


def _apart(one: Asserted) -> Iterator[Asserted]:
    """The diseases of a phrase, each by itself: unrelated ones, a disease and its cause, those listed in a bracket."""
    for each in _separate(one):
        yield from _cause_apart(each)


def _separate(one: Asserted) -> Iterator[Asserted]:
    """The unrelated diseases of a phrase ('gout per asthma'), or siblings that share a noun.

    Two diseases that stand side by side are a compound, whose head is the last ('sarcoidosis migraine').
    """
    groups = unrelated_names(one.name)
    if len(groups) < 2:
        names = () if _INDUCED.match(one.name) else kinds_within(one.text)
        siblings = [Asserted(name, name, "and" if at else one.link, hedged=one.hedged) for at, name in enumerate(names)]
        yield from siblings or [one]
        return
    first, *others = groups
    if len(groups) == 2 and _COMPOUND.fullmatch(one.name, first[-1].end, others[0][0].start):
        yield one if _INDUCED.match(one.name) else replace(one, name=one.name[others[0][0].start :])
        return
    ends = [group[0].start for group in others]
    name = one.name[: ends[0]].strip(_EDGES)
    yield replace(one, name=name, text=name, aliases=())
    for start, end in zip(ends, [*ends[1:], len(one.name)], strict=True):
        name = one.name[start:end].strip(_EDGES)
        yield Asserted(name, name, "and")


_COMPOUND = regex(r"\s+|(?:\s\w+)?[-–][a-z]+\s+")
"""What stands between the parts of a compound: nothing, or the end of an adjective ('influenza-associated')."""
_EDGES = " .,:;_-–—\"'“”„‘’«»()[]"


def _cause_apart(one: Asserted) -> Iterator[Asserted]:
    """Split 'A-induced B' into 'B due to A'; diseases listed in a bracket are asserted as well."""
    induced = _INDUCED.match(one.name)
    listed = [item for alias in one.aliases for item in _list_in(alias)]
    plain = tuple(alias for alias in one.aliases if not _list_in(alias))
    called = [alias for alias in plain if may_name(alias)]
    if len(called) > MOST_ALIASES:  # too many for other names of one disease: these are separate diseases
        listed, plain = [*listed, *called], tuple(alias for alias in plain if alias not in called)
    text = one.text
    for alias in one.aliases:
        text = text if alias in plain else text.replace(f" ({alias})", "")
    if induced and disease_like(induced["cause"]) and disease_like(induced["head"]):
        yield replace(one, name=induced["head"], aliases=plain, text=text)
        yield Asserted(induced["cause"], induced["cause"], "due")
    else:
        yield replace(one, aliases=plain, text=text)
    for item in listed:
        yield Asserted(item, item, "with")


def may_name(alias: str) -> bool:
    """Whether a bracket may hold another disease: it ends in or contains a disease word, or is long."""
    words = alias.split()
    return disease_like(alias) or len(words) > LONG_BRACKET or any(map(disease_like, words))


def _list_in(alias: str) -> list[str]:
    if _EXAMPLE.search(alias) or re.fullmatch(r"[A-Z]{2,6}/[A-Z]{2,6}", alias):
        return []
    parts = [part.strip() for part in re.split(r",|;|\band\b|/", alias)]
    diseases = [part for part in parts if disease_like(part) and not is_detail(part)]
    return diseases if len(diseases) > 1 and key(alias) not in {key(name) for name in vocabulary().synonyms} else []
