"""Clinical terms: tables of tests and diseases, reading of orders, comparison of answers."""
