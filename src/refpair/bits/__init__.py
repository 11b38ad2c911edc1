"""Learners of bits: from the rows of X to the code of their label vectors."""
