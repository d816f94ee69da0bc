"""Divides the text of an order into lines and their requests: lists, headings, samples and shorthand."""

import re
from collections.abc import Iterator

from wardround.engine.text import loads, regex
from wardround.scenarios.orders import axes
from wardround.scenarios.orders.catalogue import scope
from wardround.scenarios.orders.joined_names import ENDS, JOINED, Known, share_noun, split_commas
from wardround.scenarios.orders.name_lookup import unmeasured
from wardround.scenarios.orders.request_pieces import (
    Studies,
    each_by_method,
    single_requests,
    with_members,
)
from wardround.scenarios.orders.samples import at_sites, names_puncture, names_sample, tapped

STAINED = regex(r"(?i)\b(?:gs|gram stains?)\s*[/&+]\s*(?=(?:cultures?|cx|c&s)\b)")

_NUMBERED = regex(r"(?:(?<=[\s,;:])|^)(?:\(?\d{1,2}[.)]|\(?[a-h]\))\s+(?=[A-Za-z*])|(?:^|\s)[•·|](?:\s|$)")
_FIRST = regex(r"(?:^|[\s,;:])\(?(?:1[.)]|a\))\s")
_MARKED = regex(r"^\(?\d{1,2}[.)]\s+(?=[A-Za-z*])|(?:^|\s)[•·|](?:\s|$)")
"""What begins an item of a line that has no first number: 'eGFR 22. CT KUB' is no list."""
_BULLET = regex(r"^\s*(?:[-*•+–—]+|[a-zA-Z]\))\s+")  # not 'C. difficile'
_NAMING = regex(
    r",?\s*\b(?:including|incl\.?|includes|to include|such as|consisting of|namely|e\.g\.,?|i\.e\.,?)\s*:?\s+", re.I
)
_WITH = regex(r"(?i)\sw(?:ith|/)?\s")
_HEADING = regex(
    r"(?i)\b(?:screen|bloods|profile|obs|observations|vitals|studies|tests|testing|labs|analysis|panel|work-?up"
    r"|markers|serologies|cultures|films|x-?rays"
    r"|csf|urine|stool|sputum|blood|serum|fluid|aspirate|lavage|bal|washings?|swabs?|scrap(?:e|ings?))$"
)


def request_lines(text: str) -> Iterator[str]:
    text = _DICTATED.sub(lambda said: _MARKS[said[1].casefold()], text) if _SPOKEN.search(text) else text
    rows = _listed(text) or [row.replace("**", "").replace("__", "") for row in text.splitlines()]
    for place, line in enumerate(rows):
        for numbered in (_NUMBERED if _FIRST.search(line) else _MARKED).split(line):
            plain = _headed(_written_out(_BULLET.sub("", numbered)).strip())
            bare = plain.strip(ENDS)
            if plain.endswith(":") and place + 1 < len(rows) and scope(bare):
                continue  # a heading on its own line
            if bare:
                yield bare


_SPOKEN = regex(r"(?i)\b(?:full stop|comma|new line|new paragraph)\b")
_DICTATED = regex(r"(?i)\s*\b(full stop|comma|colon(?= [a-z])|new line|new paragraph)\b[,.]?")
_MARKS = {"full stop": ".", "comma": ",", "colon": ":", "new line": "\n", "new paragraph": "\n"}
"""Marks that a dictated letter names; 'colon' is a mark only if the letter names others."""


def _written_out(line: str) -> str:
    """A line with its shorthand between tests as commas and words."""
    line = _SITES_IN_BRACKETS.sub(r"\1", _SITES.sub(r"\1 and ", line))
    line = _THREE_SITES.sub(r"throat swab \1, rectal swab \1, urine \1", _CASE_OF.sub("known", line))
    line = _ASPIRATED.sub(r"\1 aspirate", _CLOTTING.sub("PT", line))
    line = _DONOR.sub("donor-specific antibodies", line)
    line = _ARROW.sub(r"\1: ", _ON_HOLD.sub(r" on hold", _CONTAINER.sub("", line)))
    if "paired" in line or "match" in line:
        line = _PAIRED_FLUID.sub(lambda one: f"{one[1]}, {one['in'] or one['with']} {one[1]}", line)
    line = _SUSPECTED.sub("", _IF_SO.sub(r"\1 then ", _PAIRED.sub(r", \1", line)))
    line = re.sub(r"\bL/S[\s-]?spine\b", "lumbosacral spine", line)
    line = _SPINE.sub(lambda match: " and ".join(f"{level} spine" for level in _LEVELS.findall(match[1])), line)
    return STAINED.sub("gram stain, ", line)


