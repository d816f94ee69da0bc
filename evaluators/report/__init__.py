"""Reports for people: pages that load and run nothing, with all foreign text escaped."""
