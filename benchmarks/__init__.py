"""Speed measured as a ratio to a limit of the same run; `python -m benchmarks` prints one table."""