_ARROW = regex(
    r"(?i)^((?:(?!then\b|and\b|plus\b)[\w-]+\s){0,4}(?:tap|lp|para|thora|puncture|aspirate|aspiration|\w+centesis|bal"
    r"|swab|sample|fluid(?: analysis)?))(?:,?\s\(?(?:r|l|rt|lt|right|left|bilateral|diagnostic|therapeutic|x\d)\)?)?"
    r"(?:(?:\s(?:of|from|the|knee|hip|ankle|wrist|elbow|shoulder|joint)){0,3}\s*(?:->|=>|\u2192|:(?=\s+send\b))\s*"
    r"|\s+[-\u2013\u2014]\s+(?=send\b|[^,]{2,40},))"
    r"(?:send\s+(?:(?:the|it|fluid|off)\s+)*(?:for\s+)?)?"
)
"""An arrow from a sample to what is asked of it."""
_SITE = (
    r"(?:nose|nasal|throat|groin|axillae?|axilla|perineum|perianal|rectal|rectum|vaginal|vagina|vag"
    r"|endocervical|urethral)"
)
_SITES = regex(rf"(?i)(?<=[\s(/+&,])({_SITE})\s?[/+&,]\s?(?={_SITE})")
_SITES_IN_BRACKETS = regex(rf"(?i)\(((?:{_SITE} and )+{_SITE})\)")
"""Two sites of one swab, which give a test each ('nose/groin')."""
_DONOR = regex(r"\bDSAs\b|\bDSA (?=levels?\b|titres?\b|titers?\b|screen\b)")
"""Antibodies of a transplant; the singular alone is an angiography."""
_CLOTTING = regex(r"(?i)\bpt(?=[\s,/&+]+(?:and )?(?:a?ptt|inr)\b)|(?<=\binr[\s,/&+])pt\b|(?<=ptt[\s,/&+])pt\b")
"""The prothrombin time beside another clotting time; elsewhere 'pt' is the patient."""
_CASE_OF = regex(r"(?i)\bk/c/o\b")
_THREE_SITES = regex(r"(?i)\b(?:triple|three|3)[ -]sites? (?:swabs? )?(?:for )?([\w/]+(?: (?:naat|pcr))?)")
"""Throat, rectum and urine, at which a sexual health clinic tests."""
_ASPIRATED = regex(
    r"(?i)\baspirate (?:of )?(?:the )?(?:(?:r|l|rt|lt|right|left)\s)?(knee|hip|ankle|elbow|shoulder"
    r"|wrist)\b(?: joint)?"
)
_ON_HOLD = regex(r"(?i)[-\u2013\u2014]\s?(?:on )?hold(?: off)?(?: for now)?\s*$")
_CONTAINER = regex(
    r"(?i)\s\(?(?:in|into|using)\s(?:an? |the |two |both )?(?:[\w/-]+ ){0,4}(?:bottles?|tubes?|containers?"
    r"|pots?|vials?)\b\)?"
    r"(?:\s(?:that\s)?(?:you|i|we|they)\s[^,;]*)?"
)
"""What a sample is put into, which names no test ('culture in blood culture bottles')."""
_PAIRED = regex(r"(?i)\s?\((?:with |and )?(?:an? )?((?:paired|matching|matched|simultaneous) [^(),]{3,40})\)")
"""A test of the blood beside that of a fluid, in brackets ('CSF glucose (paired serum glucose)')."""
_PAIRED_FLUID = regex(
    r"(?i)\b([\w-]+(?: [\w-]+)?)\s?(?:\((?:with )?(?:paired|matched|matching|and) (?P<in>serum|plasma|blood)\)"
    r"|\s(?:with|and|\+|&) (?:a )?(?:paired|matched|matching) (?P<with>serum|plasma|blood)(?=\s*(?:[,;.]|$|and\b)))"
)
"""The same test in blood ('CSF glucose (paired plasma)', 'oligoclonal bands with paired serum')."""
_SUSPECTED = regex(
    r"(?:(?:^|\s)\?\s?[A-Za-z](?:(?!\s[-\u2013\u2014]\s|\.\s)[^,;?:])*)+(?=$|[,;:]|\.\s|\s[-\u2013\u2014]\s)"
)
"""What an order looks for, behind a question mark ('US RUQ ?cholecystitis')."""
_IF_SO = regex(r"(?i)(\bif\b[^,;.>\u2192]{2,40}?)\s*(?:->|=>|\u2192)\s*")
_SPINE = regex(
    r"\b((?:[CTLS]|[Cc]ervical|[Tt]horacic|[Ll]umbar)(?:\s?(?:/|,|\+|&|\band\b)\s?(?:[CTLS]|cervical|thoracic"
    r"|lumbar|and)\b){1,3})"
    r"[\s-]?spine\b"
)
_LEVELS = regex(r"[CTLS]\b|cervical|thoracic|lumbar")
_DASH = regex(r"^([^-–—,;:]{2,30})\s[-–—]+\s")


