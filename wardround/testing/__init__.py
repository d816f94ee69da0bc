"""What tests of agents need: a server that fails on demand, a store in memory, recorded replies."""
