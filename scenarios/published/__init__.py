"""The rules of MultiCogEval's published code as pure functions, with its errors (docs/records/orders.md)."""
