"""The engine: seats, actions, events, time, models and stores; it knows nothing of what is played."""
