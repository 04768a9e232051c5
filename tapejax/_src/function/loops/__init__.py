"""A differentiable while loop whose number of trips depends on data, in JAX alone."""
