"""Runs of any kind: what their headers say, how they are planned, played, judged, forked and followed."""
