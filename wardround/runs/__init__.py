"""Runs of any kind: their headers, and how they are planned, played, forked, followed and controlled."""
