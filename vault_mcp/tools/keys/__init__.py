"""Values under keys: each key is one note, whose property `key` says which, and whose body is the value."""
