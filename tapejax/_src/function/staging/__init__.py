"""Control flow that depends on tensors, recorded as one op."""
