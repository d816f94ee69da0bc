"""A page that shows an error, a barrier or a shop window in place of its text, though its status says all is well."""

import re

from wardround.engine.text import later

SHARE = 0.5
"""Share of a text's characters, in sentences that turn the reader away, from which the text is none."""
SHORT = 300
"""Characters up to which one such sentence is enough."""
TITLED = 3000
"""Characters up to which such a title is enough."""

_PHRASES = (
    # barriers
    r"enable (?:javascript|cookies)",
    r"(?:javascript|cookies) (?:is|are) (?:disabled|required)",
    r"captcha",
    r"verify (?:that )?you(?:'re| are) (?:a )?human",
    r"(?:not|are you) a robot",
    r"checking your browser",
    r"complet(?:e|ing) the security check",
    r"unusual (?:traffic|activity) from",
    r"access (?:to this (?:page|site|resource|server|article|content) (?:has been |is |was )?)?(?:denied|forbidden)",
    r"access to this (?:page|site|resource|server|article|content) (?:has been |is |was )?restricted",
    r"you (?:have been|were|are) (?:temporarily |permanently )?(?:blocked|banned|rate.limited)",
    r"(?:unable|not allowed|not authori[sz]ed|not have (?:permission|the right)) to (?:access|view) (?:this|the)",
    r"not available in your (?:country|region|location)",
    # what is not there
    r"(?:page|url|document|resource|content|file) (?:can ?not|could not|can't|couldn't) be "
    r"(?:found|loaded|displayed|retrieved)",
    r"(?:page|url|resource) (?:was )?not found",
    r"page you (?:requested|are looking for|were looking for)",
    r"\b(?:403|404|429|50[0-4])\b\W{1,3}(?:forbidden|not found|too many|internal server|bad gateway|service|gateway)",
    r"403 forbidden|404 not found",
    # faults
    r"internal server error|bad gateway|gateway time-?out",
    r"service (?:is )?(?:temporarily |currently )?unavailable",
    r"(?:site|website|page|server) is (?:temporarily |currently )?(?:unavailable|down|offline)",
    r"(?:scheduled|undergoing|down for|performing) (?:\w+ )?maintenance",
    r"(?:try|check back) again (?:later|in a (?:few|moment|minute|while))",
    r"too many requests",
    r"(?:exceed|reach)ed (?:the|your) (?:\w+ ){0,2}(?:rate|request|usage|download|article) (?:limit|quota)",
    r"error (?:fetching|loading|retrieving|reading) (?:the )?(?:page|content|url|document|data)",
    r"(?:failed|unable) to (?:fetch|load|retrieve) (?:the )?(?:page|content|url|document|data|resource)",
    r"(?:request|connection) (?:has )?timed out|connection (?:was )?(?:refused|reset)",
    # shop windows
    r"(?:log|sign) ?in (?:\w+ ){0,4}to (?:read|view|access|continue|see)",
    r"(?:purchase|buy|rent) (?:full |instant |digital )*access|purchase (?:this|the) (?:article|chapter)",
    r"subscri(?:be|ption) (?:\w+ ){0,3}(?:to (?:read|view|access|continue)|(?:is )?required)",
    # Chinese, French, German, Spanish
    "\u8bf7\u6c42\u8fc7\u4e8e\u9891\u7e41|\u8bbf\u95ee\u88ab\u62d2\u7edd|\u9875\u9762\u4e0d\u5b58\u5728|\u9a8c\u8bc1\u7801"
    "|\u8bf7\u5148?\u767b\u5f55|\u670d\u52a1(?:\u6682\u65f6)?\u4e0d\u53ef\u7528|\u65e0\u6cd5\u8bbf\u95ee\u6b64",
    "acc\u00e8s refus\u00e9|page introuvable|zugriff verweigert|seite nicht gefunden"
    "|acceso denegado|p\u00e1gina no encontrada",
)
_READ = 20_000
"""Characters of a text that are looked at: what turns a reader away stands at its beginning."""
_AWAY = tuple(map(re.compile, _PHRASES))  # one by one and in small letters they are several times as fast as together
_END = later(r"(?<=[.!?])\s+|\n+|(?<=[\u3002\uff01\uff1f])")


def turned_away(text: str, title: str = "") -> bool:
    """Whether at least half of a text, by its characters, is sentences that turn its reader away.

    Of a text of at most 300 characters one is enough, and of one of at most 3,000 its title.
    """
    text = text[:_READ].lower()
    if len(text) <= TITLED and _away(title.lower()):
        return True
    if not _away(text):
        return False
    if len(text) <= SHORT:
        return True
    sentences = [sentence for sentence in _END.split(text) if sentence.strip()]
    away = sum(len(sentence) for sentence in sentences if _away(sentence))
    return away >= SHARE * sum(map(len, sentences))


def _away(text: str) -> bool:
    return any(phrase.search(text) for phrase in _AWAY)
