"""`python -m tapejax`: run a TensorFlow program on tapejax, or describe the environment."""

from __future__ import annotations

import sys

from tapejax._src.report.command_line import main

if __name__ == "__main__":
    sys.exit(main())
