"""Words: a note's text in, a note's text out. No disk, no clock, no Git."""
