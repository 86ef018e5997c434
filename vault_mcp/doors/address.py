"""Addresses to listen at, and the host names under which a server may be asked for."""

import ipaddress
import re
from dataclasses import dataclass

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8765

LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
"""How this machine calls itself in a URL."""

_NAME = r"\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?"
_PORT = "[0-9]{1,5}"
_HOST = re.compile(rf"(?:{_NAME})(?::{_PORT})?")
_ADDRESS = re.compile(rf"(?P<alone>{_PORT})|(?P<host>{_NAME})?(?::(?P<port>{_PORT}))?")


@dataclass(frozen=True, slots=True)
class Address:
    """A host to bind, without brackets, and a port; port 0 takes any that is free."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{in_url(self.host)}:{self.port}"


def read_address(text: str) -> Address | None:
    """Read `HOST:PORT`, or either of them alone; "" is the default. None for anything else."""
    found = _ADDRESS.fullmatch(text.strip())
    if found is None:
        return None
    host = (found["host"] or DEFAULT_HOST).removeprefix("[").removesuffix("]")
    port = int(found["alone"] or found["port"] or DEFAULT_PORT)
    return Address(host, port) if port <= 65535 else None


def read_host(text: str) -> str | None:
    """Read a host name as it stands in a URL, with its port or without; None for anything else."""
    return text if _HOST.fullmatch(text) else None


def in_url(host: str) -> str:
    """Write a host as a URL does: version 6 addresses in brackets."""
    return f"[{host}]" if ":" in host else host


def is_loopback(host: str) -> bool:
    """Say whether a host, as in a URL and with a port or without, is this machine and nothing else."""
    bare = host if host.count(":") > 1 and not host.startswith("[") else re.sub(r":[0-9]+$", "", host)
    bare = bare.removeprefix("[").removesuffix("]")
    if bare.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(bare).is_loopback
    except ValueError:
        return False


def named_hosts(bound: str, allowed: tuple[str, ...]) -> list[str]:
    """Give what may stand in a request's Host header.

    Args:
        bound: the address that is listened at; one that stands for all of a machine's names none of them.
        allowed: further names, each with a port or for any port.
    """
    names = dict.fromkeys([*LOOPBACK_NAMES, *allowed])
    if not ipaddress.ip_address(bound).is_unspecified:
        names.setdefault(in_url(bound))
    hosts = []
    for name in names:
        hosts.append(name)
        if not re.search(r":[0-9]+$", name):
            hosts.append(f"{name}:*")
    return hosts
