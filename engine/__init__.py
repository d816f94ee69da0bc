"""The engine: events, the loop, models and stores; it knows nothing of its users' field."""
