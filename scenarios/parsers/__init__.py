"""What several games read of a doctor's reply: moves, answers, lists, refusals."""
