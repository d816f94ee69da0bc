"""Cognitive levels: what a model knows, applies and does, side by side."""
