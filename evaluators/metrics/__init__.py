"""Metrics that need no judge: what was ordered, answered and spent."""
