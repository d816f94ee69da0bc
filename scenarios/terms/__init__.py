"""Clinical wording and the tables of terms that orders, diseases and answers share."""
