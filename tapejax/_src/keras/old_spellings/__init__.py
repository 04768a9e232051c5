"""Spellings of Keras 2 that Keras 3 no longer takes: switched on by `tapejax run` or by hand."""
