"""Builds cases from case reports: reads and filters articles, has a model restructure them, and checks the result.

`curation` is the scenario and its account, `checks` are the checks of a case.
"""
