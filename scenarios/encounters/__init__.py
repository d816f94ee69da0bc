"""Scenarios: the rules of an encounter as pure state machines, without models, clocks or randomness."""
