"""How judges are asked: questions, the strict reading of replies, panels, hostile texts."""
