"""The shapes that tools of every family take and give, each described once and in few words.

Clients send the whole list of tools to a model, so every word here is paid for many times. What stands
inside a record of a result is told in a sentence of field names rather than in a schema of its own.
"""

from vault_mcp.tools import schema as s

MOMENT = 'a time (ISO 8601, local by default), "2 weeks ago", or 7+ hex digits of a change'
NOTE = "an exact name, a memory's number, a key, or a path"

AS_OF = s.text(f"As of {MOMENT}; now unless set.", default="")
CURSOR = s.text("next_cursor of the page before.", default="")
IF_VERSION = s.text("Version you read; fails if not current.", default="")
IF_VERSIONS = s.text("Versions of the notes, if asked.", default="")

PAGE = {"next_cursor": s.text(optional=True), "left_out": s.text(optional=True)}
WARNINGS = s.array("What is odd in the texts.", s.record({}), optional=True)
RECEIPT = s.record({}, "commit null: no change.")
