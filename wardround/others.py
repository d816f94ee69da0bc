"""The other cases of a run, as an agent that learns from them is told: one shared tuple, one case left out."""

from collections.abc import Iterator, Sequence
from typing import overload

from wardround.scenarios.case import Case


class Others(Sequence[Case]):
    """All cases of the run but one.

    `all` is the same object in every episode, so that what is computed from it can be kept; `without` is the index left
    out.
    """

    __slots__ = ("all", "without")

    def __init__(self, every: tuple[Case, ...], without: int) -> None:
        self.all, self.without = every, without

    def __len__(self) -> int:
        return len(self.all) - 1

    @overload
    def __getitem__(self, index: int) -> Case: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Case]: ...

    def __getitem__(self, index: int | slice) -> Case | Sequence[Case]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        index %= len(self)
        return self.all[index if index < self.without else index + 1]

    def __iter__(self) -> Iterator[Case]:
        return (case for index, case in enumerate(self.all) if index != self.without)
