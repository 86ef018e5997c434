"""`python -m vault_mcp` is the command `vault-mcp`."""

from vault_mcp.doors.cli import main

if __name__ == "__main__":
    main()
