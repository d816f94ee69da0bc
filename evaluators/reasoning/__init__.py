"""The pure core of the Reasoning Evaluator: steps, labels, the strict reading of a judge, and the figures."""
