"""Strategies: one program on several replicas, with values that are brought together."""
