"""The parts of the op runner: rows, drawn calls, the two libraries, finite differences."""
