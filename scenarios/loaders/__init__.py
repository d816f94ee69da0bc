"""Readers of case files: one module for each published or own format."""
