"""One snapshot of the index, with all that can be asked of it."""

from vault_mcp.storage.index.graph import Graph
from vault_mcp.storage.index.lookup import Lookup


class Reader(Lookup, Graph):
    """What `Index.reading` gives. Its rows' ids hold only inside the block."""
