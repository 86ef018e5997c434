"""The ways in: the only code that reads settings, prints, or speaks a protocol."""
