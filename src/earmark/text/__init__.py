"""Strings to tokens: normalisation, analyzers, stop words, regions; no matrices."""
