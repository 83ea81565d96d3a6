"""Paceline: SMS campaigns that keep every cap, send nothing twice and end in a report whose sums close."""
