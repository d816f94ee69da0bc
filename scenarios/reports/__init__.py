"""Builds cases from case reports: reads and filters articles, restructures them by a model, checks the result."""
