"""Kinds of encoders: each module declares the kind of its name; see ``encoder.py``."""
