"""Questions to judges, the panels that answer them, and the strict reading of replies."""
