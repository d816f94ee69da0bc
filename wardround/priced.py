"""The standard scores with the user's own points of tests, which a judged scoring keeps so that it replays."""

from collections.abc import Mapping

from wardround.evaluators.standard import Standard
from wardround.scenarios.terms.catalogue import catalogue


class Priced(Standard):
    """`points` is the text of a table name,points; `where` says in an error which file it is from.

    `tables` has the texts that it was made from, by the name of the argument. Raises UsageError.
    """

    def __init__(self, points: str, where: str = "--points") -> None:
        super().__init__(catalogue().priced(points, where))
        self.tables: Mapping[str, str] = {"points": points}
