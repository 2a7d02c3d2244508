"""What functions of tensors are made of."""
