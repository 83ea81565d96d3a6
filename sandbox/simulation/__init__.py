"""Campaigns under faults: the same small campaign again and again, and what must hold however it was disturbed."""
