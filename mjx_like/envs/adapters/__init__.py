"""Environments as other libraries expect them: `gymnasium`, `brax` and `torch`, each needs the library of its name."""
