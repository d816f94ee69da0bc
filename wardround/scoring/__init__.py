"""Scores of a run, with judges or without."""
