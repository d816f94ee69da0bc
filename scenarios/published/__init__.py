"""The published rules, as pure functions: what the code of MultiCogEval computes, wrong or right (docs/records.md)."""
