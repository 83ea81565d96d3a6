"""`paceline simulate`: campaigns under faults, and what they prove."""
