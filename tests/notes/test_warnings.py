"""What is told of a text that is about to be kept."""

import pytest

from vault_mcp.notes.warnings import secret_in


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("password: hunter2hunter2", "a password"),
        ("password: (erased)", None),
        ("token=(erased) and secret is swordfish", "a password"),
    ],
)
def test_what_was_erased_is_no_password(text: str, about: str | None) -> None:
    assert secret_in(text) == about
