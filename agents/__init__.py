"""Those who act: agents for every seat, with and without a model."""
