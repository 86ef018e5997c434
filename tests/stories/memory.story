The memory tool that Claude knows: one name, six commands. It is offered only where it is asked for.

flags: --tools memory

  > memory {"command": "view", "path": "/memories"}
  Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:
  <size>	/memories
  It is empty.

  > memory {"command": "create", "path": "/memories/notes.md", "file_text": "likes tea\n"}
  File created successfully at: /memories/notes.md
  Commit <commit>.

  > memory {"command": "view", "path": "/memories/notes.md"}
  Here's the content of /memories/notes.md with line numbers:
       1	likes tea

  > memory {"command": "str_replace", "path": "/memories/notes.md", "old_str": "tea", "new_str": "coffee"}
  The memory file has been edited. Here is the snippet showing the change (with line numbers):
       1	likes coffee
  Commit <commit>.

  > memory {"command": "insert", "path": "/memories/notes.md", "insert_line": 1, "insert_text": "and cake"}
  The file /memories/notes.md has been edited.
       1	likes coffee
       2	and cake
  Commit <commit>.

  > memory {"command": "rename", "old_path": "/memories/notes.md", "new_path": "/memories/likes.md"}
  Successfully renamed /memories/notes.md to /memories/likes.md
  Commit <commit>.

  > memory {"command": "delete", "path": "/memories/likes.md"}
  Successfully deleted /memories/likes.md
  History keeps it: history_restore, or a person's vault-mcp restore, brings it back.
  Commit <commit>.

  > memory {"command": "create", "path": "/memories/x.md"}
  ! `file_text` is missing: the command create needs it. Nothing was saved.

  > memory {"command": "erase", "path": "/memories/x.md"}
  ! `command` must be one of: view, create, str_replace, insert, delete, rename, not the text "erase". Nothing was saved.

  > memory_view {"path": "/memories"}
  ! There is no tool named 'memory_view' here. Ask for the list of tools again.

  $ git log --format='%an: %s'
  claude-desktop: memory_delete: likes.md
  claude-desktop: memory_rename: notes.md -> likes.md
  claude-desktop: memory_insert: notes.md
  claude-desktop: memory_str_replace: notes.md
  claude-desktop: memory_create: notes.md
  Ann Person: import: keep line ends, ignore what Obsidian rewrites
