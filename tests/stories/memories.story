A memory is a note: one call, one commit, and a person finds it by its first words.

flags: --embeddings off

  > memory_remember {"text": "Deploys run on Mondays.", "session_id": "team", "importance": 7}
  {"status":"remembered","memory_id":<memory 1>,"collection":"memories","memory_type":"episodic","importance":7,"session_id":"team","note":"memories/<year>/<month>/<day> Deploys run on Mondays.md","message":"Memory <memory 1> stored in memories/<year>/<month>/<day> Deploys run on Mondays.md.","warnings":[],"receipt":{"commit":"<commit>","edited_at":"<time>","edited_by":"claude-desktop","added":[{"note":"memories/<year>/<month>/<day> Deploys run on Mondays.md","kind":"text","text":"Deploys run on Mondays."}],"changed":[],"removed":[],"replaced":[]}}

  $ find memories -name '*.md' && cat memories/*/*/*.md
  memories/<year>/<month>/<day> Deploys run on Mondays.md
  ---
  memory: episodic
  id: <memory 1>
  importance: 7
  session: team
  created: <time>
  agent: claude-desktop
  ---

  Deploys run on Mondays.

  $ git log -1 --format='%an: %s%n%b' | sed '/^$/d'
  claude-desktop: memory_remember: <memory 1> Deploys run on Mondays
  + Deploys run on Mondays.
  Tool: memory_remember
  Edited-By: claude-desktop
  Edited-At: <time>
  Session: team

  > memory_remember {"text": "Reviews come before deploys.", "session_id": "team", "memory_type": "semantic"}
  {"status":"remembered","memory_id":<memory 2>,"collection":"memories","memory_type":"semantic","importance":5,"session_id":"team","note":"memories/<year>/<month>/<day> Reviews come before deploys.md","message":"Memory <memory 2> stored in memories/<year>/<month>/<day> Reviews come before deploys.md.","warnings":[],"receipt":{"commit":"<commit>","edited_at":"<time>","edited_by":"claude-desktop","added":[{"note":"memories/<year>/<month>/<day> Reviews come before deploys.md","kind":"text","text":"Reviews come before deploys."}],"changed":[],"removed":[],"replaced":[]}}

  > memory_recall {"query": "When do deploys run?"}
  {"query":"When do deploys run?","session_id":"all","memory_type":"all","total_found":2,"results":[{"id":<memory 1>,"note":"memories/<year>/<month>/<day> Deploys run on Mondays.md","name":"<day> Deploys run on Mondays","family":"memories","text":"Deploys run on Mondays.","score":<score>,"cognitive_score":<score>,"distance":null,"why":"its words, words said nearby, words of its session or note (found: deploi, run)","by":"claude-desktop","stored_at":"<time>","memory_type":"episodic","importance":7,"session_id":"team","tags":[],"metadata":{}},{"id":<memory 2>,"note":"memories/<year>/<month>/<day> Reviews come before deploys.md","name":"<day> Reviews come before deploys","family":"memories","text":"Reviews come before deploys.","score":<score>,"cognitive_score":<score>,"distance":null,"why":"words said nearby, words of its session or note, its words (found: deploi)","by":"claude-desktop","stored_at":"<time>","memory_type":"semantic","importance":5,"session_id":"team","tags":[],"metadata":{}}]}

A correction keeps its number and its file, and the receipt says whose words it replaced.

  > memory_update {"memory_id": <memory 1>, "new_text": "Deploys run on Tuesdays.", "session_id": "team"}
  {"status":"updated","old_memory_id":<memory 1>,"new_memory_id":<memory 1>,"memory_type":"episodic","importance":7,"session_id":"team","changed":["text"],"note":"memories/<year>/<month>/<day> Deploys run on Mondays.md","message":"Memory <memory 1> keeps its number, links and history.","warnings":[],"receipt":{"commit":"<commit>","edited_at":"<time>","edited_by":"claude-desktop","added":[],"changed":[{"note":"memories/<year>/<month>/<day> Deploys run on Mondays.md","kind":"text","old":"Deploys run on Mondays.","new":"Deploys run on Tuesdays."}],"removed":[],"replaced":[{"text":"Deploys run on Mondays.","by":"claude-desktop","at":"<time>","kind":"self"}]}}

  $ git log -1 --format='%an: %s%n%b' | sed '/^$/d'
  claude-desktop: memory_update: <memory 1> Deploys run on Mondays
  ~ Deploys run on Mondays. => Deploys run on Tuesdays.
  Tool: memory_update
  Edited-By: claude-desktop
  Edited-At: <time>
  Session: team

  > memory_update {"memory_id": 7, "new_text": "x", "session_id": "team"}
  ! Memory 7 not found. Look for its number with memory_recall. Nothing was saved.

