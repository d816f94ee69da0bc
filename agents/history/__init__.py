"""The record patient's understanding: kinds of question, facts of the story, recall, grammar, voice and wording."""
