"""Access to models: providers, gates, retries and prices."""
