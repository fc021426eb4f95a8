"""Measurements that are too long for the test suite; each a command."""
