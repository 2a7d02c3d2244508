"""Random numbers: the seed of the process, and what functions draw while they are traced."""
