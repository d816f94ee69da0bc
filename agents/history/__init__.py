"""How the record patient understands and answers: kinds of question, facts of the story, the interview, speech."""
