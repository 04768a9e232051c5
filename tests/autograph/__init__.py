"""Functions with control flow, and operators that let Python decide it."""
