import os
from pathlib import Path

import pytest

from vault_mcp.doors.settings import FILE, KEYS, VAULT_KEYS, Settings, gather, vault_folder
from vault_mcp.errors import BadArgument


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder beside a home of its own."""
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    folder = tmp_path / "vault"
    folder.mkdir()
    return folder


def settings(vault: Path, flags: dict[str, object] | None = None, **environ: str) -> Settings:
    return gather({"vault": str(vault), **(flags or {})}, environ)


def test_without_anything_set_the_defaults_hold(vault: Path) -> None:
    assert settings(vault) == Settings(vault=str(vault))
    assert settings(vault).complaints == ()


def test_flags_win_over_the_environment_and_that_over_the_vaults_file(vault: Path) -> None:
    assert settings(vault).hand_edits == "commit"
    (vault / FILE).write_text('hand_edits = "leave"\ngraph_observations = "strings"\nrename_links = false\n')
    assert settings(vault).hand_edits == "leave"
    assert settings(vault).rename_links is False
    assert settings(vault, VAULT_MCP_HAND_EDITS="commit").hand_edits == "commit"
    flags: dict[str, object] = {"graph_observations": "objects"}
    assert settings(vault, flags, VAULT_MCP_GRAPH_OBSERVATIONS="strings").graph_observations == "objects"
    assert settings(vault, {"graph_observations": None}).graph_observations == "strings"


def test_the_vaults_file_can_say_nothing_but_how_notes_are_treated(vault: Path) -> None:
    assert set(VAULT_KEYS) == {
        "hand_edits",
        "graph_observations",
        "rename_links",
        "protect_person",
        "undo_others",
        "embeddings",
        "sync",
        "durability",
    }
    lines = [
        f'{name} = "/elsewhere"' for name in ("vault", *(set(KEYS) - set(VAULT_KEYS)), "command", "hosts")
    ]
    (vault / FILE).write_text("\n".join(lines))
    found = settings(vault)
    assert found == Settings(vault=str(vault))
    assert len(found.complaints) == len(lines)
    assert f"{FILE} has no setting 'command'; it is left out." in found.complaints[-2]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('hand_edits = "comit"', f'hand_edits in {FILE} must be "commit" or "leave". It is left out.'),
        ("rename_links = 1", f"rename_links in {FILE} must be true or false. It is left out."),
        ("hand_edits = commit", f"{FILE} is no TOML"),
        ("\udcff", f"{FILE} is no TOML"),
        ("# " + "x" * 100_000, "The settings of the vault are left out."),
    ],
)
def test_a_slip_in_the_vaults_file_is_told_in_one_sentence_and_stops_nothing(
    vault: Path, text: str, says: str
) -> None:
    (vault / FILE).write_bytes(text.encode("utf-8", "surrogateescape"))
    found = settings(vault)
    assert found == Settings(vault=str(vault))
    assert len(found.complaints) == 1
    assert found.complaints[0].startswith(says)
    assert str(vault) not in found.complaints[0]


def test_a_vaults_file_that_is_a_link_or_a_pipe_is_not_read(vault: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text('hand_edits = "leave"')
    (vault / FILE).symlink_to(tmp_path / "elsewhere")
    assert settings(vault).hand_edits == "commit"
    (vault / FILE).unlink()
    os.mkfifo(vault / FILE)
    assert settings(vault).hand_edits == "commit"


def test_a_wrong_word_from_whoever_starts_the_server_stops_it(vault: Path) -> None:
    with pytest.raises(BadArgument, match="VAULT_MCP_READ_ONLY must be true or false, not 'maybe'"):
        settings(vault, VAULT_MCP_READ_ONLY="maybe")
    with pytest.raises(BadArgument, match="--graph-observations must be"):
        settings(vault, {"graph_observations": "both"})


def test_lists_and_switches_may_come_from_the_environment(vault: Path) -> None:
    found = settings(
        vault, VAULT_MCP_TOOLS="graph, files,", VAULT_MCP_EXCLUDE_TOOLS="fail", VAULT_MCP_READ_ONLY="1"
    )
    assert (found.tools, found.exclude_tools, found.read_only) == (("graph", "files"), ("fail",), True)
    assert settings(vault, VAULT_MCP_WATCH="off").watch is False
    assert settings(vault, VAULT_MCP_TOOLS="").tools == ("all",)


def test_the_agents_name_comes_from_flag_then_environment_then_the_older_variable(vault: Path) -> None:
    assert settings(vault, MEMORY_AGENT="older").agent == "older"
    both = {"MEMORY_AGENT": "older", "VAULT_MCP_AGENT": "newer"}
    assert gather({"vault": str(vault)}, both).agent == "newer"
    assert gather({"vault": str(vault), "agent": "flag"}, both).agent == "flag"


def test_variables_of_other_servers_are_answered_with_what_to_set_instead(vault: Path) -> None:
    found = settings(vault, MEMORY_FILE_PATH="/m.jsonl", DPTTOOLS_MEMORY_DIR="/d", MEMORY_AGENT="a")
    assert len(found.complaints) == 2
    assert all("VAULT_MCP_DIR" in complaint for complaint in found.complaints)


def test_a_misspelt_variable_is_told(vault: Path) -> None:
    (complaint,) = settings(vault, VAULT_MCP_READONLY="1").complaints
    assert complaint.startswith("VAULT_MCP_READONLY is not known. There are: ")
    assert "VAULT_MCP_READ_ONLY" in complaint


def test_the_folder_comes_from_flag_then_environment_then_the_home(vault: Path, tmp_path: Path) -> None:
    assert gather({}, {}).vault == str(tmp_path / "home" / "memory-vault")
    assert gather({}, {"VAULT_MCP_DIR": str(vault)}).vault == str(vault)
    assert gather({"vault": "~/notes"}, {"VAULT_MCP_DIR": str(vault)}).vault == str(
        tmp_path / "home" / "notes"
    )


def test_the_disk_the_home_and_what_lies_around_it_are_no_vault(vault: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "home")
    for path in ("/", "~", "~/", "~/x/..", str(tmp_path), str(tmp_path / "link"), "//", "/.."):
        with pytest.raises(BadArgument, match="cannot be a vault"):
            vault_folder(path)
    assert vault_folder(str(vault)) == str(vault)
    assert vault_folder(str(tmp_path / "home2")) == str(tmp_path / "home2")


def test_a_vault_that_is_not_there_yet_has_no_file(vault: Path) -> None:
    assert settings(vault / "new").complaints == ()


@pytest.mark.parametrize("said", ['"off"', "false", '"no"'])
def test_embeddings_are_switched_off_in_the_vaults_file_and_on_again_by_a_flag(
    vault: Path, said: str
) -> None:
    (vault / FILE).write_text(f"embeddings = {said}\n")
    assert settings(vault).embeddings == "off"
    assert settings(vault, {"embeddings": "on"}).embeddings == "on"
    assert settings(vault, VAULT_MCP_EMBEDDINGS="on").embeddings == "on"


def test_a_vaults_file_cannot_say_where_vectors_are_made(vault: Path) -> None:
    (vault / FILE).write_text('embedding_url = "http://localhost:1/v1"\nembedding_model = "m"\n')
    found = settings(vault)
    assert (found.embedding_url, found.embedding_model) == ("", "")
    assert len(found.complaints) == 2


def test_an_embedding_address_is_of_this_machine_and_names_its_model(vault: Path) -> None:
    flags: dict[str, object] = {"embedding_url": "http://localhost:8080/v1", "embedding_model": "m"}
    assert settings(vault, flags).embedding_url == "http://localhost:8080/v1"
    assert settings(vault, VAULT_MCP_EMBEDDING_URL="http://[::1]:1/v1", VAULT_MCP_EMBEDDING_MODEL="m")
    for address in ("https://api.example.com/v1", "ftp://localhost/", "localhost:8080", "http://[bad"):
        with pytest.raises(BadArgument, match="address of this machine"):
            settings(vault, {"embedding_url": address, "embedding_model": "m"})
    with pytest.raises(BadArgument, match="--embedding-model"):
        settings(vault, {"embedding_url": "http://localhost:8080/v1"})


@pytest.mark.parametrize(("said", "seconds"), [("30s", 30), ("5m", 300), (" 2 H ", 7200), ("1d", 86_400)])
def test_a_span_of_time_is_read(vault: Path, said: str, seconds: int) -> None:
    assert gather({"vault": str(vault), "every": said}, {}).every == seconds


@pytest.mark.parametrize("said", ["5", "m", "0m", "-5m", "5 weeks", "1e3s"])
def test_what_is_no_span_of_time_is_refused(vault: Path, said: str) -> None:
    with pytest.raises(BadArgument, match="as 30s, 5m or 2h"):
        gather({"vault": str(vault), "every": said}, {})
