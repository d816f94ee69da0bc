"""Parsers of a doctor's reply that several scenarios share: moves, answers, lists of tests, refusals."""
