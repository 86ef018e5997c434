"""The sample vault that comes with the package."""

import os

import vault_mcp
from vault_mcp.errors import StorageFailed


def sample_vault() -> str:
    """Give its folder: beside the package in a checkout, inside it where it is installed.

    Raises:
        StorageFailed: it is in neither place.
    """
    package = os.path.dirname(os.path.abspath(vault_mcp.__file__))
    for place in (
        os.path.join(package, "sample_vault"),
        os.path.join(os.path.dirname(package), "sample_vault"),
    ):
        if os.path.isdir(os.path.join(place, "entities")):
            return place
    raise StorageFailed("The sample vault is not where it was installed. Install the package again.")