_SCREEN = regex(r"(?i)\b(?:screen|work-?up)$")
"""A heading whose tests the list behind its colon names ('liver screen: ANA, LKM')."""


def _headed(line: str) -> str:
    """A line whose heading ends in a dash ('Labs - TSH', 'CSF - glucose') with a colon in its place."""
    dash = _DASH.match(line)
    if dash is None:
        return line
    head = dash[1].strip()
    heads = scope(head) or (axes.specimen(head) and not axes.without_specimen(head))
    heads = heads or (_HEADING.search(head) is not None and line[dash.end() :].partition(". ")[0].count(",") > 1)
    heads = heads or all(map(axes.only_specimen, JOINED.split(line[dash.end() :])))
    return f"{head}: {line[dash.end() :]}" if heads else line


def _listed(text: str) -> list[str]:
    """The texts of a JSON list or object, if `text` is one."""
    if not text.lstrip().startswith(("{", "[")):
        return []
    try:
        loaded = loads(text)
        return list(_texts(loaded))
    except (ValueError, RecursionError):
        return []


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)


_PUNCTURE_FOR = regex(r"(?i)^(?P<puncture>(?:an? |the )?(?:lp|lumbar puncture|spinal tap))\s+for\s+(?P<tail>.+)$")
_SAMPLE_LIST = regex(r"(?i)^(?P<head>[^,:;]{2,60}?)\s+for\s+(?P<tail>[^:]*,[^:]*)$")


def line_requests(line: str, known: Known, studies: Studies) -> Iterator[str]:
    """The requests of one sentence; text after the colon of a heading or a test explains or lists."""
    if each := each_by_method(line, known) or at_sites(line, known):
        yield from each
        return
    if punctured := _PUNCTURE_FOR.match(line):  # 'LP for CSF protein, glucose'
        first = split_commas(punctured["tail"])[0]
        if known(f"CSF {first}") or known(first):
            yield from single_requests(punctured["puncture"], known, studies)
            yield from _of_sample("CSF", punctured["tail"], known, studies)
            return
    if tap := tapped(line):
        puncture, fluid, tail = tap
        yield from single_requests(puncture, known, studies)
        yield from _of_sample(fluid, tail, known, studies)
        return
    sampled = _SAMPLE_LIST.match(line)
    if sampled and names_sample(sampled["head"]):
        if not names_puncture(sampled["head"]):
            yield from _of_sample(sampled["head"], sampled["tail"], known, studies)
            return
        line = f"{sampled['head']}: {sampled['tail']}"
    yield from _headed_requests(line, known, studies)


