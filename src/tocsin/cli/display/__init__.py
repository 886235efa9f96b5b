"""What a command shows on a terminal while it runs."""
