"""The stores in which runs and their trajectories are kept."""
