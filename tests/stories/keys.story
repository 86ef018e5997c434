A value is kept in a note that a person can read, and comes back to the letter.

  > write_memory {"key": "user/theme", "value": "dark"}
  Saved “user/theme” in keys/user/theme.md. Commit <commit>.

  $ cat keys/user/theme.md
  ---
  key: user/theme
  ---

  dark

  $ git log -1 --format='%an: %s%n%b' | sed '/^$/d'
  claude-desktop: write_memory: user/theme
  + dark
  Tool: write_memory
  Edited-By: claude-desktop
  Edited-At: <time>

  > read_memory {"key": "user/theme"}
  dark

  > write_memory {"key": "user/theme", "value": "dark"}
  “user/theme” holds exactly this value already, in keys/user/theme.md. Nothing changed, so no commit was made.

  > write_memory {"key": "layout", "value": "{\"left\": [\"[[Not a link]]\"]}"}
  Saved “layout” in keys/layout.md. Commit <commit>.

  $ cat keys/layout.md
  ---
  key: layout
  ---

  ```json
  {"left": ["[[Not a link]]"]}
  ```

  > read_memory {"key": "layout"}
  {"left": ["[[Not a link]]"]}

A person edits and moves the note: it is still the key, and what they wrote is told when it goes.

  $ printf '%s\n' '---' 'key: user/theme' 'tags: [mine]' '---' 'blue' > Theme.md && rm -r keys/user

  > read_memory {"key": "layout"}
  {"left": ["[[Not a link]]"]}

  > write_memory {"key": "user/theme", "value": "green"}
  Saved “user/theme” in Theme.md. Commit <commit>.
  It replaced “blue”, written by Ann Person (a person) at <time>.

  $ cat Theme.md && git log -2 --format='%an: %s'
  ---
  key: user/theme
  tags: [mine]
  ---
  green
  claude-desktop: write_memory: user/theme
  Ann Person: hand-edit: Theme.md and 1 more

What is there.

  > list_memory_keys {}
  ["layout", "user/theme"]

  > search_memory {"query": "GREEN"}
  [{"key": "user/theme", "value": "green"}]

  > search_memory {"query": "lay"}
  [{"key": "layout", "value": "{\"left\": [\"[[Not a link]]\"]}"}]

  > search_memory {"query": "nothing like it"}
  []

  > search_memory {"query": ""}
  [{"key": "layout", "value": "{\"left\": [\"[[Not a link]]\"]}"}, {"key": "user/theme", "value": "green"}]

  > list_memory_keys {"limit": 1}
  ["layout"]
  --
  These are 1 of 2 keys. For the next ones call list_memory_keys with cursor set to <cursor>

  > search_memory {"query": "", "limit": 1}
  [{"key": "layout", "value": "{\"left\": [\"[[Not a link]]\"]}"}]
  --
  These are 1 of 2 entries. For the next ones call search_memory with cursor set to <cursor>

What is not.

  > read_memory {"key": "User/Theme"}
  There is no key “User/Theme”. There is: “user/theme”. list_memory_keys gives the keys, search_memory finds them by their words.

  > delete_memory {"key": "nope"}
  There is no key “nope”, so nothing was deleted. list_memory_keys gives the keys.

  > delete_memory {"key": "user/theme"}
  Deleted “user/theme” (Theme.md). History keeps the value: history_restore brings it back; only a person's vault-mcp erase removes it for good. Commit <commit>.

  > read_memory {"key": "user/theme"}
  There is no key “user/theme”. list_memory_keys gives the keys, search_memory finds them by their words.

  $ git log -1 --format='%an: %s' && git status --porcelain
  claude-desktop: delete_memory: user/theme

What cannot be.

  > write_memory {"key": "", "value": "x"}
  ! The key is blank. Give it some text. Nothing was saved.

  > read_memory {"key": "  "}
  ! The key is blank. Give it some text.

  > delete_memory {"key": ""}
  ! The key is blank. Give it some text. Nothing was saved.

  > write_memory {"key": "k"}
  ! `value` (text) is missing. Nothing was saved.

  > list_memory_keys {"cursor": "nonsense"}
  ! The cursor is not one that this list gave out. Leave it out to begin at the first page.

  > search_memory {"query": "x", "cursor": "nonsense"}
  ! The cursor is not one that this list gave out. Leave it out to begin at the first page.

  > list_memory_keys {"limit": 0}
  ! `limit` must be from 1 to 10000, not 0.
