"""A requested name in its comparable forms, from the whole to the barest: without courtesy, amounts and times."""

import re

from wardround.scenarios.terms.wording import key, words_of

# Words of a request that name no test, as they stand after `tokens`.
LEADING = words_of(
    """please order get obtain perform check measure repeat request send do draw run would like to i a an the some
    my stat urgent baseline initial serial another also want need next new routine standard complete full further
    consider recommend do additional specific any other now then just let us we need should will would could can you
    go ahead have also patient what is was were are d s ll portable bedside quick am random spot formal start begin
    with add on of fresh 24h 12h 48h bilateral simple plain recheck checking ordering getting
    obtaining sending performing doing running adding repeating rechecking off think suggest want start starting"""
)
TRAILING = words_of(
    """level test testing assay measurement study result panel exam concentration value stat analysis please now today
    first asap urgently immediately instead trend trending serial serially titer check series again too tonight
    tomorrow once daily screening quantitative quantification status only if possible at baseline quant
    needed required indicated recommended warranted review"""
)
SPECIMENS = words_of("serum plasma blood")
# Where a culture or a swab is taken from; the name without them must be a microbiology test.
SITES = words_of(
    """urine urinary stool fecal csf cerebrospinal sputum nasal nasopharyngeal throat serum plasma blood swab swabs
    rectal cervical vaginal urethral of the from for in skin lesion vesicle pleural synovial joint ascitic peritoneal
    bal"""
)
BRACKET = re.compile(r"\(([^()]*)\)|\[([^\[\]]*)\]")

# How often, how many, when: '2 sets', 'x3', 'q6h', 'in 3 hours', 'at 0 and 3 h'.
_AMOUNT = re.compile(
    r"(?i)\s*\b(?:x\s?\d+|q\.?\s?\d+\s?(?:h|hr|hrs|hours)?|[\u00d7]\s?\d+"
    r"|(?:in|at|after|every|over|for)\s+(?:the next\s+)?\d+[\d\s,/&-]*(?:and\s+\d+\s*)?"
    r"(?:h|hr|hrs|hours?|min|minutes|days?|weeks?|months?)\b"
    r"|(?:in the|this|tomorrow|every|each)\s+(?:morning|evening|afternoon|night|am|pm|day)\b|tonight\b|overnight\b"
    r"|\d+\s*-?\s*(?:sets?|units?|times|views?|bottles?|samples?|am|pm)\b|\d+\s*(?:am|pm)\b)"
)
_DETAIL = re.compile(
    r"(?i)\s+(?:with|w/|w)\s*(?:(?:auto(?:mated)?|manual|iv|and without|or without)\s+)*"
    r"(?:reflex|microscop|micro\b|diff|sensitivit|contrast|gram stain$|smear$|indices)(?:(?!\band\b)[^,;()])*$"
    r"|\s+reflex\b[^,;()]*$"
)
# Shorthand of single words, each as `key` has it.
_SHORT = {
    **dict.fromkeys(("ab", "abs"), "antibody"),
    **dict.fromkeys(("ag", "ags"), "antigen"),
    **dict.fromkeys(("cx", "cxs"), "culture"),
    **dict.fromkeys(("24h", "24hr", "24hrs"), "24 hour"),
    **dict.fromkeys(("hr", "hrs"), "hour"),
    "bx": "biopsy",
}
_AND = re.compile(r"\s*&\s*|(?<=[a-z])\s\+\s(?=[a-z])", re.IGNORECASE)
_LEVEL = words_of("level test testing")
_LISTED = re.compile(r"[,;]|\band\b")


def forms(name: str) -> list[str]:
    """Comparable forms of `name`, without repeats.

    As it stands; without its brackets; without amounts and details ('x2', 'with reflex'); without words of courtesy and
    of the kind 'level'; without 'serum'; the only bracket's content; with shorthand written out.
    """
    outer = BRACKET.sub(" ", name)
    short = _DETAIL.sub("", unmeasured(outer))
    found = [
        key(name),
        key(outer),
        key(_AND.sub(" and ", outer)),
        key(short),
        bare(key(short), tail=False),
        bare(key(short)),
        bare(key(name)),
        bare(key(outer)),
    ]
    found += [bare(key(short), drop_specimen=True), " ".join(word for word in key(short).split() if word not in _LEVEL)]
    brackets = list(BRACKET.finditer(name))
    if len(brackets) == 1 and not _LISTED.search(outer):
        found.append(key(brackets[0][1] or brackets[0][2] or ""))
    found += [" ".join(_SHORT.get(word, word) for word in form.split() if word != "for") for form in found[:5]]
    return [form for form in dict.fromkeys(found) if form]


def unmeasured(text: str) -> str:
    """`text` without what says how often, how many or when."""
    return _AMOUNT.sub(" ", text)


def detailed(text: str) -> bool:
    """Whether `text` ends in a detail that `forms` leaves out."""
    return _DETAIL.search(BRACKET.sub(" ", text)) is not None


def bare(form: str, *, drop_specimen: bool = False, tail: bool = True) -> str:
    """`form` without words at its ends that name no test; `tail` false: at its beginning only.

    `drop_specimen`: also without 'serum' and the like.
    """
    words = form.split()
    while len(words) > 1 and words[0] in LEADING:
        words = words[1:]
    while tail and len(words) > 1 and words[-1] in TRAILING:
        words = words[:-1]
    if drop_specimen and len(words) > 1:
        words = [word for word in words if word not in SPECIMENS] or words
    return " ".join(words)
