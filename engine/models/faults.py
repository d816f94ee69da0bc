"""The old name of `wardround.testing.wire`, kept for one version."""

from wardround.testing.wire import KINDS, Fault, Faults, Rates, Schedule

__all__ = ["KINDS", "Fault", "Faults", "Rates", "Schedule"]
