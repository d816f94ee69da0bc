"""Texts that speak to a judge: their phrases, their disguises, and how they are detected."""
