"""One snapshot of the index, with all that can be asked of it."""

from vault_mcp.storage.index.keys import Keys
from vault_mcp.storage.index.lookup import Lookup
from vault_mcp.storage.index.memories import Memories
from vault_mcp.storage.index.recall import Recall
from vault_mcp.storage.index.search import Search
from vault_mcp.storage.index.sides import Sides
from vault_mcp.storage.index.suggest import Suggest


class Reader(Lookup, Search, Keys, Memories, Recall, Sides, Suggest):
    """What `Index.reading` gives. Its rows' ids hold only inside the block."""
