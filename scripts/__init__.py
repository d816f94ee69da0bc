"""Scripts that measure the house itself; no part of the product."""
