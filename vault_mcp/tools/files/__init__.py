"""The vault as files: view, create, edit, move and delete by path, as agents' memory tools do."""
