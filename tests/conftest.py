"""Settings for all tests."""

from hypothesis import settings

# How long one example takes says more about the machine and its other guests than about the code. A run tries
# the same examples each time, so that what fails is the change and not chance; `--hypothesis-profile any`
# looks further, as `python -m tests.fuzzing` does.
settings.register_profile("same each time", deadline=None, derandomize=True)
settings.register_profile("any", deadline=None)
settings.load_profile("same each time")
