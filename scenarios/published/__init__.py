"""MultiCogEval's rules as pure functions: they do what its code does, errors included (docs/records/orders.md)."""
