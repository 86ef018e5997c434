"""Who the page lets in, what it lets a browser do, and that no text of a note can become markup."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.doors.pages import Visitor, paged, static
from tests.vaults import git, make_vault, opened
from vault_mcp.doors.page_files import static_files
from vault_mcp.doors.page_gate import BODY_MOST, HEADERS
from vault_mcp.vault import Vault

OURS = sorted(name for name in static_files() if not name.startswith("vendor/"))


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vault]:
    with opened(make_vault(tmp_path_factory.mktemp("gate") / "vault", {"Plan.md": "Plan\n"})) as vault:
        yield vault


@pytest.fixture
def visitor(vault: Vault) -> Iterator[Visitor]:
    with paged(vault) as visitor:
        yield visitor


@pytest.fixture
def inside(visitor: Visitor) -> Visitor:
    visitor.enter()
    return visitor


def test_nobody_enters_without_the_link(visitor: Visitor) -> None:
    for path in ("/", "/page.js", "/api/about", "/api/news", "/open/", "/open/guess", f"{visitor.opening}x"):
        told = visitor.ask("GET", path)
        assert told.status == 403, path
        assert b"vault-mcp ui" in told.raw
        assert "set-cookie" not in told.headers
    visitor.cookie = f"vault-mcp-{visitor.port}=guess"
    assert visitor.ask("GET", "/api/about").status == 403


def test_the_link_opens_the_page_once(visitor: Visitor) -> None:
    first = visitor.ask("GET", visitor.opening)
    assert (first.status, first.headers["location"]) == (303, "/")
    cookie, *rules = (part.strip().lower() for part in first.headers["set-cookie"].split(";"))
    assert cookie.startswith(f"vault-mcp-{visitor.port}=")
    assert {"httponly", "samesite=strict", "path=/"} <= set(rules)
    assert visitor.opening.rpartition("/")[2] not in first.headers["set-cookie"]
    assert visitor.ask("GET", visitor.opening).status == 403  # another browser
    visitor.cookie = first.headers["set-cookie"].partition(";")[0]
    assert visitor.ask("GET", visitor.opening).status == 303  # the same one, from its history
    assert visitor.ask("GET", "/api/about").status == 200


def test_cookies_of_other_programs_on_this_machine_do_no_harm(inside: Visitor) -> None:
    mine = inside.cookie
    for other in ("a=1", 'x="', "=", "bad name=1", "é=1"):
        told = inside.ask("GET", "/api/about", Cookie=f"{other}; {mine}; other=2")
        assert told.status == 200, other


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "localhost", "127.0.0.1:1", "evil.example:{port}", ""]
)
def test_a_name_that_is_not_this_machine_is_not_answered(inside: Visitor, host: str) -> None:
    told = inside.ask("GET", "/api/about", Host=host.format(port=inside.port))
    assert told.status in (400, 421)  # a request without any host is no HTTP at all


def test_this_machine_has_two_names(inside: Visitor) -> None:
    assert inside.ask("GET", "/api/about", Host=f"localhost:{inside.port}").status == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_page_cannot_ask(inside: Visitor, site: str) -> None:
    assert inside.ask("GET", "/api/about", Sec_Fetch_Site=site).status == 403
    assert inside.ask("GET", "/page.js", Sec_Fetch_Site=site).status == 403


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": ""}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Content_Type": ""}, 415),
        ({"Content_Type": "text/plain"}, 415),
        ({"Content_Type": "application/x-www-form-urlencoded"}, 415),
        ({"Content_Length": str(BODY_MOST + 1)}, 413),
        ({"Transfer_Encoding": "chunked", "Content_Length": ""}, 411),
    ],
)
def test_a_change_comes_from_the_page_alone(
    vault: Vault, inside: Visitor, headers: dict[str, str], status: int
) -> None:
    head = git(vault.root, "rev-parse", "HEAD").strip()
    body = f'{{"change": "{head}"}}'.encode()
    if headers.get("Content_Length"):
        body = b" " * (BODY_MOST + 1)
    if "Transfer_Encoding" in headers:
        body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    usual = {"Origin": inside.origin, "Content_Type": "application/json"}
    assert inside.ask("POST", "/api/undo", body, **usual | headers).status == status
    assert git(vault.root, "rev-parse", "HEAD").strip() == head


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH"])
def test_no_other_method_is_known(inside: Visitor, method: str) -> None:
    told = inside.ask(method, "/api/undo", Origin="http://evil.example")
    assert told.status == 405
    assert not any(name.startswith("access-control") for name in told.headers)


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"\xff", b"7"])
def test_what_is_no_object_is_refused(inside: Visitor, body: bytes) -> None:
    told = inside.ask("POST", "/api/undo", body, Origin=inside.origin, Content_Type="application/json")
    assert told.status == 400
    assert told.json["error"]


def test_every_answer_says_what_a_browser_may_do(inside: Visitor) -> None:
    for path in ("/", "/page.js", "/page.css", "/api/about", "/api/nothing", "/nothing", "/open/guess"):
        headers = inside.ask("GET", path).headers
        assert {name: headers.get(name) for name in HEADERS} == HEADERS, path
        assert "server" not in headers
    inside.cookie = ""
    assert inside.ask("GET", "/").headers["content-security-policy"] == HEADERS["content-security-policy"]
    policy = HEADERS["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert "http" not in policy


# -- the files


def test_every_file_of_ours_is_served_with_its_type(inside: Visitor) -> None:
    assert {"index.html", "page.js", "page.css", "icon.svg"} <= set(OURS)
    for name in OURS:
        told = inside.ask("GET", "/" if name == "index.html" else f"/{name}")
        assert told.status == 200
        assert told.headers["content-type"] == static_files()[name][0]


@pytest.mark.parametrize("name", OURS)
def test_no_file_asks_for_anything_from_elsewhere(name: str) -> None:
    addresses = set(re.findall(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]+[^\s\"'`]*", static(name)))
    assert addresses <= {"http://www.w3.org/2000/svg"}


@pytest.mark.parametrize("name", OURS)
def test_no_text_can_become_markup_or_script(name: str) -> None:
    text = static(name)
    ways = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|srcdoc|DOMParser"
    assert re.findall(f"{ways}|javascript:", text) == []
    if name.endswith(".html"):
        assert re.findall(r"<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=", text) == []


@pytest.mark.parametrize("name", [name for name in OURS if name.endswith(".js")])
def test_a_module_imports_only_what_is_there(name: str) -> None:
    for path in re.findall(r"""^import\s+(?:.*\sfrom\s+)?["']\./([^"']+)["']""", static(name), re.MULTILINE):
        assert path in static_files()


def test_a_library_comes_with_its_licence() -> None:
    vendored = {name for name in static_files() if name.startswith("vendor/")}
    for name in vendored:
        licence = static(f"{name.removesuffix('.min.js')}.LICENSE")
        assert "Permission to use, copy, modify" in licence
        assert static(name).startswith("// https://d3js.org/")


def test_the_page_is_part_of_the_package() -> None:
    root = Path(__file__).resolve().parents[2]
    ignored = git(
        root, "ls-files", "--others", "--ignored", "--exclude-standard", "--", "vault_mcp/doors/page"
    )
    assert ignored == ""
