"""Answers: the diseases or measures to which a final answer commits, and how these compare with the truth."""
