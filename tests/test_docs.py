"""The documentation held to the source: modules, samples of notes, tools, commands."""

import dataclasses
import json
import math
import re
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import jsonschema
import pytest

from tests.doors.catalog_checks import size
from tests.vaults import opened
from vault_mcp.adopt import adopt
from vault_mcp.doors.cli import COMMANDS
from vault_mcp.doors.cli_serve import serve
from vault_mcp.doors.clients import CLIENTS, config_file
from vault_mcp.notes.note import read_note
from vault_mcp.tools.catalog import PROFILES
from vault_mcp.tools.families import whole_catalog
from vault_mcp.tools.graph.taxonomy import VERSION, taxonomy

ROOT = Path(__file__).resolve().parent.parent


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def pages() -> list[Path]:
    """Every Markdown page about the project; the sample vault is a fixture, not a page."""
    return [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]


def fenced(text: str) -> list[tuple[str, str]]:
    """Give the code blocks of a page as (title, content)."""
    blocks = re.findall(r"^(`{3,})\w* title=\"([^\"\n]*)\"\n(.*?)^\1$", text, re.MULTILINE | re.DOTALL)
    return [(title, content) for _, title, content in blocks]


# -- docs/architecture.md


def modules_drawn() -> set[str]:
    """Read the tree in docs/architecture.md: a name per line, two spaces a floor, folders end in a slash."""
    tree = re.search(
        r"^```text\nvault_mcp/\n(.*?)^```", page("docs/architecture.md"), re.MULTILINE | re.DOTALL
    )
    assert tree
    drawn, folders = set(), ["vault_mcp"]
    for line in tree[1].splitlines():
        match = re.match(r"((?:  )+)(\S+)(?:\s|$)", line)
        assert match, line
        depth, name = len(match[1]) // 2, match[2]
        folders[depth:] = [name.rstrip("/")]
        if name.endswith(".py"):
            drawn.add("/".join(folders))
            assert len(line.split(maxsplit=1)) == 2, f"{name} has no words beside it"
    return drawn


def test_the_tree_of_modules_is_the_tree_on_disk() -> None:
    there = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "vault_mcp").rglob("*.py")
        if path.name != "__init__.py" or path.parent == ROOT / "vault_mcp"
    }
    drawn = modules_drawn()
    assert "\n".join(sorted(there - drawn)) == "", "these are missing from docs/architecture.md"
    assert "\n".join(sorted(drawn - there)) == "", "these are gone"


# -- docs/format.md

SAMPLES = fenced(page("docs/format.md"))
NOTES = [
    (path, text, json.loads(told)) for (path, text), (title, told) in pairwise(SAMPLES) if title == "reads as"
]


def says(found: object, told: object) -> object:
    """Cut what was found down to what the page tells, so that the two can be compared."""
    if dataclasses.is_dataclass(found) and isinstance(told, dict):
        return {key: says(getattr(found, key), value) for key, value in told.items()}
    if isinstance(found, tuple) and isinstance(told, list) and len(found) == len(told):
        return [says(one, other) for one, other in zip(found, told, strict=True)]
    return list(found) if isinstance(found, tuple) else found


@pytest.mark.parametrize(("path", "text", "told"), NOTES, ids=[path for path, *_ in NOTES])
def test_a_sample_of_the_format_reads_as_the_page_says(path: str, text: str, told: object) -> None:
    assert says(read_note(path, text), told) == told


def test_the_page_has_a_sample_of_each_kind_of_note() -> None:
    assert {told["kind"] for _, _, told in NOTES} == {"entity", "memory", "key"}


def test_the_page_shows_the_files_that_init_lays_down() -> None:
    laid = dict(SAMPLES)
    for name in (".gitignore", ".gitattributes"):
        assert laid[name] == page(f"sample_vault/{name}")


# -- the README and its commands

TEST_COMMAND = re.compile(r"^python3 -m venv .*pytest.*$", re.MULTILINE)


def test_ci_runs_the_test_command_of_the_readme_word_for_word() -> None:
    (command,) = TEST_COMMAND.findall(page("README.md"))
    assert TEST_COMMAND.findall(page(".ci/run")) == [command]
    assert TEST_COMMAND.findall(page("CONTRIBUTING.md")) == [command]


def test_no_page_installs_the_package_that_only_shares_our_commands_name() -> None:
    # `--from git-vault-mcp vault-mcp` is our package and its command: the way that uvx runs it.
    ours = re.compile(r"--(?:from|spec) \S*git[-_]vault[-_]mcp\S* vault-mcp")
    way = r"(?<!\w)(?:install|uvx|uv tool \w+|pipx \w+)"
    wrong = re.compile(way + r"[^\n`&;|]*(?<![\w-])vault[-_]mcp(?![\w-])")
    said = [
        f"{path.name}: {line}"
        for path in pages()
        for line in page(str(path)).splitlines()
        if wrong.search(ours.sub("", line))
    ]
    assert said == []


def test_the_readme_lists_every_tool_once_in_the_order_of_the_catalog() -> None:
    section = page("README.md").partition("\n## The tools\n")[2].partition("\n##")[0]
    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == [t.name for t in whole_catalog().tools]


