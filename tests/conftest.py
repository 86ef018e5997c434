"""Settings for all tests."""

from hypothesis import settings

# How long one example takes says more about the machine and its other guests than about the code.
settings.register_profile("shared machine", deadline=None)
settings.load_profile("shared machine")
