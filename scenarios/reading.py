"""What all parsers share: the answer part of a reply, and a value without its markdown."""

_THOUGHT_ENDS = "</think>"
_THOUGHT_BEGINS = "<think>"
_PAIRS = (("[", "]"), ("<", ">"), ('"', '"'), ("'", "'"), ("“", "”"))


def answer_part(text: str) -> str:
    """`text` without thinking that a model left in it: what follows the last `</think>`.

    A `<think>` that is never closed leaves no answer: the model ran out of tokens while it thought.
    """
    if _THOUGHT_ENDS in text:
        return text.rpartition(_THOUGHT_ENDS)[2]
    return text.partition(_THOUGHT_BEGINS)[0]


def clean(value: str) -> str:
    """`value` without emphasis, quotes or square brackets around it, and without a closing full stop."""
    value = value.strip(" \t\r\n*_`#:-–—")
    for begin, end in _PAIRS:
        if len(value) > 1 and value.startswith(begin) and value.endswith(end) and end not in value[1:-1]:
            value = value[1:-1].strip(" \t*_`")
    return value.rstrip(" .").replace("**", "")