def _headed_requests(line: str, known: Known, studies: Studies) -> Iterator[str]:
    """The requests of a line; a colon or 'such as' may stand between a heading and its list."""
    named_so = _NAMING.search(line)
    if named_so and "," in line[: named_so.start()] and not _bracketed(line, named_so.start()):
        *before, last = split_commas(line[: named_so.start()])
        for piece in before:
            yield from single_requests(piece, known, studies)
        line = f"{last}{line[named_so.start() :]}"
        named_so = _NAMING.search(line)
    line = _NAMING.sub(": ", line, count=1) if named_so and not _bracketed(line, named_so.start()) else line
    head, colon, tail = line.partition(": ")
    heads = split_commas(head)
    of_list = [one for one in heads if names_sample(one)] or [one for one in heads[-1:] if _HEADING.search(one)]
    if colon and len(heads) > 1 and of_list:  # 'ascites, tap: cell count'
        for piece in heads:
            if piece != of_list[-1]:
                yield from single_requests(piece, known, studies)
        head = of_list[-1]
    head = head.strip(ENDS)
    sites = [axes.only_specimen(part.strip(ENDS)) for joined in split_commas(tail) for part in JOINED.split(joined)]
    if colon and known(head) and all(sites):  # 'MRSA swabs: nose, throat'
        yield from (f"{axes.stated_as(site)} {head}" for site in sites)
        return
    if not colon or "," in head or not tail.strip(ENDS):
        for piece in share_noun(list(split_commas(line)), known):
            yield from single_requests(piece, known, studies)
        return
    fluid = axes.specimen(head)
    taken = f"{axes.stated_as(fluid)} " if fluid not in ("", axes.BLOOD) else ""

    def placed(part: str) -> bool:
        return known(part) or known(f"{taken}{part}")

    behind = [part for piece in split_commas(tail) for part in single_requests(piece, placed, studies)]
    listed = [_under(head, part, known) for part in behind]
    named = [part for part in listed if known(part)]
    mostly = 2 * len(named) >= len(listed) > 0  # then a part without a known name is a test too, and no explanation
    kept = [part for part in listed if known(part) or mostly]
    if not _SCREEN.search(head) and (panel := with_members(head, listed, known)):
        yield from panel
    elif known(head):
        if named_so or len(named) < 2 or not _HEADING.search(head):  # else it heads its list
            yield head
        yield from kept
    elif scope(head):
        yield from listed
    elif named:
        opens = named_so or _WITH.search(head)  # 'bronchoscopy with BAL: cell count, culture'
        yield from (part for part in (single_requests(head, known, studies) if opens else ()) if known(part))
        yield from kept
    else:
        yield from single_requests(head, known, studies)


def _of_sample(head: str, tail: str, known: Known, studies: Studies) -> Iterator[str]:
    """What is asked of a sample ('nasopharyngeal swab for influenza and SARS-CoV-2 PCR'); the sample is no order."""
    for piece in split_commas(tail):
        for part in single_requests(piece, known, studies):
            yield _under(head, part, known)


def _under(head: str, part: str, known: Known) -> str:
    """Add a heading to its item: 'chest' under 'X-rays' gives 'X-rays chest', 'glucose' under 'CSF' 'CSF glucose'."""
    fluid = axes.specimen(head)
    placed = f"{axes.stated_as(fluid)} {part}"
    if fluid == "tissue" and known(part) and not axes.methods(part):  # 'renal biopsy: INR'
        return part
    if fluid not in ("", axes.BLOOD) and not axes.specimen(part) and known(placed):
        of_germ = f"{unmeasured(head).rpartition(' ')[0].strip()} {part}"  # 'sputum AFB smear: culture'
        return of_germ if axes.without_specimen(head) and known(of_germ) else placed
    if known(part):
        return part
    first = head.split(maxsplit=1)[0] if head else ""
    return next((form for form in (f"{head} {part}", f"{first} {part}") if known(form)), part)


def _bracketed(line: str, place: int) -> bool:
    return line.count("(", 0, place) > line.count(")", 0, place)
