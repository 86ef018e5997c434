A note moves, and the links to it go on meaning it.

  $ mkdir -p notes && printf 'The plan.\n' > notes/Plan.md && printf 'See [[Plan]], [[notes/Plan|the plan]] and `[[Plan]]`.\n' > Log.md && printf '{"nodes":[{"type":"file","file":"notes/Plan.md"}]}' > board.canvas

  > memory_rename {"old_path": "notes/Plan.md", "new_path": "archive/2026/Old plan.md"}
  Successfully renamed notes/Plan.md to archive/2026/Old plan.md
  Links that follow it: 3.
  Commit <commit>.

  $ cat Log.md board.canvas
  See [[Old plan]], [[Old plan|the plan]] and `[[Plan]]`.
  {"nodes":[{"type":"file","file":"archive/2026/Old plan.md"}]}

  $ git log -1 --format='%an: %s' --name-status -M
  claude-desktop: memory_rename: notes/Plan.md -> archive/2026/Old plan.md

  M	Log.md
  R100	notes/Plan.md	archive/2026/Old plan.md
  M	board.canvas

  $ git log --follow --format=%s -- 'archive/2026/Old plan.md'
  memory_rename: notes/Plan.md -> archive/2026/Old plan.md
  hand-edit: Log.md and 2 more

A folder moves whole, and may change its case alone.

  > memory_rename {"old_path": "archive", "new_path": "done"}
  Successfully renamed archive to done
  Files moved: 1.
  Links that follow it: 1.
  Commit <commit>.

  > memory_rename {"old_path": "done", "new_path": "Done"}
  Successfully renamed done to Done
  Files moved: 1.
  Links that follow it: 1.
  Commit <commit>.

  $ git ls-files Done
  Done/2026/Old plan.md

What cannot be renamed.

  > memory_rename {"old_path": "nope.md", "new_path": "x.md"}
  ! Error: The path nope.md does not exist. Nothing was saved.

  > memory_rename {"old_path": "Log.md", "new_path": "Done"}
  ! Error: The destination Done already exists. Choose another path. Nothing was saved.

  > memory_rename {"old_path": "Log.md", "new_path": "Log.md"}
  ! Error: The destination Log.md already exists. Choose another path. Nothing was saved.

  > memory_rename {"old_path": "Log.md", "new_path": "board.canvas"}
  ! Error: The destination board.canvas already exists. Choose another path. Nothing was saved.

  > memory_rename {"old_path": "Done", "new_path": "Done/deeper"}
  ! Error: Done cannot be moved into itself. Choose another destination. Nothing was saved.

  > memory_rename {"old_path": "/memories", "new_path": "x"}
  ! Error: /memories is the root of the memory, which can be neither deleted nor renamed. Name a file or a folder in it. Nothing was saved.

  > memory_rename {"old_path": "Log.md", "new_path": "../Log.md"}
  ! The path "../Log.md" leads out of its folder. Name the file without '..'. Nothing was saved.

  > memory_rename {"old_path": "Log.md", "new_path": ".git/Log.md"}
  ! The path ".git/Log.md" has a hidden or protected part, ".git". No tool may touch it. Nothing was saved.

  > memory_rename {"old_path": "Log.md", "new_path": "board.canvas/Log.md"}
  ! board.canvas is no folder, so nothing can be put into it. Choose another path. Nothing was saved.

  > memory_rename {"old_path": ".gitignore", "new_path": "x"}
  ! The path ".gitignore" has a hidden or protected part, ".gitignore". No tool may touch it. Nothing was saved.

A folder is deleted with all that is in it; Git keeps it.

  > memory_delete {"path": "/memories/Done"}
  Successfully deleted /memories/Done
  Files deleted: 1.
  History keeps it: history_restore, or a person's vault-mcp restore, brings it back.
  Commit <commit>.

  > memory_delete {"path": "board.canvas"}
  Successfully deleted board.canvas
  History keeps it: history_restore, or a person's vault-mcp restore, brings it back.
  Commit <commit>.

  $ git show HEAD~1:board.canvas
  {"nodes":[{"type":"file","file":"Done/2026/Old plan.md"}]}

  $ ls
  Log.md

What cannot be deleted.

  > memory_delete {"path": "nope.md"}
  ! Error: The path nope.md does not exist. Nothing was saved.

  > memory_delete {"path": ""}
  ! Error: / is the root of the memory, which can be neither deleted nor renamed. Name a file or a folder in it. Nothing was saved.

  > memory_delete {"path": "/memories"}
  ! Error: /memories is the root of the memory, which can be neither deleted nor renamed. Name a file or a folder in it. Nothing was saved.

  > memory_delete {"path": ".gitignore"}
  ! The path ".gitignore" has a hidden or protected part, ".gitignore". No tool may touch it. Nothing was saved.

  > memory_delete {"path": ".git"}
  ! The path ".git" has a hidden or protected part, ".git". No tool may touch it. Nothing was saved.

  > memory_delete {"path": "../vault"}
  ! The path "../vault" leads out of its folder. Name the file without '..'. Nothing was saved.

  $ printf '*.log\n' >> .gitignore && touch run.log && ln -s Log.md link.md && mkdir empty

  > memory_delete {"path": "run.log"}
  ! run.log is ignored by Git, or has a name that is not UTF-8, so it could not be brought back. Leave it to the person whose it is. Nothing was saved.

  > memory_delete {"path": "link.md"}
  ! link.md is a symbolic link, which the vault leaves alone. Choose another path. Nothing was saved.

  > memory_delete {"path": "empty"}
  ! empty is a folder without files, which Git does not keep. Leave it, or put a file into it. Nothing was saved.

  $ git log --format='%an: %s' && git status --porcelain
  claude-desktop: memory_delete: board.canvas
  claude-desktop: memory_delete: Done
  claude-desktop: memory_rename: done -> Done
  claude-desktop: memory_rename: archive -> done
  claude-desktop: memory_rename: notes/Plan.md -> archive/2026/Old plan.md
  Ann Person: hand-edit: Log.md and 2 more
  Ann Person: import: keep line ends, ignore what Obsidian rewrites
   M .gitignore
  ?? link.md
