"""Tools for work on the project itself; nothing of the product imports them."""
