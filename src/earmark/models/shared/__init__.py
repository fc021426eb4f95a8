"""What several models share; nothing here is a model with a name."""
