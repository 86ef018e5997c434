"""The memory that people and their AI agents share: Markdown notes in Git, served over MCP."""

__version__ = "0.1.0"
