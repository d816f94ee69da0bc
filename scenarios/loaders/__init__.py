"""Loaders of case files: one module for each format, published or our own."""
