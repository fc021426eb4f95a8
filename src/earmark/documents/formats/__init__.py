"""File formats: each module declares the format of its name; see ``format.py``."""
