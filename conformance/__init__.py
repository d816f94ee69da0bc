"""Conformance: the project's functions against recorded results of published code, file by file."""
