"""Memories: pieces of text with a number, a session and an importance, one note each."""
