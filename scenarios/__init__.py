"""Cases and questions, the scenarios that play them, and what reads their orders, answers and diseases."""
