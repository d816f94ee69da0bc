"""The findings that decide a case, and where the record tells them."""

import re
from collections.abc import Iterable, Sequence

from wardround.scenarios import disclosure
from wardround.scenarios.case import Case
from wardround.scenarios.records import items


def stands(finding: str, texts: Sequence[str]) -> bool:
    """Whether the words of a finding stand in one of the texts, as they are there, whatever the case and the blanks."""
    wanted = _plain(finding)
    return bool(wanted) and any(wanted in _plain(text) for text in texts)


def unrecorded(case: Case) -> list[str]:
    """The deciding findings of a case that stand nowhere in its record: no doctor could ever see them."""
    texts = [*_told(case)]
    return [finding for finding in case.truth.deciding if not stands(finding, texts)]


def _told(case: Case) -> Iterable[str]:
    yield from (case.opening, case.complaint, case.ancillary, disclosure.full(case), *case.history.values())
    yield from (item.text for item in items(case))


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip(" .;,").casefold()
