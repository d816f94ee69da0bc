"""What was told from after the treatment: by the phrases of results, and by where the article tells it."""

import re

from rapidfuzz import fuzz

from wardround.scenarios.reports.article import Article
from wardround.scenarios.reports.profile import items
from wardround.scenarios.reports.prose import folded, sentences

_RESULT = re.compile(
    r"(?i)\b(?:"
    # what a follow-up showed
    r"follow(?:ed)?[ -]?up\b[^.;]{0,60}\b(?:showed|shows|revealed|demonstrated|confirmed|remained|indicated|found)\b"
    r"|(?:at|on) (?:the |her |his )?(?:[\w-]+ ){0,3}follow[ -]?up\b[^.;]{0,40}"
    r"\b(?:was|were|had|no|the patient|he|she)\b"
    # that the patient left, recovered or died
    r"|(?:was|were|been) (?:\w+ )?discharged|discharged (?:home|in good|in stable|in a)"
    r"|(?:made|achieved|had|showed) (?:an? )?(?:[\w-]+ ){0,2}(?:recovery|remission|resolution)\b"
    r"|(?:has|have|had|was|were)\s+(?:fully |completely |subsequently |gradually )?recovered\b"
    r"|recovered (?:well|fully|completely)"
    r"|(?:died|passed away|succumbed) (?:\w+ ){0,3}(?:after|following|despite|of|from|on|to)\b"
    # that complaints went away after something
    r"|(?:symptoms?|signs|pain|fever|lesions?|swelling|condition|function) (?:\w+ ){0,2}"
    r"(?:resolved|improved|subsided|disappeared|normali[sz]ed)\b[^.;]{0,40}\b(?:after|following|post|with|within)\b"
    r"|no (?:evidence of |signs? of )?(?:local |tumou?r |disease )?recurrence "
    r"(?:was|were|has|had|at|after|during|for|over)\b"
    r"|(?:remain(?:s|ed)|has been|had been) (?:recurrence|disease|symptom|tumou?r|pain|seizure|event)[ -]free"
    # how the treatment went
    r"|post-?operative(?:ly)? (?:course|period|recovery) (?:was|were|proceeded)"
    r"|(?:course|recovery|period) (?:was )?uneventful|uneventful (?:\w+ )?(?:course|recovery|period)"
    r"|responded (?:well|favou?rably|completely)|well[ -]tolerated"
    r"|tolerated (?:the )?(?:\w+ )?(?:treatment|procedure|therapy|surgery) well"
    r"|(?:\d+|one|two|three|six|twelve) (?:days?|weeks?|months?|years?) (?:after|following) (?:the )?"
    r"(?:treatment|discharge)\b[^.;]{0,40}\b(?:showed|was|were|remained|had)\b"
    r")"
)
_AFTER = re.compile(r"(?i)\b(?:outcomes?|follow[ -]?ups?|post-?operative|prognosis|clinical course)\b")
_FEWEST = 6
_FROM_THERE = 85.0
_CLEARLY = 10.0


def told_after(text: str, article: Article, past: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The sentences of `text` that tell a result of the treatment.

    Either their words say so, or they stand in a section of the article on outcome or follow-up and nowhere else.
    `past` are items of a profile that tell of earlier treatments and are passed over.
    """
    if past:
        text = "\n".join(told for name, told in items(text, "treatment").items() if name not in past)
    later = folded("\n".join(part.text for part in article.sections if _AFTER.search(part.heading)))
    rest = folded("\n".join(part.text for part in article.sections if not _AFTER.search(part.heading)))
    found = []
    for sentence in sentences(text):
        form = folded(sentence)
        if _RESULT.search(sentence) or (later and len(form.split()) >= _FEWEST and _only(form, later, rest)):
            found.append(sentence)
    return tuple(found)


def _only(form: str, later: str, rest: str) -> bool:
    score = fuzz.partial_ratio(form, later)
    return score >= _FROM_THERE and score >= fuzz.partial_ratio(form, rest) + _CLEARLY
