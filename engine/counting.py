"""Numbers with their nouns."""


def counted(number: int, noun: str) -> str:
    """A number with its noun: `1 episode`, `2 episodes`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
