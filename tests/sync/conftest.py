"""What these tests begin with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clones import remote_and_clones
from tests.notes.merges import BASE
from tests.sync.machines import ADA, PLAN, Two, quiet


@pytest.fixture
def two(tmp_path: Path) -> Iterator[Two]:
    a, b = remote_and_clones(tmp_path, files={ADA: BASE, "Plan.md": PLAN})
    with quiet(a) as here, quiet(b) as there:
        yield here, there
