"""Diseases: their names, tables and relations, and when two names mean one disease."""
