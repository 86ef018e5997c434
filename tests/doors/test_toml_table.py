"""One table of a TOML file: put in, changed and taken out, and every other line stays."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_mcp.doors.toml_table import NotEditableError, drop, put, read

PATH = ["mcp_servers", "vault"]
SERVER = {"command": "/bin/vault-mcp", "args": ["serve", "--vault", "/home/ada/notes"]}
LINES = '[mcp_servers.vault]\ncommand = "/bin/vault-mcp"\nargs = ["serve", "--vault", "/home/ada/notes"]\n'

CODEX = """\
# how I like it
model = "gpt-5"   # for now

[mcp_servers.docs]
command = "npx"
args = [
  "-y", # yes
  "docs-mcp",
]

# for the office
[profiles.work]
model = "gpt-5-mini"
"""


def test_a_table_goes_to_the_end() -> None:
    assert put("", PATH, SERVER) == LINES
    assert put(CODEX, PATH, SERVER) == f"{CODEX}\n{LINES}"
    assert put(CODEX.rstrip("\n"), PATH, SERVER) == f"{CODEX}\n{LINES}"


def test_what_was_put_in_can_be_taken_out_and_nothing_is_left() -> None:
    assert drop(put(CODEX, PATH, SERVER), PATH) == CODEX
    assert drop(put("", PATH, SERVER), PATH) == ""


def test_comments_above_the_next_table_stay_when_a_table_goes() -> None:
    after = drop(CODEX, ["mcp_servers", "docs"])
    start, end = CODEX.index("[mcp_servers.docs]"), CODEX.index("# for the office")
    assert after == CODEX[:start] + CODEX[end:]


def test_a_table_that_is_there_keeps_what_else_it_says() -> None:
    text = (
        "[mcp_servers.vault] # ours\n"
        "startup_timeout_sec = 20\n"
        "args = [\n"
        '  "serve", # ]\n'
        "]\n"
        'command = "/old/vault-mcp"\n\n'
        "[mcp_servers.vault.env]\n"
        'LANG = "C"\n'
    )
    after = put(text, PATH, SERVER)
    assert tomllib.loads(after)["mcp_servers"]["vault"] == {
        "startup_timeout_sec": 20,
        **SERVER,
        "env": {"LANG": "C"},
    }
    assert after.startswith("[mcp_servers.vault] # ours\nstartup_timeout_sec = 20\nargs = [")
    assert drop(after, PATH) == ""


def test_a_table_whose_header_stands_without_the_key_gets_it() -> None:
    after = put('[mcp_servers.vault]\ncommand = "x"', PATH, SERVER)
    assert tomllib.loads(after)["mcp_servers"]["vault"] == SERVER


def test_line_ends_of_windows_stay() -> None:
    after = put(CODEX.replace("\n", "\r\n"), PATH, SERVER)
    assert after == f"{CODEX}\n{LINES}".replace("\n", "\r\n")


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers = { vault = { command = "x" } }\n',
        '[mcp_servers]\nvault = { command = "x" }\n',
        '[mcp_servers]\nvault.command = "x"\n',
        "mcp_servers = 3\n",
        "no toml at all",
        '[[mcp_servers]]\nname = "x"\n',
    ],
)
def test_a_table_without_lines_of_its_own_is_refused_and_not_guessed_at(text: str) -> None:
    with pytest.raises(NotEditableError):
        put(text, PATH, SERVER)


def test_words_that_look_like_a_header_inside_a_text_are_no_header() -> None:
    text = 'help = """\n[mcp_servers.vault]\ncommand = "x"\n"""\n'
    after = put(text, PATH, SERVER)
    assert tomllib.loads(after) == {**tomllib.loads(text), "mcp_servers": {"vault": SERVER}}


def test_dropping_what_is_not_there_changes_nothing() -> None:
    assert drop(CODEX, PATH) == CODEX


TEXTS = st.text(max_size=20).filter(lambda text: not any("\ud800" <= c <= "\udfff" for c in text))


@given(TEXTS, st.lists(TEXTS, max_size=3), st.sampled_from(["vault", "my vault", "é", "a.b"]))
def test_any_path_and_any_name_come_back_exactly(command: str, args: list[str], name: str) -> None:
    after = put(CODEX, ["mcp_servers", name], {"command": command, "args": args})
    assert tomllib.loads(after)["mcp_servers"][name] == {"command": command, "args": args}
    assert drop(after, ["mcp_servers", name]) == CODEX
    assert read(CODEX) == tomllib.loads(CODEX)
