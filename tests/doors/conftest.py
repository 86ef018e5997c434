"""What the tests of the doors share."""

from pathlib import Path

import pytest

from tests.doors.commands import Commands


@pytest.fixture
def commands(tmp_path: Path) -> Commands:
    """Commands of a user whose home is empty."""
    home = tmp_path / "home"
    home.mkdir()
    return Commands(home)
