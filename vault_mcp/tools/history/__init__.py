"""The past: who said what and when, the memory as it was, and steps taken back."""
