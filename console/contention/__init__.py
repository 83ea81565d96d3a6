"""`paceline contention`: the story's two designs of a send path and ours, side by side."""
