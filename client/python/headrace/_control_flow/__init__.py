"""Python's `if`, `and`, `or`, `not` and conditional expressions over the tensors of a traced function."""
