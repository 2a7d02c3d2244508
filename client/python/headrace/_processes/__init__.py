"""Python functions in processes of their own: how they get there, who vouches for them, and how they end."""
