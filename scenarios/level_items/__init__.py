"""Makes middle-level questions from choice questions: one model writes them and another checks them.

`item_writing` is the scenario, `item_account` makes the items of finished episodes.
"""
