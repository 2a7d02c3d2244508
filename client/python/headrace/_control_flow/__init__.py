"""Python's `if`, `while`, `for`, `and`, `or`, `not` and conditional expressions over the tensors of a traced function."""
