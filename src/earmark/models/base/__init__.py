"""What every model is made of: its declaration and its base classes."""
