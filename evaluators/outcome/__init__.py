"""Judges of what an episode came to: its diagnosis, its treatment, and the examinations that were asked for."""
