import random

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.storage.git.vaults import Vault
from vault_mcp.storage.git.objects import LooseObjects, deflated, object_id
from vault_mcp.storage.git.trees import Tree, TreeStore


def entry(name: str, oid: bytes, mode: str = "100644") -> bytes:
    return f"{mode} {name}".encode() + b"\0" + oid


def test_a_name_is_found_only_where_an_entry_begins() -> None:
    tricky = b"100644 b.md\0" + b"x" * 8
    body = entry("a", tricky) + entry("x 100644 b.md", b"1" * 20) + entry("z", b"2" * 20)
    tree = Tree.parse(body)

    assert tree.find(b"b.md") is None
    assert tree.find(b"x 100644 b.md") == (b"100644", b"1" * 20)
    assert tree.find(b"z") == (b"100644", b"2" * 20)
    assert tree.body() == body


def test_a_name_is_found_in_a_tree_of_a_hundred_thousand() -> None:
    chooser = random.Random(3)
    names = sorted(f"note {number}.md" for number in range(100_000))
    tree = Tree.parse(b"".join(entry(name, chooser.randbytes(20)) for name in names))

    assert len(tree.keys) == 100_000
    assert tree.find(b"note 77777.md") is not None
    assert tree.put(b"note 77777.md", b"100644", b"n" * 20) == 0
    assert tree.put(b"note 77777", b"40000", b"f" * 20) == 1
    assert tree.find(b"note 77777") == (b"40000", b"f" * 20)
    assert tree.drop(b"note 77777/") == 1


names = st.sampled_from(["a", "a.b", "a-b", "a0", "A", "b", "ä", "a b"])
paths = st.lists(names, min_size=1, max_size=3).map("/".join)


@settings(max_examples=40)
@given(files=st.dictionaries(paths, st.binary(min_size=20, max_size=20), min_size=1, max_size=12))
def test_a_tree_is_the_one_that_git_writes(tmp_path_factory: object, files: dict[str, bytes]) -> None:
    kept = {path: oid for path, oid in files.items() if not any(o.startswith(f"{path}/") for o in files)}
    vault = Vault.make(tmp_path_factory.mktemp("tree"))  # type: ignore[attr-defined]  # pytest's own
    objects = LooseObjects(str(vault.root / ".git/objects"))
    store = TreeStore(objects, lambda name: objects.read(name) or (b"", b""))
    blob = objects.write(b"blob", b"x")
    lines = "".join(f"100644 {blob.hex()}\t{path}\0" for path in kept)

    edited = store.edit(None, {path.encode(): (b"100644", blob) for path in kept})

    vault.git("update-index", "-z", "--index-info", given=lines.encode())
    assert edited.root.hex() == vault.git("write-tree").strip()
    half = list(kept)[::2]
    smaller = store.edit(edited.root, {path.encode(): None for path in half})
    for path in half:
        vault.git("update-index", "--force-remove", "--", path)
    assert smaller.root.hex() == vault.git("write-tree").strip()


@given(
    body=st.binary(max_size=300),
    kind=st.sampled_from([b"blob", b"tree"]),
    times=st.sampled_from([1, 100, 3000]),
)
def test_git_reads_what_is_stored(tmp_path_factory: object, body: bytes, kind: bytes, times: int) -> None:
    folder = tmp_path_factory.getbasetemp() / "objects"  # type: ignore[attr-defined]  # pytest's own
    objects = LooseObjects(str(folder))
    whole = body * times

    name = objects.write(kind, whole)

    assert name == object_id(kind, whole)
    assert objects.read(name.hex()) == (kind, whole)
    stream = deflated(kind, b"%s %d\0%s" % (kind, len(whole), whole))
    # What Git looks at to tell a loose object's header: RFC 1950, method 8, and a check over two bytes.
    assert stream[0] & 0x8F == 0x08
    assert (stream[0] * 256 + stream[1]) % 31 == 0
