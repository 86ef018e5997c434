"""Git: the only code that knows it. `repository.Repository` is the front."""
