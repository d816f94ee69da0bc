"""Answers: what a final answer commits to, and how it compares with the truth."""
