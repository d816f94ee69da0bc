"""The engine: seats, actions, events, time, models and stores; it contains no medicine."""
