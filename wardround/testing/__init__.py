"""Fakes for tests of agents: a model server that fails on demand, a store in memory, a model of recorded replies."""