What belongs together is linked, as lines that Obsidian shows.

  > memory_link {"source_id": "<memory 1>", "target_id": "<memory 2>", "relation": "NEEDS"}
  {"source_id":"<memory 1>","target_id":"<memory 2>","relation":"NEEDS","status":"linked","from":"memories/<year>/<month>/<day> Deploys run on Mondays.md","to":"memories/<year>/<month>/<day> Reviews come before deploys.md","receipt":{"commit":"<commit>","edited_at":"<time>","edited_by":"claude-desktop","added":[{"note":"memories/<year>/<month>/<day> Deploys run on Mondays.md","kind":"relation","text":"NEEDS -> <day> Reviews come before deploys"}],"changed":[],"removed":[],"replaced":[]}}

  > memory_link_batch {"edges": [{"source_id": "<memory 2>", "target_id": "<memory 1>", "relation": "HAS_PROPERTY"}]}
  {"status":"linked","linked":1,"edges":[{"source_id":"<memory 2>","target_id":"<memory 1>","relation":"HAS_PROPERTY","status":"linked","from":"memories/<year>/<month>/<day> Reviews come before deploys.md","to":"memories/<year>/<month>/<day> Deploys run on Mondays.md"}],"skipped":[],"receipt":{"commit":"<commit>","edited_at":"<time>","edited_by":"claude-desktop","added":[{"note":"memories/<year>/<month>/<day> Reviews come before deploys.md","kind":"relation","text":"HAS_PROPERTY -> <day> Deploys run on Mondays"}],"changed":[],"removed":[],"replaced":[]}}

  $ grep -h '^- ' memories/*/*/*.md | sed 's/ %%.*//'
  - NEEDS [[<day> Reviews come before deploys]]
  - HAS_PROPERTY [[<day> Deploys run on Mondays]]

  > memory_explore_hierarchy {"concept_id": "<memory 1>", "direction": "down"}
  {"concept":{"name":"<day> Deploys run on Mondays","kind":"memory","note":"memories/<year>/<month>/<day> Deploys run on Mondays.md","id":<memory 1>,"children":[{"name":"<day> Reviews come before deploys","kind":"memory","note":"memories/<year>/<month>/<day> Reviews come before deploys.md","id":<memory 2>,"relation":"NEEDS","children":[]}]},"direction":"down","count":1}

  > memory_list_sessions {}
  {"collection":"memories","session_count":1,"sessions":[{"session_id":"team","observed_count":2,"sample":"Reviews come before deploys.","last_stored":"<time>"}]}

  > memory_consolidate {"topic_query": "deploys", "summary_text": "Deploys: Tuesdays, after a review.", "persist": true}
  {"status":"consolidated","topic":"deploys","consolidated_id":<memory 3>,"summary":"Deploys: Tuesdays, after a review.","source_count":2,"source_ids":[<memory 1>,<memory 2>],"persisted":true,"archived_sources":false,"consolidated_dimension":0,"frechet_mean_preview":[],"receipt":{"commit":"<commit>","edited_at":"<time>","edited_by":"claude-desktop","added":[{"note":"memories/<year>/<month>/<day> Deploys Tuesdays, after a review.md","kind":"text","text":"Deploys: Tuesdays, after a review."},{"note":"memories/<year>/<month>/<day> Deploys Tuesdays, after a review.md","kind":"relation","text":"summarises -> <day> Deploys run on Mondays"},{"note":"memories/<year>/<month>/<day> Deploys Tuesdays, after a review.md","kind":"relation","text":"summarises -> <day> Reviews come before deploys"}],"changed":[],"removed":[],"replaced":[]}}

  > memory_verify_claim {"premise": "The team deploys on Tuesdays.", "conclusion": "Deploys run on Tuesdays."}
  {"status":"VERIFIED","trust_score":0.6,"threshold":0.36,"lorentz_distance":null,"cosine_distance":null,"total_distance":0.6667,"reason":"The two texts are near in words (67% shared) and meaning.","vector_dimension":0,"supporting":[{"note":"memories/<year>/<month>/<day> Deploys run on Mondays.md","text":"Deploys run on Tuesdays.","by":"claude-desktop","stored_at":"<time>","score":<score>,"id":<memory 1>},{"note":"memories/<year>/<month>/<day> Deploys Tuesdays, after a review.md","text":"Deploys: Tuesdays, after a review.","by":"claude-desktop","stored_at":"<time>","score":<score>,"id":<memory 3>}],"contradicting":[]}

  > memory_stats {}
  {"collection":"memories","host":"local","status":"ready","memories":3,"archived":0,"sessions":2,"entities":0,"files":3,"approx_vector_count":0,"vectors":{"state":"off","model":"","stored":0,"waiting":3,"unread":0},"schema":{"text":"text","memory_type":"semantic, episodic or procedural","importance":"1 to 10","session_id":"text","tags":"list of text"}}

