"""Clinical wording, cues of language, and the tables of terms that orders, diseases and answers share."""
