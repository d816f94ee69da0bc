"""Evaluators: they score a case and its trajectory; statistics and reports build on their scores."""
