"""The implementations of functions of tensors."""
