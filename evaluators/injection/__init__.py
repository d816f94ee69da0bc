"""Detects texts that address a judge: their phrases and their disguises."""
