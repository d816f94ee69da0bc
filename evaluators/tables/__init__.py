"""Tables over several runs, laid out as the extended tables of paper 002."""
