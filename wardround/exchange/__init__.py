"""Data out and in: runs in the formats of other programs, and the results of other programs as runs."""
