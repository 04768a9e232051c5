"""Rewriting Python control flow so that a tensor may decide it."""
