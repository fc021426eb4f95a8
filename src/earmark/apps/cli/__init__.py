"""The ``earmark`` command, one sub-command a file."""
