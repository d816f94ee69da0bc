"""Names of tests and diagnoses: tables, matching of orders, comparison of answers."""
