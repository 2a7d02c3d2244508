"""Functions while they are traced: their calls with tensors, their assertions, and checks of their results."""
