"""Python functions in processes of their own: how they are shipped and permitted, and how the processes run and end."""
