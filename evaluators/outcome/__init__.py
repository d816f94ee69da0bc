"""Judges the outcome of an episode: its diagnosis, its treatment, and the examinations that the doctor requested."""
