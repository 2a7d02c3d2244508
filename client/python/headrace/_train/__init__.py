"""The message classes of ``headrace.train``."""
