One passage is replaced, and nothing beside it.

  $ printf 'one\r\ntwo\r\nthree' > crlf.md && printf 'red\ngreen\nblue\nred\n' > list.md

  > memory_str_replace {"path": "list.md", "old_str": "green", "new_str": "yellow\nviolet"}
  The memory file has been edited. Here is the snippet showing the change (with line numbers):
       1	red
       2	yellow
       3	violet
       4	blue
       5	red
  Commit <commit>.

  $ git log -1 --format='%an: %s' && git diff HEAD~1 --unified=0 | tail -4
  claude-desktop: memory_str_replace: list.md
  @@ -2 +2,2 @@ red
  -green
  +yellow
  +violet

  > memory_str_replace {"path": "list.md", "old_str": "violet\n"}
  The memory file has been edited. Here is the snippet showing the change (with line numbers):
       1	red
       2	yellow
       3	blue
       4	red
  Commit <commit>.

  $ cat list.md
  red
  yellow
  blue
  red

The file's own line ends stay, whatever comes in.

  > memory_str_replace {"path": "crlf.md", "old_str": "one\ntwo", "new_str": "ONE\nTWO"}
  The memory file has been edited. Here is the snippet showing the change (with line numbers):
       1	ONE
       2	TWO
       3	three
  Commit <commit>.

  > memory_insert {"path": "crlf.md", "insert_line": 3, "insert_text": "four"}
  The file crlf.md has been edited.
       2	TWO
       3	three
       4	four
  Commit <commit>.

  $ od -c crlf.md | sed 's/^.......//' | tr -d '\n' | tr -s ' '
   O N E \r \n T W O \r \n t h r e e \r \n f o u r

Lines go behind the line that is named.

  > memory_insert {"path": "list.md", "insert_line": 0, "insert_text": "colours:"}
  The file list.md has been edited.
       1	colours:
       2	red
       3	yellow
  Commit <commit>.

  > memory_insert {"path": "list.md", "insert_line": 5, "insert_text": "the end\n"}
  The file list.md has been edited.
       4	blue
       5	red
       6	the end
  Commit <commit>.

  $ cat list.md
  colours:
  red
  yellow
  blue
  red
  the end

What a person wrote is theirs in history, and the reply says that it went.

  $ printf '# Ada\n\n- plays chess\n' > Ada.md && printf '%s\n' '---' 'entity: person' '---' '- plays chess' > Ada.md

  > memory_str_replace {"path": "Ada.md", "old_str": "plays chess", "new_str": "plays go"}
  The memory file has been edited. Here is the snippet showing the change (with line numbers):
       2	entity: person
       3	---
       4	- plays go
  Commit <commit>.
  It replaced “plays chess”, written by Ann Person (a person) at <time>.

  $ git log -2 --format='%an: %s'
  claude-desktop: memory_str_replace: Ada.md
  Ann Person: hand-edit: Ada.md

No change, no commit.

  > memory_str_replace {"path": "list.md", "old_str": "blue", "new_str": "blue"}
  The file list.md reads so already. Nothing changed, so no commit was made.

What cannot be replaced.

  > memory_str_replace {"path": "list.md", "old_str": "red", "new_str": "x"}
  ! No replacement was performed. Multiple occurrences of old_str `red` in lines: 2, 5. Please ensure it is unique. Nothing was saved.

  > memory_str_replace {"path": "list.md", "old_str": "pink", "new_str": "x"}
  ! No replacement was performed, old_str `pink` did not appear verbatim in list.md. Look at its text with memory_view. Nothing was saved.

  > memory_str_replace {"path": "list.md", "old_str": "", "new_str": "x"}
  ! `old_str` is empty. Give the exact text to replace; to add lines use memory_insert. Nothing was saved.

  > memory_str_replace {"path": "list.md", "old_str": "blue", "new_str": "a\u0000b"}
  ! `new_str` holds a NUL character, which no text has. Leave it out. Nothing was saved.

  > memory_str_replace {"path": "nope.md", "old_str": "a", "new_str": "b"}
  ! Error: The path nope.md does not exist. Please provide a valid path. Nothing was saved.

  $ mkdir d && touch d/x.md && printf 'caf\351\n' > latin.md

  > memory_str_replace {"path": "d", "old_str": "a", "new_str": "b"}
  ! Error: The path d does not exist. Please provide a valid path. It is a folder; memory_view lists its files. Nothing was saved.

  > memory_str_replace {"path": "latin.md", "old_str": "caf", "new_str": "b"}
  ! latin.md is a binary file or not in UTF-8, so it can be listed, moved and deleted, but not shown or edited as text. Nothing was saved.

  > memory_str_replace {"path": "../x.md", "old_str": "a", "new_str": "b"}
  ! The path "../x.md" leads out of its folder. Name the file without '..'. Nothing was saved.

What cannot be inserted.

  > memory_insert {"path": "list.md", "insert_line": 99, "insert_text": "x"}
  ! Error: Invalid `insert_line` parameter: 99. It should be within the range of lines of the file: [0, 6]. Nothing was saved.

  > memory_insert {"path": "list.md", "insert_line": -1, "insert_text": "x"}
  ! Error: Invalid `insert_line` parameter: -1. It should be within the range of lines of the file: [0, 6]. Nothing was saved.

  > memory_insert {"path": "list.md", "insert_line": true, "insert_text": "x"}
  ! `insert_line` must be a whole number, not true. Nothing was saved.

  > memory_insert {"path": "nope.md", "insert_line": 0, "insert_text": "x"}
  ! Error: The path nope.md does not exist. Please provide a valid path. Nothing was saved.

  > memory_insert {"path": "latin.md", "insert_line": 0, "insert_text": "x"}
  ! latin.md is a binary file or not in UTF-8, so it can be listed, moved and deleted, but not shown or edited as text. Nothing was saved.

  $ git log --format='%an: %s' && git status --porcelain
  claude-desktop: memory_str_replace: Ada.md
  Ann Person: hand-edit: Ada.md
  claude-desktop: memory_insert: list.md
  claude-desktop: memory_insert: list.md
  claude-desktop: memory_insert: crlf.md
  claude-desktop: memory_str_replace: crlf.md
  claude-desktop: memory_str_replace: list.md
  claude-desktop: memory_str_replace: list.md
  Ann Person: hand-edit: crlf.md and 1 more
  Ann Person: import: keep line ends, ignore what Obsidian rewrites
  ?? d/
  ?? latin.md
