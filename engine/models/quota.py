"""What an endpoint lets one key do, as its operator says, and a fixed part of it for one of several processes."""

from collections.abc import Mapping

import msgspec

from wardround.engine.errors import UsageError
from wardround.engine.records import Json

_NAMES = {
    "in_flight": "calls in flight",
    "rpm": "requests a minute",
    "tpm": "tokens a minute",
    "daily_requests": "requests a day",
    "daily_tokens": "tokens a day",
}


class Quota(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Limits of one endpoint and key; None is no limit.

    `in_flight` calls at the same time, `rpm` requests and `tpm` tokens (prompt and completion) in any 60 seconds,
    `daily_requests` and `daily_tokens` from 00:00 to 24:00 UTC.
    """

    in_flight: int | None = None
    rpm: int | None = None
    tpm: int | None = None
    daily_requests: int | None = None
    daily_tokens: int | None = None

    def __post_init__(self) -> None:
        for name, value in self.limits():
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise UsageError(f"{name}: {_NAMES[name]} must be a whole number above 0, not {value!r}")

    def limits(self) -> list[tuple[str, int]]:
        """(name, value) of those that are set."""
        return [(name, value) for name, value in msgspec.structs.asdict(self).items() if value is not None]

    def share(self, n: int, of: int) -> "Quota":
        """The fixed part of worker `n` (from 1) of `of`: whole numbers, each at least 1, which add up to the whole.

        Raises UsageError if there are more workers than a limit has units: a part of nothing could never send, and a
        part of one for each would be more than the whole.
        """
        if not 1 <= n <= of:
            raise UsageError(f"there is no share {n} of {of}: shares are counted from 1")
        for name, value in self.limits():
            if value < of:
                raise UsageError(
                    f"{of} workers cannot share {value} {_NAMES[name]} ({name}): use at most {value} workers"
                )
        return Quota(**{name: value // of + (n <= value % of) for name, value in self.limits()})


def read_quota(fields: Mapping[str, Json], where: str) -> Quota:
    """A quota from a table of a settings file; raises UsageError that begins with `where`."""
    try:
        return msgspec.convert(fields, Quota)
    except msgspec.ValidationError as error:
        known = ", ".join(_NAMES)
        raise UsageError(f"{where}: {error}; a quota has {known}") from None
