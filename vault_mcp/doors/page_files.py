"""The page's own files, and the two apps put together from them: one document each, nothing beside it."""

from __future__ import annotations

import os
import re
from functools import cache

FILES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "page")

# Not from the system's own list of types: where that is wrong, a browser runs nothing.
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}

VENDORED = tuple(f"vendor/d3-{name}.min.js" for name in ("dispatch", "quadtree", "timer", "force"))

APPS = {
    "timeline": ("Timeline", ("dom.js", "app_links.js", "words.js", "cards.js", "app.js", "app_timeline.js")),
    "graph": (
        "Graph",
        (*VENDORED, "dom.js", "words.js", "layout.js", "drawing.js", "app.js", "app_graph.js"),
    ),
}
"""Each app with its title and the files it is made of, in the order in which they need each other."""

_IMPORT = re.compile(r"^import .*;\n", re.MULTILINE)
_EXPORT = re.compile(r"^export ", re.MULTILINE)


def static_files() -> dict[str, tuple[str, bytes]]:
    """Give (type, bytes) of every file of the page by its path."""
    found = {}
    for folder, _, names in os.walk(FILES):
        for name in sorted(names):
            kind = TYPES.get(os.path.splitext(name)[1])
            if kind is None:
                continue
            place = os.path.join(folder, name)
            with open(place, "rb") as file:
                found[os.path.relpath(place, FILES).replace(os.sep, "/")] = kind, file.read()
    return found


@cache
def app_html(name: str) -> str:
    """Give one app as a document that asks for nothing: a host shows it in a frame without a network."""
    title, parts = APPS[name]
    files = {path: raw.decode() for path, (_, raw) in static_files().items()}
    libraries = "".join(f"<script>{files[part]}</script>\n" for part in parts if part in VENDORED)
    own = "".join(_EXPORT.sub("", _IMPORT.sub("", files[part])) for part in parts if part not in VENDORED)
    return (
        '<!doctype html>\n<html lang="en" data-theme="auto">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{files['page.css']}</style>\n{libraries}</head>\n"
        '<body class="app">\n<main id="main"></main>\n<div id="said" role="status" class="unseen"></div>\n'
        f'<script type="module">\n{own}</script>\n</body>\n</html>\n'
    )
