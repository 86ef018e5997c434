"""What these tests begin with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.protection.guarded import GUARDED
from tests.vaults import clean, make_vault, opened
from vault_mcp.vault import Vault


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_vault(tmp_path / "v")


@pytest.fixture
def vault(root: Path) -> Iterator[Vault]:
    with opened(root, GUARDED) as vault:
        yield vault
        assert clean(root)
