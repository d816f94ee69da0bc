"""The published rules as pure functions: they reproduce the code of MultiCogEval, errors included (docs/records.md)."""
