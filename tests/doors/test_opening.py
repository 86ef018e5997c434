import threading
from collections.abc import Callable

import pytest

from tests.waiting import wait_until
from vault_mcp.doors.opening import Opening
from vault_mcp.errors import RepositoryRefused, StorageFailed, VaultBusy
from vault_mcp.tools.catalog import Catalog


class Folder:
    root = "/somewhere"

    def __init__(self) -> None:
        self.closed = 0

    def close(self) -> None:
        self.closed += 1


def opening(open_vault: Callable[[], Folder]) -> Opening:
    return Opening(Catalog, open_vault)


def test_a_vault_is_opened_once_however_many_ask() -> None:
    opened: list[Folder] = []
    gate = threading.Event()

    def open_vault() -> Folder:
        gate.wait(5)
        opened.append(Folder())
        return opened[-1]

    door = opening(open_vault)
    door.start()
    got: list[object] = []
    askers = [threading.Thread(target=lambda: got.append(door.vault())) for _ in range(8)]
    for asker in askers:
        asker.start()
    gate.set()
    for asker in askers:
        asker.join(5)
    assert got == opened * 8
    assert len(opened) == 1


def test_the_background_opens_without_being_asked() -> None:
    opened: list[Folder] = []

    def open_vault() -> Folder:
        opened.append(Folder())
        return opened[-1]

    door = opening(open_vault)
    before = door.ready
    door.start()
    door.start()
    wait_until(lambda: opened)
    assert (before, door.ready) == (None, Catalog())
    assert door.vault() is opened[0]


def test_a_vault_that_did_not_open_is_tried_again() -> None:
    tries: list[int] = []

    def open_vault() -> Folder:
        tries.append(1)
        if len(tries) < 3:
            raise RepositoryRefused("The folder is no vault. Make it one.")
        return Folder()

    door = opening(open_vault)
    for _ in range(2):
        with pytest.raises(RepositoryRefused, match="no vault"):
            door.vault()
    opened = door.vault()
    assert opened.root == "/somewhere"


def test_a_fault_while_opening_keeps_its_words_from_the_caller(caplog: pytest.LogCaptureFixture) -> None:
    def open_vault() -> Folder:
        raise KeyError("/home/someone/secret")

    with pytest.raises(StorageFailed) as caught:
        opening(open_vault).vault()
    assert "secret" not in str(caught.value)
    assert "secret" in caplog.text


def test_a_catalog_that_cannot_be_loaded_keeps_its_words_from_the_caller() -> None:
    def load() -> Catalog:
        raise SyntaxError("/home/someone/secret.py")

    with pytest.raises(StorageFailed, match="The tools could not be loaded, by a fault"):
        Opening(load, Folder).catalog()


def test_once_closed_no_call_begins_and_the_vault_is_let_go() -> None:
    folder = Folder()
    door = opening(lambda: folder)
    assert door.vault() is folder
    door.refuse()
    with pytest.raises(VaultBusy, match="stopping"):
        door.vault()
    assert folder.closed == 0
    door.close()
    assert folder.closed == 1


def test_a_vault_that_was_never_needed_is_never_opened() -> None:
    door = opening(lambda: pytest.fail("opened"))
    door.close()
    with pytest.raises(VaultBusy):
        door.vault()


def test_a_call_that_waited_through_the_end_does_not_begin() -> None:
    gate = threading.Event()

    def open_vault() -> Folder:
        gate.wait(5)
        return Folder()

    door = opening(open_vault)
    errors: list[BaseException] = []

    def ask() -> None:
        try:
            door.vault()
        except VaultBusy as error:
            errors.append(error)

    asker = threading.Thread(target=ask)
    asker.start()
    wait_until(lambda: door.ready is not None)
    door.refuse()
    gate.set()
    asker.join(5)
    assert len(errors) == 1
