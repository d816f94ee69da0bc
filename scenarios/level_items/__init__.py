"""Middle-level questions made from choice questions, by a model that writes and one that checks."""
