"""Metrics that need no judge: orders, answers and usage."""
