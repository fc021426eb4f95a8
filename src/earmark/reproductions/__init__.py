"""The papers' tables and figures, regenerated through the public API.

Each module has ``reproduce(out, quick=False, progress=None) -> dict``: it writes
figures into the folder ``out`` and returns plain data, which the command line
prints and stores as JSON with the command that made it.
"""
