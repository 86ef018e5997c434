"""When changed files rest, by a clock of our own."""

from vault_mcp.storage.watcher.rest import FEW, FLOOD, MANY, Rest, Tick


def names(rest: Rest, now: float) -> set[str] | None:
    rested = rest.rested(now)
    return None if rested is None else set(rested)


def test_a_file_rests_when_nothing_was_heard_of_it_for_a_moment() -> None:
    rest = Rest(quiet=1, longest=5)
    rest.hear("a.md", 10)

    assert names(rest, 10.5) == set()
    rest.hear("a.md", 10.8)
    assert names(rest, 11.5) == set()
    assert rest.next_at() == 11.8
    assert names(rest, 11.8) == {"a.md"}
    assert names(rest, 20) == set()
    assert not rest
    assert rest.next_at() is None


def test_each_of_a_few_files_rests_for_itself() -> None:
    rest = Rest(quiet=1, longest=5)
    rest.hear("a.md", 10)
    rest.hear("b.md", 10.9)

    assert names(rest, 11) == {"a.md"}
    assert names(rest, 11.9) == {"b.md"}


def test_files_saved_together_are_told_together() -> None:
    rest = Rest(quiet=1, longest=5)
    rest.hear("a.md", 10)
    rest.hear("b.md", 10.01)

    assert names(rest, 11) == {"a.md", "b.md"}


def test_a_file_that_never_rests_is_told_of_after_the_longest_time_and_again_after_it() -> None:
    rest = Rest(quiet=1, longest=5)
    told = []
    for tenth in range(200):
        rest.hear("a.md", tenth / 10)
        told += [tenth / 10 for _ in rest.rested(tenth / 10) or ()]

    assert told == [5.0, 10.1, 15.2]


def test_in_a_flood_all_files_wait_for_its_end() -> None:
    rest = Rest(quiet=1, longest=5)
    for number in range(FEW + 10):
        rest.hear(f"{number}.md", 10 + number / 25)
    ended = 10 + (FEW + 9) / 25

    assert names(rest, ended) == set()
    assert len(names(rest, ended + 1) or ()) == FEW + 10


def test_too_many_files_to_count_are_everything() -> None:
    rest = Rest(quiet=1, longest=5)
    for number in range(MANY + 1):
        rest.hear(f"{number}.md", 10)

    assert names(rest, 10.9) == set()
    assert names(rest, 11) is None
    assert names(rest, 12) == set()


def test_a_flood_that_goes_on_is_told_of_in_the_end() -> None:
    rest = Rest(quiet=1, longest=5)
    rest.hear_everything(0)
    told = []
    for tenth in range(int(FLOOD * 10) + 5):
        rest.hear("a.md", tenth / 10)
        told += [tenth / 10] if rest.rested(tenth / 10) is None else []

    assert told == [FLOOD]


def test_everything_takes_in_what_was_heard_before_and_since() -> None:
    rest = Rest(quiet=1, longest=5)
    rest.hear("a.md", 10)
    rest.hear_everything(10.5)
    rest.hear("b.md", 11)

    assert names(rest, 11.5) == set()
    assert names(rest, 12) is None
    assert not rest


def test_a_file_that_is_held_comes_back_unless_it_was_heard_of_since() -> None:
    rest = Rest(quiet=1, longest=5)
    rest.hear("a.md", 10)
    rested = rest.rested(11)
    assert rested is not None
    rest.hold("a.md", rested["a.md"], 13)

    assert names(rest, 12) == set()
    rest.hear("a.md", 12)
    assert names(rest, 13) == {"a.md"}

    rest.hold("a.md", rested["a.md"], 20)
    assert names(rest, 19.9) == set()
    assert names(rest, 20) == {"a.md"}


def test_files_to_look_at_again_never_add_up_to_everything() -> None:
    rest = Rest(quiet=1, longest=5)
    for number in range(MANY * 2):
        rest.look_again(f"{number}.md", 10)
    rest.hear("a.md", 10)

    assert len(names(rest, 11) or ()) == MANY * 2 + 1


def test_a_cheap_comparison_comes_at_every_tick() -> None:
    tick = Tick(every=5)
    tick.start(100)
    assert tick.at == 100
    tick.took(0.01, 103)
    tick.took(0.02, 108)

    assert tick.at == 113


def test_comparisons_take_a_hundredth_of_the_time_at_most() -> None:
    tick = Tick(every=5)
    tick.took(1, 100)
    tick.took(2, 110)

    assert tick.at == 110 + 100


def test_one_costly_comparison_does_not_put_off_the_next() -> None:
    tick = Tick(every=5)
    tick.took(0.01, 100)
    tick.took(30, 140)

    assert tick.at == 145


def test_trouble_brings_the_next_comparison_forward() -> None:
    tick = Tick(every=5)
    tick.took(1, 100)
    tick.took(1, 110)
    tick.sooner(120)

    assert tick.at == 125
    tick.sooner(123)
    assert tick.at == 125
