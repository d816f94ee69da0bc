"""Search services, one to a module."""
