"""Search services, one per module."""
