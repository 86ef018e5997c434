"""Vaults for the tests of everything that knows Git, apart from whatever the machine's own Git is set to."""

import errno
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.register_assert_rewrite("tests.storage.git.vaults", "tests.storage.git.killing")

from tests.storage.git.vaults import Vault  # noqa: E402 - only now are its assertions told in full
from vault_mcp.storage.git import swap  # noqa: E402 - after the line above, with the rest


@pytest.fixture(autouse=True)
def _own_settings(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path_factory.mktemp("home")
    (home / ".gitconfig").write_text(
        "[user]\n\tname = Pat Person\n\temail = pat@example.invalid\n[gc]\n\tauto = 0\n"
    )
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_CONFIG_GLOBAL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def vaults(tmp_path: Path) -> Iterator[Callable[..., Vault]]:
    """Make vaults that are closed after the test."""
    made: list[Vault] = []

    def make(name: str = "vault", *options: str, notes: dict[str, bytes | str] | None = None) -> Vault:
        made.append(Vault.make(tmp_path / name, *options, notes=notes))
        return made[-1]

    yield make
    for vault in made:
        vault.close()


@pytest.fixture
def vault(vaults: Callable[..., Vault]) -> Vault:
    """A vault of three notes."""
    return vaults(notes={"a.md": "a\n", "b.md": "b\n", "people/ada.md": "# Ada\n"})


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory, where there is one, for what copies a vault hundreds of times."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else tmp_path) as folder:
        yield Path(folder)


def no_links(*_: object, **__: object) -> None:
    raise OSError(errno.EPERM, os.strerror(errno.EPERM))


@pytest.fixture(params=["one step", "links", "neither"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Rename as Linux does, and as other systems and file systems do."""
    if request.param != "one step":
        monkeypatch.setattr(swap, "_call", None)
    if request.param == "neither":
        monkeypatch.setattr(os, "link", no_links)
    return str(request.param)
