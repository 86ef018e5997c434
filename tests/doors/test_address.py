"""Addresses to listen at, and names by which a server may be asked for."""

import pytest

from vault_mcp.doors.address import Address, is_loopback, named_hosts, read_address


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("", "127.0.0.1", 8765),
        ("9000", "127.0.0.1", 9000),
        (":9000", "127.0.0.1", 9000),
        ("0.0.0.0", "0.0.0.0", 8765),
        ("0.0.0.0:0", "0.0.0.0", 0),
        ("localhost:80", "localhost", 80),
        ("notes.example.org", "notes.example.org", 8765),
        ("[::1]", "::1", 8765),
        ("[::]:9000", "::", 9000),
    ],
)
def test_an_address_is_read_with_what_is_missing_put_in(text: str, host: str, port: int) -> None:
    assert read_address(text) == Address(host, port)
    assert read_address(str(Address(host, port))) == Address(host, port)


@pytest.mark.parametrize(
    "text",
    [
        "a b",
        "http://x",
        "x:70000",
        "x:y",
        "x:-1",
        "[::1",
        "-x:1",
        "x:١",
        "::1:x",
        "user@host:1",
        "a/b",
        ":",
        "::1",
    ],
)
def test_what_is_no_address_is_not_taken_for_one(text: str) -> None:
    assert read_address(text) is None


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9:80", "localhost", "LOCALHOST:1", "::1", "[::1]:80"])
def test_this_machine_is_known(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "192.168.1.2", "example.org", "localhost.example.org", "127.0.0.1.nip.io", ""]
)
def test_anything_else_is_beyond_it(host: str) -> None:
    assert not is_loopback(host)


def test_a_server_is_asked_for_by_this_machines_names_its_own_and_those_allowed() -> None:
    assert named_hosts("0.0.0.0", ("notes.example.org", "proxy:8443")) == [
        *("127.0.0.1", "127.0.0.1:*", "localhost", "localhost:*", "[::1]", "[::1]:*"),
        *("notes.example.org", "notes.example.org:*", "proxy:8443"),
    ]
    assert named_hosts("fe80::2", ())[-2:] == ["[fe80::2]", "[fe80::2]:*"]
