"""What people run: the command line and what else stands on the public API."""
