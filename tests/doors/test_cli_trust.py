"""`vault-mcp trust`, as a process: what is on the list, and that the list is asked."""

import os
from pathlib import Path

import pytest

from tests.doors.commands import COMMAND, Commands, example_of
from tests.doors.frames import Frame, Server
from tests.vaults import git, make_vault
from vault_mcp.doors import own_folder, trusted
from vault_mcp.errors import BadArgument, StorageFailed


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_vault(tmp_path / "vault", {"a.md": "a\n"})


def listed(commands: Commands, **env: str) -> list[str]:
    return commands.good("trust", "--list", **env).splitlines()


def test_help_has_an_example(commands: Commands) -> None:
    assert example_of(commands.good("trust", "--help"))[:2] == ["vault-mcp", "trust"]


def test_a_vault_is_trusted_until_it_is_taken_off_the_list(commands: Commands, root: Path) -> None:
    assert listed(commands) == []
    assert commands.good("trust", root).startswith(f"{root} is trusted now.\n")
    assert commands.good("trust", root).startswith(f"{root} is trusted already.\n")
    assert listed(commands) == [str(root)]
    assert commands.good("trust", root, "--remove") == f"{root} is trusted no longer.\n"
    assert commands.good("trust", root, "--remove") == f"{root} was not trusted.\n"
    assert listed(commands) == []


def test_the_list_is_the_users_own_and_outside_the_vault(commands: Commands, root: Path) -> None:
    before = git(root, "status", "--porcelain", "--ignored"), sorted((root / ".git").rglob("*"))
    commands.good("trust", root)
    assert (git(root, "status", "--porcelain", "--ignored"), sorted((root / ".git").rglob("*"))) == before
    file = commands.home / ".config/vault-mcp/trusted"
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert str(root) in file.read_text()


def test_the_settings_folder_can_be_another(commands: Commands, root: Path, tmp_path: Path) -> None:
    commands.good("trust", root, XDG_CONFIG_HOME=str(tmp_path / "config"))
    assert listed(commands, XDG_CONFIG_HOME=str(tmp_path / "config")) == [str(root)]
    assert listed(commands) == []


def test_it_says_what_may_run_now(commands: Commands, root: Path) -> None:
    git(root, "config", "filter.secret.clean", "cat")
    git(root, "config", "core.sshCommand", "my-ssh")
    said = commands.good("trust", root)
    assert "may run  filter.secret.clean = cat" in said
    assert "may run  core.sshcommand = my-ssh" in said


def test_a_link_to_a_vault_means_the_vault(commands: Commands, root: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(root)
    commands.good("trust", tmp_path / "link")
    assert listed(commands) == [str(root)]


def test_only_a_trusted_vault_runs_the_filter_that_it_names(commands: Commands, root: Path) -> None:
    (root / ".gitattributes").write_text("*.md filter=mark\n")
    git(root, "config", "filter.mark.clean", "sed 's/$/!/'")
    made = {"entities": [{"name": "Ada", "entityType": "person", "observations": ["likes tea"]}]}

    def created() -> Frame:
        with Server((*COMMAND, "serve", "--vault", str(root)), env=commands.environment()) as server:
            server.greet()
            return server.call("create_entities", **made)

    refused = created()
    assert refused["isError"] is True
    assert "vault-mcp trust DIR" in str(refused["content"])
    commands.good("trust", root)
    assert created()["isError"] is False
    assert "likes tea" in git(root, "show", "HEAD:entities/person/Ada.md")
    assert "---!" in git(root, "show", "HEAD:entities/person/Ada.md")


def test_a_folder_that_is_no_repository_cannot_be_trusted(commands: Commands, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    assert "vault-mcp init DIR" in commands.refused("trust", tmp_path / "plain")
    assert "Which vault?" in commands.refused("trust")
    assert listed(commands) == []


def test_a_list_inside_the_vault_counts_for_nothing(commands: Commands, root: Path) -> None:
    env = {"XDG_CONFIG_HOME": str(root / "config")}
    assert "settings folder lies inside this vault" in commands.refused("trust", root, **env)
    (root / "config/vault-mcp").mkdir(parents=True)
    (root / "config/vault-mcp/trusted").write_text(f"{root}\n")
    assert not trusted.is_trusted(str(root), env)


def test_a_list_that_a_person_edited_is_read_line_by_line(tmp_path: Path) -> None:
    folder = tmp_path / "vault-mcp"
    folder.mkdir()
    (folder / "trusted").write_text("# mine\n\nrelative/path\n/a\n/b with space\n/a\n")
    assert trusted.trusted_vaults({"XDG_CONFIG_HOME": str(tmp_path)}) == ["/a", "/b with space"]


def test_what_cannot_be_written_or_held_is_told(tmp_path: Path) -> None:
    (tmp_path / "vault-mcp").write_text("a file where the folder should be")
    env = {"XDG_CONFIG_HOME": str(tmp_path)}
    with pytest.raises(StorageFailed, match="cannot be read"):
        trusted.trust("/a", env)
    with pytest.raises(BadArgument, match="line break"):
        trusted.trust("/a\nb", {"XDG_CONFIG_HOME": str(tmp_path / "other")})


def test_where_settings_lie_by_the_words_of_the_environment() -> None:
    home = os.path.expanduser("~")
    assert own_folder.settings_folder({"XDG_CONFIG_HOME": "/x"}) == "/x/vault-mcp"
    assert own_folder.settings_folder({"XDG_CONFIG_HOME": "relative"}) == f"{home}/.config/vault-mcp"
    assert own_folder.settings_folder({}) == f"{home}/.config/vault-mcp"
