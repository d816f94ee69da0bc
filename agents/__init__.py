"""Agents for every seat, with and without a model."""
