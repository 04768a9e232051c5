"""Other libraries that may be imported at any time, and what is to be done once they are there.

Importing tapejax changes nothing in the process, so nobody is told when a program imports Keras by
itself. It is noticed when a tape or a `tf.function` is made.
"""

from __future__ import annotations

import sys
from collections.abc import Callable


class Arrivals:
    """What waits for which library."""

    def __init__(self) -> None:
        self._waiting: dict[str, Callable[[], None]] = {}

    def register(self, library: str, action: Callable[[], None]) -> None:
        """Have `action` called once, after `library` was imported."""
        self._waiting[library] = action

    def look(self) -> None:
        """Act on libraries that have been imported since."""
        for library in list(self._waiting) if self._waiting else ():
            module = sys.modules.get(library)
            if module is not None and not getattr(module.__spec__, "_initializing", False):
                self._waiting.pop(library)()


ARRIVALS = Arrivals()
