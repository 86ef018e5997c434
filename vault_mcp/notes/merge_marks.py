"""The marks that Git puts around what a person has to decide."""

OPEN = "<<<<<<< ours"
MIDDLE = "======="
CLOSE = ">>>>>>> theirs"


def marked(ours: str, theirs: str, end: str = "\n") -> str:
    """Give both versions of a stretch between marks, each on lines of its own."""
    return f"{OPEN}{end}{_ended(ours, end)}{MIDDLE}{end}{_ended(theirs, end)}{CLOSE}{end}"


def _ended(text: str, end: str) -> str:
    return text if not text or text.endswith("\n") else text + end
