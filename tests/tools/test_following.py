"""Links after a move: each goes on meaning what it meant, and what still does is left alone."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.vaults import clean, make_vault, opened, write_files
from vault_mcp.notes import links
from vault_mcp.tools import following


def after(root: Path, moved: Mapping[str, str], files: Mapping[str, str], **options: bool) -> int:
    """Put files into a vault, move some of them, and give how many links were rewritten."""
    make_vault(root, files)
    with opened(root) as vault:
        with vault.reading():
            pass
        with vault.change("move", by="t") as change:
            return following.move(change, moved, **options)


def text(root: Path, path: str) -> str:
    return (root / path).read_bytes().decode()


@pytest.mark.parametrize(
    ("link", "rewritten"),
    [
        ("[[Old]]", "[[New]]"),
        ("[[a/Old]]", "[[New]]"),
        ("[[Old.md]]", "[[New.md]]"),
        ("[[Old#Part|x]]", "[[New#Part|x]]"),
        ("[[old^block]]", "[[old^block]]"),
        ("[[Old#^id]]", "[[New#^id]]"),
        ("[[Old|Old]]", "[[New]]"),
        ("![[Old]]", "![[New]]"),
        ("| [[Old\\|y]] |", "| [[New\\|y]] |"),
        ("[words](a/Old.md)", "[words](b/New.md)"),
        ("[words](<a/Old.md>)", "[words](<b/New.md>)"),
        ("`[[Old]]`", "`[[Old]]`"),
        ("%%[[Old]]%%", "%%[[Old]]%%"),
        ("[[Older]]", "[[Older]]"),
    ],
)
def test_every_kind_of_link_follows_a_note_to_another_name_and_folder(
    tmp_path: Path, link: str, rewritten: str
) -> None:
    root = tmp_path / "v"
    after(root, {"a/Old.md": "b/New.md"}, {"a/Old.md": "x\n", "n.md": f"see {link} there\r\n"})
    assert text(root, "n.md") == f"see {rewritten} there\r\n"
    assert clean(root)


def test_a_link_that_still_means_its_note_is_not_touched(tmp_path: Path) -> None:
    root = tmp_path / "v"
    files = {"a/Note.md": "x\n", "n.md": "[[Note]] [[note|shown]]\n", "deep/m.md": "[[Note.md]]\n"}
    assert after(root, {"a/Note.md": "b/c/Note.md"}, files) == 0
    assert text(root, "n.md") == files["n.md"]


def test_properties_and_relations_follow(tmp_path: Path) -> None:
    root = tmp_path / "v"
    note = '---\nentity: t\nup: "[[Old]]"\nmore: [[Old]]\n---\n\n## Relations\n\n- knows [[Old]]\n'
    assert after(root, {"Old.md": "New name.md"}, {"Old.md": "x\n", "n.md": note}) == 3
    assert text(root, "n.md").count("[[New name]]") == 3
    assert "Old" not in text(root, "n.md")


def test_a_name_that_only_the_note_carries_is_shown_again(tmp_path: Path) -> None:
    root = tmp_path / "v"
    files = {
        "src index.ts.md": "---\nentity: module\nname: src/index.ts\n---\n",
        "n.md": "[[src index.ts|src/index.ts]] [[src index.ts|the entry]] [[src index.ts]]\n",
    }
    after(root, {"src index.ts.md": "modules/entry.md"}, files)
    assert text(root, "n.md") == "[[entry|src/index.ts]] [[entry|the entry]] [[entry]]\n"


def test_attachments_and_canvases_follow(tmp_path: Path) -> None:
    root = tmp_path / "v"
    canvas = (
        '{"nodes":[{"id":"1","type":"file","file":"a/Note.md","x":0.50},{"file":"pic.png"},{"file":"z.md"}]}'
    )
    files = {
        "a/Note.md": "x\n",
        "pic.png": "x",
        "n.md": "![[pic.png|200]] [p](pic.png)\n",
        "board.canvas": canvas,
    }
    moved = {"a/Note.md": "b/Note.md", "pic.png": "files/photo.png", "board.canvas": "boards/board.canvas"}
    after(root, moved, files)
    assert text(root, "n.md") == "![[photo.png|200]] [p](files/photo.png)\n"
    assert text(root, "boards/board.canvas") == canvas.replace("a/Note.md", "b/Note.md").replace(
        "pic.png", "files/photo.png"
    )
    assert [node["file"] for node in json.loads(text(root, "boards/board.canvas"))["nodes"]] == [
        "b/Note.md", "files/photo.png", "z.md",
    ]  # fmt: skip


def test_links_of_the_moved_note_itself_keep_their_meaning(tmp_path: Path) -> None:
    root = tmp_path / "v"
    files = {
        "a/Note.md": "[[Log]] [b](./Log.md) [[Other]] [[Note#Part]]\n",
        "a/Log.md": "of a\n",
        "b/Log.md": "of b\n",
        "Other.md": "x\n",
    }
    after(root, {"a/Note.md": "b/Note.md"}, files)
    assert text(root, "b/Note.md") == "[[a/Log]] [b](../a/Log.md) [[Other]] [[Note#Part]]\n"


def test_a_note_that_comes_into_the_way_of_another_makes_its_links_exact(tmp_path: Path) -> None:
    root = tmp_path / "v"
    files = {"deep/er/Log.md": "meant\n", "x/Diary.md": "moved\n", "n.md": "[[Log]] [[Diary]]\n"}
    after(root, {"x/Diary.md": "Log.md"}, files)
    assert text(root, "n.md") == "[[deep/er/Log]] [[Log]]\n"


def test_a_link_that_led_nowhere_stays_as_it_is(tmp_path: Path) -> None:
    root = tmp_path / "v"
    assert after(root, {"a.md": "Wanted.md"}, {"a.md": "x\n", "n.md": "[[Nowhere]] [[Wanted]]\n"}) == 0
    assert text(root, "n.md") == "[[Nowhere]] [[Wanted]]\n"


def test_a_whole_folder_moves_and_its_notes_still_know_each_other(tmp_path: Path) -> None:
    root = tmp_path / "v"
    files = {
        "old/A.md": "[[B]] [[old/B]] [b](B.md) [b](old/B.md)\n",
        "old/B.md": "[[A]]\n",
        "n.md": "[[old/A#x]]\n",
    }
    after(root, {"old/A.md": "new/A.md", "old/B.md": "new/B.md"}, files)
    assert text(root, "new/A.md") == "[[B]] [[B]] [b](B.md) [b](new/B.md)\n"
    assert text(root, "new/B.md") == "[[A]]\n"
    assert text(root, "n.md") == "[[A#x]]\n"


def test_two_notes_may_change_places(tmp_path: Path) -> None:
    root = tmp_path / "v"
    files = {"A.md": "a [[B]]\n", "B.md": "b [[A]]\n", "n.md": "[[A]] [[B]]\n"}
    make_vault(root, files)
    with opened(root) as vault, vault.reading():
        pass
    with opened(root) as vault, vault.change("move", by="t") as change:
        assert following.move(change, {"A.md": "C.md"}) == 2
    assert text(root, "n.md") == "[[C]] [[B]]\n"


def test_nothing_is_rewritten_where_the_vault_says_so(tmp_path: Path) -> None:
    root = tmp_path / "v"
    assert after(root, {"Old.md": "New.md"}, {"Old.md": "x\n", "n.md": "[[Old]]\n"}, rename_links=False) == 0
    assert text(root, "n.md") == "[[Old]]\n"


def test_a_note_that_cannot_be_read_is_left_alone(tmp_path: Path) -> None:
    root = tmp_path / "v"
    make_vault(root, {"Old.md": "x\n", "n.md": "[[Old]]\n"})
    (root / "bad.canvas").write_bytes(b'{"file":"Old.md"}\xff')
    with opened(root) as vault:
        with vault.reading():
            pass
        with vault.change("move", by="t") as change:
            following.move(change, {"Old.md": "New.md"})
    assert (root / "bad.canvas").read_bytes() == b'{"file":"Old.md"}\xff'
    assert text(root, "n.md") == "[[New]]\n"


def test_values_under_keys_are_nobodys_links(tmp_path: Path) -> None:
    root = tmp_path / "v"
    files = {"Old.md": "x\n", "keys/k.md": "---\nkey: k\n---\n\n```\n[[Old]]\n```\n"}
    assert after(root, {"Old.md": "New.md"}, files) == 0
    assert text(root, "keys/k.md") == files["keys/k.md"]


def test_every_link_means_after_a_move_what_it_meant_before(tmp_path: Path) -> None:
    root = tmp_path / "v"
    spellings = ["A", "A.md", "x/A", "x/y/A", "B", "y/B", "Z", "x/Z.md"]
    body = "".join(f"[[{s}]] [[{s}#h|{s}]] ![[{s}]] [t]({s.removesuffix('.md')}.md)\n" for s in spellings)
    places = ["A.md", "x/A.md", "x/y/A.md", "B.md", "x/y/B.md", "x/Z.md", "q/w.md"]
    write_files(root, dict.fromkeys(places, body))
    moved = {"x/A.md": "q/A.md", "B.md": "x/y/Bee.md", "q/w.md": "x/w.md", "x/Z.md": "Z.md"}
    before = {
        path: [links.resolve(one.target, path, places) for one in links.find_links(body)] for path in places
    }
    after(root, moved, {})
    now = [moved.get(path, path) for path in places]
    for path in places:
        new = moved.get(path, path)
        meant = [links.resolve(one.target, new, now) for one in links.find_links(text(root, new))]
        assert meant == [moved.get(old, old) if old else meant[n] for n, old in enumerate(before[path])], path
