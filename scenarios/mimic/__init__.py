"""Builds cases from a user's own copy of MIMIC-IV; `admission_cases` runs a build."""
