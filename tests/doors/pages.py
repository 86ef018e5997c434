"""The local page run on a real vault, and plain HTTP to ask it with."""

import contextlib
import http.client
import json
import threading
import urllib.parse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.vaults import PERSON
from vault_mcp.doors.page_answers import Answers
from vault_mcp.doors.page_server import make_page
from vault_mcp.tools.tool import Caller
from vault_mcp.vault import Vault


@dataclass(frozen=True)
class Told:
    """One answer."""

    status: int
    headers: Mapping[str, str]
    raw: bytes

    @property
    def json(self) -> Any:
        """Give the object in it."""
        return json.loads(self.raw)


class Visitor:
    """Sends requests to a page, with or without its cookie; any header may be set, a browser's own too."""

    def __init__(self, url: str) -> None:
        self.url = url
        parts = urllib.parse.urlsplit(url)
        assert parts.port
        self.port, self.opening = parts.port, parts.path
        self.cookie = ""

    @property
    def origin(self) -> str:
        """Give the page's own origin."""
        return f"http://127.0.0.1:{self.port}"

    def ask(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Told:
        """Send one request; `Host_` and the like are headers of that name, and "" leaves one out."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        named = {name.strip("_").replace("_", "-"): value for name, value in headers.items()}
        if self.cookie:
            named.setdefault("Cookie", self.cookie)
        try:
            connection.putrequest(method, path, skip_host="Host" in named, skip_accept_encoding=True)
            for name, value in named.items():
                if value:
                    connection.putheader(name, value)
            if body is not None and "Content-Length" not in named:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            return Told(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def enter(self) -> None:
        """Follow the one-time link, as a browser does."""
        told = self.ask("GET", self.opening)
        assert told.status == 303, told
        self.cookie = told.headers["set-cookie"].partition(";")[0]

    def get(self, what: str, **asked: str) -> Any:
        """Ask for something that must be there."""
        told = self.ask("GET", f"/api/{what}?{urllib.parse.urlencode(asked)}")
        assert told.status == 200, told
        return told.json

    def post(self, what: str, **given: object) -> Told:
        """Ask for a change, as the page itself does."""
        return self.ask(
            "POST",
            f"/api/{what}",
            json.dumps(given).encode(),
            Origin=self.origin,
            Content_Type="application/json",
        )


@contextlib.contextmanager
def paged(vault: Vault, *, read_only: bool = False) -> Iterator[Visitor]:
    """Run the page of a vault for a block; the visitor has not entered yet."""
    page = make_page(Answers(vault, Caller(PERSON, person=True), read_only=read_only))
    thread = threading.Thread(target=page.run, name="page")
    thread.start()
    try:
        yield Visitor(page.url)
    finally:
        page.stop()
        thread.join(120)
        assert not thread.is_alive()


def static(name: str) -> str:
    """Give the text of one of the page's own files."""
    root = Path(__file__).resolve().parents[2]
    return (root / "vault_mcp" / "doors" / "page" / name).read_text(encoding="utf-8")