def test_the_readme_tells_how_many_tools_each_profile_offers_and_how_long_their_list_is() -> None:
    section = page("README.md").partition("\n## The tools\n")[2].partition("\n## ")[0]
    told = re.findall(
        r"^\| `--tools (\w+)` \| (\d+) \| (\d+) kB \| (\d+) \| (\d+) kB \|$", section, re.MULTILINE
    )
    assert told == [(profile, *_offer(profile, False), *_offer(profile, True)) for profile in PROFILES]


WEIGHTS = (25, 20, 20, 15, 10, 10)
"""What purpose, usage, behaviour, parameters, conciseness and completeness count for, in TDQS 1.2."""


def test_every_tool_was_judged_twice_and_the_page_names_those_under_four_and_a_half() -> None:
    head, *passes = page("docs/tool_quality.md").split("\n## ")
    assert len(passes) == 2
    lowest: dict[str, float] = {}
    for judged in passes:
        rows = re.findall(r"^\| `(\w+)` \| ([1-5 |.]+) \| (\d\.\d{3}) \|$", judged, re.MULTILINE)
        assert [name for name, _, _ in rows] == [tool.name for tool in whole_catalog().tools]
        for name, marks, score in rows:
            weighed = sum(float(m) * w for m, w in zip(marks.split(" | "), WEIGHTS, strict=True)) / 100
            assert f"{weighed:.3f}" == score, name
            lowest[name] = min(weighed, lowest.get(name, 5))
    assert f"is {sum(lowest.values()) / len(lowest):.2f} on average" in head
    under = {name: f"{score:.2f}" for name, score in lowest.items() if score < 4.5}
    assert dict(re.findall(r"`(\w+)` \((\d\.\d\d)\)", head)) == under


def test_the_readme_lists_every_address_and_every_prompt() -> None:
    section = page("README.md").partition("\n### Resources and prompts\n")[2].partition("\n## ")[0]
    catalog = whole_catalog()
    addresses = [*(one.uri for one in catalog.resources), *(one.uri for one in catalog.templates)]
    assert re.findall(r"^\| `(\S+)` \|", section, re.MULTILINE) == [
        *addresses,
        *(prompt.name for prompt in catalog.prompts),
    ]


def _offer(profile: str, read_only: bool) -> tuple[str, str]:
    catalog = whole_catalog().pick([profile], read_only=read_only)
    return str(len(catalog.tools)), str(math.ceil(size(catalog) / 1000))


def test_the_readme_lists_every_command_once_in_the_order_of_help() -> None:
    section = page("README.md").partition("\n## The command line\n")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `vault-mcp ([\w-]+)[^`]*` \|", section, re.MULTILINE) == list(COMMANDS)


def test_the_flags_of_the_readme_are_flags_of_serve() -> None:
    section = page("README.md").partition("\n## Connect a client\n")[2].partition("\n## ")[0]
    flags = re.findall(r"^\| `(--[\w-]+)[^`]*` \|", section, re.MULTILINE)
    known = {name for parameter in serve.params for name in parameter.opts}
    assert len(flags) > 5
    assert set(flags) <= known


def test_the_readme_says_of_every_client_where_its_settings_are() -> None:
    section = page("README.md").partition("\n## Connect a client\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ([^|]+) \| `([\w-]+)` \| `~/([^`]+)` \|", section, re.MULTILINE)
    assert rows == [
        (client.title, word, config_file(word, "linux", "~", {}).removeprefix("~/"))
        for word, client in CLIENTS.items()
    ]


# -- docs/taxonomy.md


def test_the_taxonomy_of_the_sample_vault_is_what_the_page_shows_and_fits_its_schema(tmp_path: Path) -> None:
    shown = dict(fenced(page("docs/taxonomy.md")))
    shutil.copytree(ROOT / "sample_vault", tmp_path / "vault")
    adopt(str(tmp_path / "vault"))
    with opened(tmp_path / "vault") as vault:
        made = taxonomy(vault)
    assert json.loads(shown["taxonomy of the sample vault"]) == made
    schema = json.loads(shown["schema"])
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(made, schema)
    assert schema["properties"]["taxonomy_version"]["const"] == VERSION


# -- links between pages


def test_links_between_pages_lead_somewhere() -> None:
    broken = []
    for path in pages():
        for target in re.findall(r"\]\((?!https?:|#)([^)#\s]+)[^)]*\)", path.read_text(encoding="utf-8")):
            if not (path.parent / target).exists():
                broken.append(f"{path.relative_to(ROOT)}: {target}")
    assert broken == []


def test_every_decision_stands_in_the_list_of_decisions() -> None:
    listed = set(re.findall(r"\]\(([\w-]+\.md)\)", page("docs/decisions/README.md")))
    assert listed == {path.name for path in (ROOT / "docs/decisions").glob("*.md")} - {"README.md"}


# -- what stands nowhere

# Folders of one machine: a page or a test that names them is true on that machine alone.
MACHINE = re.compile(r"(?<![\w.*-])/(?:work|root|tmp/(?:venv|plan))(?![\w-])|\.\./shared")


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, check=True)
    return [ROOT / name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()]


@pytest.mark.skipif(
    not (ROOT / ".git").exists(), reason="an unpacked archive does not say which files are ours"
)
def test_no_file_names_a_folder_of_the_machine_it_was_written_on() -> None:
    named = []
    for path in tracked():
        text = path.read_bytes().decode("utf-8", "replace")
        named += [f"{path.relative_to(ROOT)}: {found[0]}" for found in MACHINE.finditer(text)]
    assert named == []
