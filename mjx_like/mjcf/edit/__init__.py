"""Building and editing a Spec in Python, in the vocabulary of MuJoCo's mjSpec."""
