"""Orders: the tests that exist, what an order asks for, and what a chart answers."""
