"""The names of the signs by which hostile texts are known."""

INSTRUCTION = "instruction"
ADDRESS = "addresses_judge"
TALK = "about_judging"
FORM = "verdict_form"
MARKUP = "chat_markup"
FENCE = "fence"
AUTHORITY = "claims_authority"
LURE = "threat_or_reward"
HIDDEN = "hidden"
ENCODED = "encoded"

SIGNS = (INSTRUCTION, ADDRESS, TALK, FORM, MARKUP, FENCE, AUTHORITY, LURE, HIDDEN, ENCODED)
"""All of them, in the order in which they are reported."""
