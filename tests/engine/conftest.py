"""What tests of the engine share."""

from __future__ import annotations

import pytest

from tapejax._src.engine.tiers import TIERS


@pytest.fixture(autouse=True)
def no_churn() -> None:
    """Forget what earlier tests recorded, so that a new structure is compiled at once."""
    TIERS.recent.clear()
