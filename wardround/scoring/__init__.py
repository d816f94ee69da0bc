"""Scoring of stored runs, with judges or without."""
