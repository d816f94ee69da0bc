"""The Reasoning Evaluator: it splits replies into steps, has them judged against evidence, and computes scores."""
