A file is made, looked at, and found in history.

  > memory_create {"path": "/memories/notes/plan.md", "file_text": "# Plan\n\n- measure twice\n- cut once\n"}
  File created successfully at: /memories/notes/plan.md
  Commit <commit>.

  $ cat notes/plan.md
  # Plan

  - measure twice
  - cut once

  $ git log -1 --format='%an <%ae>%n%cn%n%s%n%n%b' | sed '/^$/d'
  claude-desktop <claude-desktop@agent.invalid>
  vault-mcp
  memory_create: notes/plan.md
  Tool: memory_create
  Edited-By: claude-desktop
  Edited-At: <time>

  $ git show --stat --format= HEAD
   notes/plan.md | 4 ++++
   1 file changed, 4 insertions(+)

The same file under its three names, and a part of it.

  > memory_view {"path": "notes/plan.md"}
  Here's the content of notes/plan.md with line numbers:
       1	# Plan
       2	
       3	- measure twice
       4	- cut once

  > memory_view {"path": "/memories/notes/plan.md", "view_range": [3, -1]}
  Here's the content of /memories/notes/plan.md with line numbers:
       3	- measure twice
       4	- cut once

  > memory_view {"path": "/notes/plan.md", "view_range": [9, 12]}
  Here's the content of /notes/plan.md with line numbers:
  No line is in that range: the last line is 4.

Folders, two levels deep.

  $ mkdir -p deep/er/est node_modules && printf 12345 > deep/er/five.txt && touch deep/er/est/empty .hidden node_modules/x

  > memory_view {"path": "/memories/deep"}
  Here're the files and directories up to 2 levels deep in /memories/deep, excluding hidden items and node_modules:
  <size>	/memories/deep
  <size>	/memories/deep/er/
  <size>	/memories/deep/er/est/
  5B	/memories/deep/er/five.txt

  > memory_create {"path": "deep/empty.md", "file_text": ""}
  File created successfully at: deep/empty.md
  Commit <commit>.

  > memory_view {"path": "deep/empty.md"}
  Here's the content of deep/empty.md with line numbers:
  The file is empty.

What cannot be viewed.

  > memory_view {"path": "nope.md"}
  ! The path nope.md does not exist. Please provide a valid path.

  > memory_view {"path": "elsewhere/plan.md"}
  ! The path elsewhere/plan.md does not exist. Please provide a valid path. There is: notes/plan.md.

  > memory_view {"path": "../secret.md"}
  ! The path "../secret.md" leads out of its folder. Name the file without '..'.

  > memory_view {"path": "/etc/hostname"}
  ! The path /etc/hostname does not exist. Please provide a valid path.

  > memory_view {"path": ".git/config"}
  ! The path ".git/config" has a hidden or protected part, ".git". No tool may touch it.

  > memory_view {"path": "notes/plan.md", "view_range": [1]}
  ! `view_range` needs two numbers, the first and the last line, as in [10, 20] or [10, -1].

  $ printf 'caf\351\n' > latin.md; ln -s /etc/hostname link.md; mkfifo pipe.md; yes | head -1000001 > long.txt

  > memory_view {"path": "latin.md"}
  ! latin.md is a binary file or not in UTF-8, so it can be listed, moved and deleted, but not shown or edited as text.

  > memory_view {"path": "link.md"}
  ! link.md is a symbolic link, which the vault leaves alone. Choose another path.

  > memory_view {"path": "pipe.md"}
  ! pipe.md is no file and no folder, which the vault leaves alone. Choose another path.

  > memory_view {"path": "long.txt"}
  ! File long.txt exceeds maximum line limit of 999,999 lines.

What cannot be created.

  > memory_create {"path": "notes/plan.md", "file_text": "again"}
  ! Error: File notes/plan.md already exists. Choose another path. Nothing was saved.

  > memory_create {"path": "Notes/PLAN.md", "file_text": "again"}
  ! Error: File Notes/PLAN.md already exists as notes/plan.md, which some systems cannot tell from it. Choose another path. Nothing was saved.

  > memory_create {"path": "notes", "file_text": "again"}
  ! Error: File notes already exists. Choose another path. Nothing was saved.

  > memory_create {"path": "notes/plan.md/under.md", "file_text": "x"}
  ! notes/plan.md is no folder, so nothing can be put into it. Choose another path. Nothing was saved.

  > memory_create {"path": "../out.md", "file_text": "x"}
  ! The path "../out.md" leads out of its folder. Name the file without '..'. Nothing was saved.

  > memory_create {"path": "/etc/motd", "file_text": "x"}
  ! The path /etc/motd is absolute. Give a new path relative to the vault, such as notes/plan.md. Nothing was saved.

  > memory_create {"path": "notes\\plan2.md", "file_text": "x"}
  ! The path "notes\plan2.md" has a backslash. Separate folders by / instead. Nothing was saved.

  > memory_create {"path": "a%2f..%2fb.md", "file_text": "x"}
  ! The path "a%2f..%2fb.md" hides a dot or a slash behind %. Write it plainly. Nothing was saved.

  > memory_create {"path": "what?.md", "file_text": "x"}
  ! The path "what?.md" has ?, which Windows cannot store. Leave it out. Nothing was saved.

  > memory_create {"path": "nul.md", "file_text": "x"}
  ! The name "nul.md" is a device on Windows. Choose another name. Nothing was saved.

  > memory_create {"path": ".git/hooks/post-commit", "file_text": "x"}
  ! The path ".git/hooks/post-commit" has a hidden or protected part, ".git". No tool may touch it. Nothing was saved.

  > memory_create {"path": "sub/.gitattributes", "file_text": "x"}
  ! The path "sub/.gitattributes" has a hidden or protected part, ".gitattributes". No tool may touch it. Nothing was saved.

  > memory_create {"path": ".obsidian/app.json", "file_text": "x"}
  ! The path ".obsidian/app.json" has a hidden or protected part, ".obsidian". No tool may touch it. Nothing was saved.

  > memory_create {"path": ".vault-mcp.toml", "file_text": "x"}
  ! The path ".vault-mcp.toml" has a hidden or protected part, ".vault-mcp.toml". No tool may touch it. Nothing was saved.

  > memory_create {"path": "n.md~", "file_text": "x"}
  ! "n.md~" is a name that editors use for passing files, so the vault looks past it. Choose another name. Nothing was saved.

  > memory_create {"path": "n.md", "file_text": "a\u0000b"}
  ! `file_text` holds a NUL character, which no text has. Leave it out. Nothing was saved.

  > memory_create {"path": "n.md"}
  ! `file_text` (text) is missing. Nothing was saved.

  > memory_create {"path": "n.md", "file_text": "x", "mode": "0755"}
  ! `mode` is no argument of memory_create. It takes `path`, `file_text`. Nothing was saved.

  $ printf 'private/\n' >> .gitignore && git init -q proj

  > memory_create {"path": "private/p.md", "file_text": "x"}
  ! private/p.md is ignored by Git (.gitignore), so it could not be committed. Choose another path. Nothing was saved.

  > memory_create {"path": "proj/y.md", "file_text": "x"}
  ! proj/y.md belongs to a Git repository of its own, which the vault leaves alone. Choose another path. Nothing was saved.

  $ ls -a | grep -v -e '^\.\.*$' -e '^.git$'
  .gitattributes
  .gitignore
  .hidden
  deep
  latin.md
  link.md
  long.txt
  node_modules
  notes
  pipe.md
  proj

  $ git log --format=%s
  memory_create: deep/empty.md
  memory_create: notes/plan.md
  import: keep line ends, ignore what Obsidian rewrites
