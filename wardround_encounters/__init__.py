"""The encounters as a verifiers environment under an id that verifiers can load: `wardround-encounters`."""

from wardround.faces.verifiers_env import DirectHarness, EncounterEnv, EncounterTaskset

__all__ = ["DirectHarness", "EncounterEnv", "EncounterTaskset"]
