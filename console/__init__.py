"""What people use: the command `paceline`."""
