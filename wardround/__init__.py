"""Wardround: doctor models in simulated patient encounters, every action kept, replayable and scored."""
