"""Where trajectories live."""
