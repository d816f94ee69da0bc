"""Benchmarks. `python -m benchmarks` prints a table of figures, most of them ratios to a limit of the same run.

Some modules are tools of their own (`python -m benchmarks.NAME`), as their docstrings say.
"""
