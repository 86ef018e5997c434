"""A process that writes to a vault until it is told to stop, or killed.

    python -m tests.storage.git.writing VAULT NAME COUNT

It prints one line for each commit once it is acknowledged: the commit, the path, the text. A path that
several processes share is read anew for each write, and a line is appended.
"""

import sys
import time

from vault_mcp.errors import Stale, VaultError
from vault_mcp.storage import files
from vault_mcp.storage.git.message import Ident, Message
from vault_mcp.storage.git.repository import Repository
from vault_mcp.storage.git.writer import Write, Writer, blob_id


def append(repository: Repository, path: str, line: str, author: Ident) -> str:
    """Read a file and write it with a line more, under one lock; give the commit."""
    with repository.writing(60) as writer:
        return append_with(writer, repository.root, path, line, author)


def append_with(writer: Writer, root: str, path: str, line: str, author: Ident) -> str:
    found = files.read(root, path)
    old = found[0] if found else b""
    content = old + line.encode() + b"\n"
    write = Write(content, found[1] if found else None, blob_id(old) if found else None)
    message = Message(f"append: {line}", "", (("Tool", "append"),))
    return writer.commit({path: write}, message, author=author, at=int(time.time())).sha


def main() -> None:
    root, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    repository = Repository.open(root)
    author = Ident(name, f"{name}@agent.invalid")
    for number in range(count):
        for path in (f"{name}/n{number % 10}.md", "shared.md"):
            line = f"{name}-{number}"
            for _ in range(20):
                try:
                    sha = append(repository, path, line, author)
                except Stale:
                    continue  # a person saved it in between: read again
                except VaultError as error:
                    print(f"error {error}", flush=True)
                else:
                    print(sha, path, line, flush=True)
                break
    repository.close()


if __name__ == "__main__":
    main()
