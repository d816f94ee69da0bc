"""Helpers for tests of agents: a server that fails on demand, a store in memory, recorded replies."""
