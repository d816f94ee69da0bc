"""Scripts that measure or prepare parts of the project; no part of the product."""
