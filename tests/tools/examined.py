"""A vault that is examined when nothing else is at work on it."""

from pathlib import Path

from tests.vaults import make_vault, opened
from tests.waiting import wait_until
from vault_mcp.tools.doctor import examine, mend
from vault_mcp.tools.finding import Finding
from vault_mcp.vault import Options, Vault

SAMPLE = Path(__file__).resolve().parents[2] / "sample_vault"
ENTITY = "---\nentity: person\n---\n\n## Observations\n\n- x\n"


def vault_of(root: Path, files: dict[str, str] | None = None) -> Path:
    """Make a vault with an index that is in step."""
    make_vault(root, files)
    in_step(root)
    return root


def in_step(root: Path) -> None:
    with opened(root) as vault:
        assert vault.wait_until_compared(30)
        wait_until(lambda: vault.commits_behind() == 0, 30)


def looked_at(root: Path, options: Options | None = None) -> list[Finding]:
    """Examine a vault that nothing else is at work on."""
    vault = Vault.open(str(root), options, follow=False)
    try:
        return examine(vault)
    finally:
        vault.close()


def faults(root: Path, options: Options | None = None) -> list[Finding]:
    return [finding for finding in looked_at(root, options) if finding.level != "fine"]


def only(root: Path, options: Options | None = None) -> Finding:
    (finding,) = faults(root, options)
    return finding


def mended(root: Path, found: list[Finding]) -> list[str]:
    vault = Vault.open(str(root), follow=False)
    try:
        return mend(vault, found)
    finally:
        vault.close()
