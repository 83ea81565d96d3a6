"""The state types. Each module holds one type, or a few that are a page together."""