What is forgotten goes from the vault and stays in its history.

  > memory_forget {"memory_id": <memory 2>}
  {"success":true,"memory_id":<memory 2>,"message":"Memory <memory 2> deleted. Git history keeps it: take commit <commit> back to bring it back.","receipt":{"commit":"<commit>","edited_at":"<time>","edited_by":"claude-desktop","added":[],"changed":[],"removed":[{"note":"memories/<year>/<month>/<day> Reviews come before deploys.md","kind":"text","text":"Reviews come before deploys."},{"note":"memories/<year>/<month>/<day> Reviews come before deploys.md","kind":"relation","text":"HAS_PROPERTY -> <day> Deploys run on Mondays"}],"replaced":[{"text":"Reviews come before deploys.","by":"claude-desktop","at":"<time>","kind":"self"},{"text":"HAS_PROPERTY -> <day> Deploys run on Mondays","by":"claude-desktop","at":"<time>","kind":"self"}]}}

  > memory_forget {"memory_id": <memory 2>}
  {"success":false,"memory_id":<memory 2>,"message":"Memory <memory 2> not found, so nothing was deleted. Look for its number with memory_recall.","receipt":{"commit":null,"edited_at":"<time>","edited_by":"claude-desktop","added":[],"changed":[],"removed":[],"replaced":[]}}

  > memory_remember {"text": " ", "session_id": "team"}
  ! The text is blank. Give it some text. Nothing was saved.

A person's own words count too, and are told apart when a tool replaces them.

  $ sed -i 's/Tuesdays\./Wednesdays, says Ann./' memories/*/*/*Mondays*.md

  > memory_update {"memory_id": <memory 1>, "new_text": "Deploys run on Thursdays.", "session_id": "team"}
  {"status":"updated","old_memory_id":<memory 1>,"new_memory_id":<memory 1>,"memory_type":"episodic","importance":7,"session_id":"team","changed":["text"],"note":"memories/<year>/<month>/<day> Deploys run on Mondays.md","message":"Memory <memory 1> keeps its number, links and history.","warnings":[],"receipt":{"commit":"<commit>","edited_at":"<time>","edited_by":"claude-desktop","added":[],"changed":[{"note":"memories/<year>/<month>/<day> Deploys run on Mondays.md","kind":"text","old":"Deploys run on Wednesdays, says Ann.","new":"Deploys run on Thursdays."}],"removed":[],"replaced":[{"text":"Deploys run on Wednesdays, says Ann.","by":"Ann Person","at":"<time>","kind":"person"}]}}

  $ git log --format='%an: %s'
  claude-desktop: memory_update: <memory 1> Deploys run on Mondays
  Ann Person: hand-edit: <day> Deploys run on Mondays.md
  claude-desktop: memory_forget: <memory 2>
  claude-desktop: memory_consolidate: <memory 3> deploys
  claude-desktop: memory_link_batch: <memory 2> -> <memory 1>
  claude-desktop: memory_link: <memory 1> -> <memory 2>
  claude-desktop: memory_update: <memory 1> Deploys run on Mondays
  claude-desktop: memory_remember: <memory 2> Reviews come before deploys
  claude-desktop: memory_remember: <memory 1> Deploys run on Mondays
  Ann Person: import: keep line ends, ignore what Obsidian rewrites
