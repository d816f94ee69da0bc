"""What a case is and what the game is: pure rules, no model, no clock, no randomness."""
