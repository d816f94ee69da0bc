"""Scenarios: the rules of an encounter as pure state machines, without models or clocks; draws come from a seed."""
