"""The offline judge: it replaces a model by lexical similarity, and its scores are only a lower bound."""
