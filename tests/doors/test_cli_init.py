"""`vault-mcp init`, as a process."""

import json
from pathlib import Path

import pytest

from tests.doors.commands import Commands, example_of
from tests.doors.frames import ROOT, Server
from tests.vaults import clean, commits, git, write_files


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "my notes"


def test_help_has_an_example(commands: Commands) -> None:
    assert example_of(commands.good("init", "--help"))[:2] == ["vault-mcp", "init"]


def test_a_missing_folder_is_made_a_vault_and_what_to_do_next_is_said(commands: Commands, root: Path) -> None:
    said = commands.good("init", root)
    assert said.startswith(f"{root} is a vault now.\n  made a Git repository of its own\n")
    assert "added to .gitattributes: * -text, *.md merge=vault" in said
    assert f' import FILE --vault "{root}"' in said
    assert f' install CLIENT --vault "{root}"' in said
    assert f' init "{root}" --obsidian' in said
    assert commits(root) == ["import: keep line ends, ignore what Obsidian rewrites"]
    assert clean(root)


def test_the_snippet_it_prints_starts_a_server_on_the_vault(commands: Commands, root: Path) -> None:
    said = commands.good("init", root)
    start = said.index("    {\n")
    config = json.loads(said[start : said.index("\n    }\n") + 6])
    server = config["mcpServers"]["vault"]
    assert server["args"][-3:] == ["serve", "--vault", str(root)]
    with Server([server["command"], *server["args"]], env=commands.environment()) as process:
        process.greet()
        assert json.loads(process.text("read_graph"))["entities"] == []
        process.close_input()
        assert process.ended() == 0


def test_notes_that_are_there_are_adopted(commands: Commands, root: Path) -> None:
    write_files(root, {"Plan.md": "[[Other]]\n", "Other.md": "x\n", ".obsidian/workspace.json": "{}"})
    said = commands.good("init", root)
    assert (
        f"took 2 files into its history (commit {git(root, 'rev-parse', '--short=7', 'HEAD').strip()})"
        in said
    )
    assert commits(root)[0] == "import: 2 files that were here"


def test_a_second_time_nothing_is_changed(commands: Commands, root: Path) -> None:
    commands.good("init", root)
    before = git(root, "rev-parse", "HEAD")
    assert commands.good("init", root).startswith(f"{root} is a vault already. Nothing was changed.\n")
    assert git(root, "rev-parse", "HEAD") == before


def test_a_program_is_told_the_same(commands: Commands, root: Path) -> None:
    write_files(root, {"a.md": "x\n"})
    told = commands.json("init", root)
    assert told["vault"] == str(root)
    assert told["made_repository"] is True
    assert told["files"] == 1
    assert told["commit"] == git(root, "rev-parse", "HEAD").strip()
    assert told["client"]["mcpServers"]["vault"]["args"][-1] == str(root)


def test_a_person_without_a_name_is_told_how_to_give_one(commands: Commands, root: Path) -> None:
    advice = 'git config --global user.name "Your Name"'
    assert advice in commands.good("init", root)
    (commands.home / ".gitconfig").write_text("[user]\n\tname = Ada\n")
    assert advice not in commands.good("init", root)


OBSIDIAN = (
    "Memory.base",
    ".obsidian/snippets/vault-stamps.css",
    ".obsidian/appearance.json",
    ".obsidian/app.json",
)


def test_what_obsidian_shows_is_laid_down_when_it_is_asked_for(commands: Commands, root: Path) -> None:
    commands.good("init", root)
    assert not [path for path in OBSIDIAN if (root / path).exists()]
    said = commands.good("init", root, "--obsidian")
    sample = ROOT / "sample_vault"
    for path in OBSIDIAN:
        assert f"  added {path}: " in said
        text, wanted = (root / path).read_text(), (sample / path).read_text()
        assert json.loads(text) == json.loads(wanted) if path.endswith("json") else text == wanted
    assert commits(root)[0] == "init: Memory.base"
    assert git(root, "log", "-1", "--format=%an") == git(root, "log", "-1", "--format=%an", "HEAD~1")
    assert "--obsidian" not in said
    before = git(root, "rev-parse", "HEAD")
    assert commands.json("init", root, "--obsidian")["obsidian"] == []
    assert git(root, "rev-parse", "HEAD") == before


