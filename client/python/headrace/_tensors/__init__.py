"""Tensors, and the values of Python, alone or in tuples and dicts, that become tensors."""