def test_of_what_a_person_set_in_obsidian_nothing_is_changed(commands: Commands, root: Path) -> None:
    own = {
        "Memory.base": "views: []\n",
        ".obsidian/app.json": '{"alwaysUpdateLinks": false, "tabSize": 2}',
        ".obsidian/appearance.json": '{"enabledCssSnippets": ["mine"]}',
        ".obsidian/snippets/vault-stamps.css": "/* mine */\n",
    }
    write_files(root, own)
    said = commands.json("init", root, "--obsidian")["obsidian"]
    assert [line.partition(":")[0] for line in said] == [
        "changed .obsidian/appearance.json",
        "changed .obsidian/app.json",
    ]
    for path in ("Memory.base", ".obsidian/snippets/vault-stamps.css"):
        assert (root / path).read_text() == own[path]
    assert json.loads((root / ".obsidian/app.json").read_text()) == {
        "alwaysUpdateLinks": False,
        "tabSize": 2,
        "newLinkFormat": "shortest",
        "useMarkdownLinks": False,
    }
    styles = json.loads((root / ".obsidian/appearance.json").read_text())["enabledCssSnippets"]
    assert styles == ["mine", "vault-stamps"]


def test_settings_of_obsidian_that_cannot_be_read_or_lie_elsewhere_are_left_alone(
    commands: Commands, root: Path, tmp_path: Path
) -> None:
    write_files(root, {".obsidian/app.json": "{broken"})
    (tmp_path / "elsewhere.json").write_text("{}")
    (root / ".obsidian/appearance.json").symlink_to(tmp_path / "elsewhere.json")
    said = "\n".join(commands.json("init", root, "--obsidian")["obsidian"])
    assert "left .obsidian/app.json alone: line 1 " in said
    assert "left .obsidian/appearance.json alone: " in said
    assert (root / ".obsidian/app.json").read_text() == "{broken"
    assert (tmp_path / "elsewhere.json").read_text() == "{}"


def test_without_a_folder_the_one_of_the_environment_is_meant_or_the_one_in_the_home(
    commands: Commands, root: Path
) -> None:
    assert commands.json("init", VAULT_MCP_DIR=str(root))["vault"] == str(root)
    assert commands.json("init")["vault"] == str(commands.home / "memory-vault")


def test_inside_another_repository_it_says_how_to_keep_the_two_apart(commands: Commands, root: Path) -> None:
    git(root.parent, "init", "-q")
    said = commands.good("init", root / "deep")
    assert f"It lies inside another repository, {root.parent}." in said
    assert "add the line my notes/deep/ to its .gitignore" in said


def test_what_was_left_out_is_named(commands: Commands, root: Path) -> None:
    write_files(root, {"huge.md": ""})
    with (root / "huge.md").open("ab") as huge:
        huge.truncate(65 * 1024 * 1024)
    assert "left out huge.md: too large" in commands.good("init", root)


@pytest.mark.parametrize("folder", ["/", "~", "."])
def test_a_folder_that_holds_a_whole_life_is_refused(commands: Commands, folder: str) -> None:
    assert "cannot be a vault" in commands.refused("init", folder, cwd=commands.home)
    assert list(commands.home.iterdir()) == []


def test_a_bare_repository_is_refused(commands: Commands, root: Path) -> None:
    git(root.parent, "init", "-q", "--bare", str(root))
    assert "bare" in commands.refused("init", root)


def test_without_git_it_says_what_to_install(commands: Commands, root: Path) -> None:
    assert "No git program was found. Install Git" in commands.refused("init", root, PATH="/nonexistent")
